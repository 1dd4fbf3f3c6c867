-- Functions of an index run with the rights of the table's owner while it is built, whoever builds it; what they raise is heard.
CREATE ROLE indexes_owner;
CREATE TABLE owned AS SELECT a FROM (VALUES (1), (2)) v(a);
ALTER TABLE owned OWNER TO indexes_owner;
CREATE FUNCTION who(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'who: %', current_user; RETURN $1; END $$;
CREATE INDEX owned_who ON owned ((who(a)));
REINDEX TABLE owned;
REINDEX INDEX owned_who;
INSERT INTO owned VALUES (3);
CREATE INDEX owned_some ON owned (a) WHERE who(a) > 1;
CREATE UNIQUE INDEX CONCURRENTLY owned_later ON owned ((who(a) + 1));
-- A CHECK is asked by whoever adds it.
ALTER TABLE owned ADD CONSTRAINT asked CHECK (who(a) > 0);
-- The owner's function cannot become who builds the index.
CREATE FUNCTION become(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('role', 'postgres', false); RETURN $1; END $$;
CREATE INDEX ON owned ((become(a)));
DROP TABLE owned;
DROP ROLE indexes_owner;
