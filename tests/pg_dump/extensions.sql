-- Extensions: in a schema of their own, with a comment, with privileges on their members, read by views.
CREATE ROLE extension_reader;
CREATE SCHEMA extended;
CREATE EXTENSION pg_stat_statements WITH SCHEMA extended;
COMMENT ON EXTENSION pg_stat_statements IS 'costs of statements';
COMMENT ON EXTENSION plpgsql IS 'a language';
GRANT EXECUTE ON FUNCTION extended.pg_stat_statements_reset(oid, oid, bigint) TO extension_reader;
REVOKE SELECT ON extended.pg_stat_statements FROM PUBLIC;
GRANT SELECT ON extended.pg_stat_statements TO extension_reader;
CREATE VIEW slow AS SELECT query, calls FROM extended.pg_stat_statements WHERE mean_exec_time > 100;
CREATE VIEW dealloc AS SELECT dealloc FROM extended.pg_stat_statements_info();
CREATE TABLE plain (a int PRIMARY KEY);
INSERT INTO plain VALUES (1);
CREATE EXTENSION citext;
CREATE TABLE insensitive (name citext PRIMARY KEY, kind citext DEFAULT 'Plain' CHECK (kind IN ('plain', 'rich')), tags citext[], CHECK (name ~ '^[a-z]'));
INSERT INTO insensitive VALUES ('Ann', 'RICH', '{A,b}');
CREATE INDEX ON insensitive (kind citext_pattern_ops, lower(name));
CREATE VIEW insensitively AS SELECT name, name ~~* 'a%' AS a, kind = 'Plain' AS plain FROM insensitive WHERE kind = ANY ('{plain}'::citext[]);
