-- What DDL within bodies says is said with the statement and the body around it.
CREATE FUNCTION g() RETURNS void LANGUAGE sql AS 'DROP TABLE IF EXISTS nothing4';
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DROP TABLE IF EXISTS nothing;
  CREATE TABLE x (a int);
  CREATE TABLE IF NOT EXISTS x (a int);
  EXECUTE 'DROP TABLE IF EXISTS nothing2';
  ALTER TABLE IF EXISTS nothing3 ADD COLUMN a int;
  CREATE VIEW xv AS SELECT * FROM x;
  DROP TABLE x CASCADE;
  PERFORM g();
  CREATE FUNCTION of_column(a pg_class.relname%TYPE) RETURNS int LANGUAGE sql AS 'SELECT 1';
END $$;
SELECT f();
DO 'BEGIN DROP VIEW IF EXISTS nothing; END';
DROP TABLE IF EXISTS nothing;
