-- Plans, rows and triggers of bodies are kept between calls, and are what they are made of when that changes.
CREATE TABLE kept_stock (w int, i int, quantity int NOT NULL, price numeric(6,2), name varchar(12), code char(6), big text,
    PRIMARY KEY (w, i));
INSERT INTO kept_stock SELECT 1, g, 10 * g, g + 0.5, 'item ' || g, 'c' || g, repeat('x', 10) FROM generate_series(1, 5) g;
INSERT INTO kept_stock VALUES (2, 1, 7, NULL, NULL, NULL, NULL);

-- RETURNING shows what an update of some columns leaves and makes.
UPDATE kept_stock SET quantity = quantity - 3 WHERE w = 1 AND i = 2 RETURNING name, quantity, code;
UPDATE kept_stock SET quantity = quantity + 1, name = NULL WHERE w = 2 RETURNING *, quantity * 2 AS twice;
UPDATE kept_stock SET price = price * 2 WHERE w = 1 RETURNING i, price, quantity IS NULL, big = repeat('x', 10);
UPDATE kept_stock SET big = repeat('y', 9000) WHERE w = 1 AND i = 5 RETURNING length(big), name;
UPDATE kept_stock SET quantity = 0 WHERE w = 1 AND i = 5 RETURNING length(big), left(big, 3), quantity;
UPDATE kept_stock SET quantity = 1 WHERE w = 1 AND i = 5 RETURNING (SELECT sum(o.quantity) FROM kept_stock o WHERE o.i < kept_stock.i), quantity;
UPDATE kept_stock s SET quantity = s.quantity + o.quantity FROM kept_stock o
    WHERE s.w = 1 AND s.i = 1 AND o.w = 1 AND o.i = 2 RETURNING s.quantity, o.quantity, s.code || '|' || o.name;
UPDATE kept_stock SET i = 6 WHERE w = 1 AND i = 5 RETURNING i, name;
UPDATE kept_stock SET quantity = NULL WHERE w = 1 AND i = 1 RETURNING name;
ALTER TABLE kept_stock ADD note text DEFAULT 'new', ADD gone int;
ALTER TABLE kept_stock DROP gone;
UPDATE kept_stock SET quantity = 5 WHERE w = 1 AND i = 3 RETURNING note, quantity, name;
UPDATE kept_stock SET quantity = 6 WHERE w = 1 AND i = 3 RETURNING note, quantity, kept_stock;
INSERT INTO kept_stock (w, i, quantity, name) VALUES (1, 3, 1, 'put') ON CONFLICT (w, i)
    DO UPDATE SET quantity = kept_stock.quantity + excluded.quantity RETURNING quantity, name, note;
CREATE VIEW kept_view AS SELECT i, quantity AS q, name FROM kept_stock WHERE w = 1;
UPDATE kept_view SET q = q + 1 WHERE i = 4 RETURNING q, name, i;

-- Variables take values of any length, again and again, and rows of other columns.
CREATE FUNCTION kept_values(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; t text := ''; d numeric := 0; a int[] := '{}'; s kept_stock; code text; total int := 0;
BEGIN
  FOR k IN 1 .. n LOOP
    t := repeat(chr(97 + k % 26), (k * 37) % 211);
    d := d * 10 + k;
    a := a || k;
    IF k % 3 = 0 THEN SELECT * INTO r FROM kept_stock WHERE w = 1 AND i = 1 + k % 4;
    ELSIF k % 3 = 1 THEN SELECT name, quantity AS w INTO r FROM kept_stock WHERE kept_stock.w = 1 AND i = 1 + k % 4;
    ELSE r := ROW(k, t); END IF;
    SELECT * INTO s FROM kept_stock WHERE w = 1 AND i = 1 + k % 4;
    s.name := 'k' || k;
    s.price := s.price + k;
    s.big := t;
    SELECT o.code INTO code FROM kept_stock o WHERE o.w = 1 AND o.i = 1 + k % 4;
    IF k % 3 <> 2 THEN total := total + r.w; END IF;
  END LOOP;
  RETURN concat_ws('/', length(t), d, array_length(a, 1), a[n], r, s, total, code || '.');
END $$;
SELECT kept_values(1);
SELECT kept_values(7);
SELECT kept_values(101);
CREATE FUNCTION kept_sum() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; t text := ''; s numeric := 0; BEGIN
  FOR r IN SELECT g AS a, CASE WHEN g % 2 = 0 THEN NULL ELSE repeat('z', g % 13) END AS b, g::numeric / 4 AS c
      FROM generate_series(1, 130) g LOOP
    s := s + r.a + r.c; t := t || coalesce(r.b, '-');
  END LOOP;
  RETURN s || ' ' || length(t) || ' ' || r.a || ' ' || coalesce(r.b, 'none');
END $$;
SELECT kept_sum();

-- What a loop reads may be changed by its rounds.
CREATE FUNCTION kept_loop() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE r record; BEGIN
  FOR r IN SELECT i, quantity FROM kept_stock WHERE w = 1 ORDER BY i LOOP
    UPDATE kept_stock SET quantity = quantity + 100 WHERE w = 1 AND i = r.i RETURNING quantity INTO r.quantity;
    RETURN NEXT r::text;
  END LOOP;
END $$;
SELECT kept_loop();

-- Triggers: their functions and tables become others while the session keeps them.
CREATE TABLE kept_log (id int PRIMARY KEY, a text, b numeric(8,2), at text);
CREATE FUNCTION kept_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE before text; BEGIN
  before := coalesce(before, 'fresh');
  new.at := TG_OP || ' ' || TG_NAME || ' ' || TG_TABLE_NAME || ' ' || before; before := 'used'; new.b := new.b * 1.5;
  tg_op := 'changed';
  RETURN new;
END $$;
CREATE TRIGGER kept_stamp BEFORE INSERT OR UPDATE ON kept_log FOR EACH ROW EXECUTE FUNCTION kept_stamp();
INSERT INTO kept_log SELECT g, repeat('a', g), g FROM generate_series(1, 3) g RETURNING *;
UPDATE kept_log SET a = a || id WHERE id > 1 RETURNING *;
CREATE OR REPLACE FUNCTION kept_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN IF new.id = 5 THEN RETURN NULL; END IF; new.a := upper(new.a); new.at := NULL; RETURN new; END $$;
INSERT INTO kept_log SELECT g, repeat('b', g), g FROM generate_series(4, 6) g RETURNING *;
ALTER TABLE kept_log ADD c int, DROP b;
INSERT INTO kept_log VALUES (7, 'x', 'y', 3) RETURNING *;
ALTER TABLE kept_log RENAME TO kept_book;
CREATE OR REPLACE FUNCTION kept_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN new.at := TG_RELID::regclass::text || TG_TABLE_NAME; RETURN new; END $$;
INSERT INTO kept_book VALUES (8, 'x', 'y', 3) RETURNING *;
CREATE OR REPLACE FUNCTION kept_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN IF new.id < 12 THEN INSERT INTO kept_book VALUES (new.id + 1, 'inner'); END IF; new.a := new.a || new.id; RETURN new; END $$;
INSERT INTO kept_book VALUES (9, 'outer');
SELECT * FROM kept_book WHERE id > 8 ORDER BY id;
CREATE OR REPLACE FUNCTION kept_stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN ROW(1, 2); END $$;
INSERT INTO kept_book VALUES (20, 'bad');
CREATE OR REPLACE FUNCTION kept_stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN ROW(new.id, 2, 'x', 3); END $$;
INSERT INTO kept_book VALUES (20, 'bad');
DROP TRIGGER kept_stamp ON kept_book;
INSERT INTO kept_book VALUES (20, 'plain') RETURNING *;

