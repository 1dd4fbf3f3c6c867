-- Rows of system relations come in parts, all of the state in which the catalog was when the scan began: what is made
-- while a loop or a cursor reads them is not among them.
CREATE TABLE seen_1 (a int);
CREATE TABLE seen_2 (a int);
CREATE TABLE seen_3 (a int);
DO $$
DECLARE r record; n int := 0;
BEGIN
  FOR r IN SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attname = 'a' AND a.attnum > 0 AND c.relname ~ '^seen_' LOOP
    n := n + 1;
    EXECUTE format('CREATE TABLE seen_%s (a int)', n + 10);
  END LOOP;
  RAISE NOTICE '% read', n;
END $$;
DO $$
DECLARE r record; n int := 0;
BEGIN
  FOR r IN SELECT attrelid FROM pg_attribute WHERE attname = 'a' AND attnum > 0 AND attrelid IN (SELECT oid FROM pg_class WHERE relname ~ '^seen_') ORDER BY attrelid LOOP
    n := n + 1;
    IF n = 1 THEN
      DROP TABLE seen_3, seen_12;
    END IF;
  END LOOP;
  RAISE NOTICE '% read', n;
END $$;
BEGIN;
DECLARE c CURSOR FOR SELECT attname FROM pg_attribute WHERE attnum > 0 AND attrelid >= 16384 AND attname = 'a' AND attrelid IN (SELECT oid FROM pg_class WHERE relname ~ '^seen_');
FETCH 1 FROM c;
CREATE TABLE seen_20 (a int);
FETCH ALL FROM c;
COMMIT;
SELECT relname FROM pg_class WHERE relname ~ '^seen_' ORDER BY relname;
-- A name that a pattern leaves no choice about.
SELECT relname FROM pg_class WHERE relname ~ '^(seen_1)$';
SELECT relname FROM pg_class WHERE relname OPERATOR(pg_catalog.~) '^(seen_1|seen_2)$' COLLATE pg_catalog.default ORDER BY 1;
SELECT relname FROM pg_class WHERE relname ~ '^seen_1.$' ORDER BY 1;
SELECT count(*) FROM pg_class WHERE relname ~ '^pg_class$';
SELECT count(*) FROM pg_class WHERE relname ~ '^(SEEN_1)$';
SELECT count(*) FROM pg_class WHERE relname ~ '^$';
SELECT proname FROM pg_proc WHERE proname ~ '^(lower_inc)$';
-- Who refers to a table.
CREATE TABLE parent (a int PRIMARY KEY);
CREATE TABLE child (a int REFERENCES parent, b int REFERENCES parent, c int CHECK (c > 0));
SELECT conname, conrelid::regclass FROM pg_constraint WHERE confrelid = 'parent'::regclass ORDER BY conname;
SELECT conname FROM pg_constraint WHERE confrelid = 'child'::regclass;
SELECT conname FROM pg_constraint WHERE confrelid = 'parent'::regclass AND conrelid = 'child'::regclass ORDER BY conname;
-- A constraint's name leads to it in any schema of the path.
CREATE SCHEMA apart;
CREATE TABLE apart.child (a int, CONSTRAINT late UNIQUE (a) DEFERRABLE);
CREATE TABLE other (a int, CONSTRAINT late CHECK (a > 0));
BEGIN;
SET CONSTRAINTS late DEFERRED;
ROLLBACK;
BEGIN;
SET CONSTRAINTS apart.late DEFERRED;
SET search_path = apart, public;
SET CONSTRAINTS late DEFERRED;
SET CONSTRAINTS child_a_fkey IMMEDIATE;
ROLLBACK;
BEGIN;
SET CONSTRAINTS nothing DEFERRED;
ROLLBACK;
