-- ON CONFLICT names a partial index by a condition with parameters: their values decide which indexes it means.
CREATE TABLE users (id serial PRIMARY KEY, name varchar(50), login varchar(50), kind varchar(50), age int);
CREATE UNIQUE INDEX by_login ON users (login, kind) WHERE kind = 'unique_name';
CREATE UNIQUE INDEX grown ON users (name) WHERE age > 17;
PREPARE put (varchar, varchar, varchar, varchar) AS INSERT INTO users (name, login, kind) VALUES ($1, $2, $3) ON CONFLICT (login, kind) WHERE kind = $4::varchar DO UPDATE SET name = excluded.name RETURNING id, name;
EXECUTE put ('one', 'a', 'unique_name', 'unique_name');
EXECUTE put ('two', 'a', 'unique_name', 'unique_name');
EXECUTE put ('three', 'a', 'other', 'unique_name');
EXECUTE put ('four', 'a', 'unique_name', 'other');
EXECUTE put ('four', 'a', 'unique_name', NULL);
EXECUTE put ('five', 'a', 'unique_name', 'unique_name');
PREPARE grow (text, int) AS INSERT INTO users (name, age) VALUES ($1, 20) ON CONFLICT (name) WHERE age > $2 DO NOTHING;
EXECUTE grow ('Ann', 17);
EXECUTE grow ('Ann', 18);
EXECUTE grow ('Ann', 30);
EXECUTE grow ('Ann', 16);
SET plan_cache_mode = force_generic_plan;
EXECUTE grow ('Ann', 17);
EXECUTE put ('six', 'b', 'unique_name', 'unique_name');
RESET plan_cache_mode;
EXECUTE grow ('Bea', 17);
-- a type that nobody has said, and one that is another one elsewhere
PREPARE untyped AS INSERT INTO users (name, age) VALUES ($1, 20) ON CONFLICT (name) WHERE age > $2 DO NOTHING;
EXECUTE untyped ('Ann', '17');
PREPARE twice AS INSERT INTO users (name, age) VALUES ($1, $2) ON CONFLICT (name) WHERE age > $2 DO NOTHING;
EXECUTE twice ('Ann', 40);
EXECUTE twice ('Ann', 10);
-- two indexes, one of them whatever the value
CREATE UNIQUE INDEX by_name ON users (name, kind);
CREATE UNIQUE INDEX kinds ON users (name, kind) WHERE age > 17;
PREPARE both (int) AS INSERT INTO users (name, kind, age) VALUES ('Dan', 'k', 50) ON CONFLICT (name, kind) WHERE age > $1 DO NOTHING;
EXECUTE both (17);
EXECUTE both (17);
EXECUTE both (1);
DROP INDEX by_name, kinds;
-- where no index could be meant, whatever the value
PREPARE nowhere (int) AS INSERT INTO users (name) VALUES ('x') ON CONFLICT (login) WHERE age > $1 DO NOTHING;
EXECUTE nowhere (1);
-- variables of bodies
CREATE FUNCTION put_by(wanted varchar, least int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE found text; BEGIN INSERT INTO users (name, age) VALUES (wanted, 33) ON CONFLICT (name) WHERE age > least DO UPDATE SET age = excluded.age + 1 RETURNING name || age INTO found; RETURN found; END $$;
SELECT put_by('Ann', 17);
SELECT put_by('Cid', 17);
SELECT put_by('Cid', 17);
SELECT put_by('Cid', 5);
CREATE FUNCTION put_in_sql(wanted varchar, least int) RETURNS void LANGUAGE sql AS $$ INSERT INTO users (name, age) VALUES (wanted, 44) ON CONFLICT (name) WHERE age > least DO NOTHING $$;
SELECT put_in_sql('Cid', 17);
SELECT put_in_sql('Cid', 4);
SELECT id, name, login, kind, age FROM users ORDER BY id;
DROP FUNCTION put_by, put_in_sql;
DROP TABLE users;
DEALLOCATE ALL;
