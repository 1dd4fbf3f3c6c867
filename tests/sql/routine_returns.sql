-- What RETURN NEXT, RETURN QUERY and RETURN take: rows of exactly the types that are declared.
CREATE TYPE pair AS (a int, b bigint);
CREATE TYPE short AS (a varchar(3));

CREATE FUNCTION q_table() RETURNS TABLE (a bigint) LANGUAGE plpgsql AS $$BEGIN RETURN QUERY SELECT 1; END$$;
SELECT * FROM q_table();
CREATE FUNCTION q_pair() RETURNS SETOF pair LANGUAGE plpgsql AS $$BEGIN RETURN QUERY SELECT 1, 2; END$$;
SELECT * FROM q_pair();
CREATE FUNCTION q_wide() RETURNS SETOF int LANGUAGE plpgsql AS $$BEGIN RETURN QUERY SELECT 1, 2; END$$;
SELECT * FROM q_wide();
CREATE FUNCTION q_empty() RETURNS SETOF int LANGUAGE plpgsql AS $$BEGIN RETURN QUERY SELECT 'a' WHERE false; END$$;
SELECT * FROM q_empty();
CREATE FUNCTION q_text() RETURNS SETOF int LANGUAGE plpgsql AS $$BEGIN RETURN QUERY EXECUTE 'select ''7''::text'; END$$;
SELECT * FROM q_text();
CREATE FUNCTION q_modifier() RETURNS SETOF short LANGUAGE plpgsql AS $$BEGIN RETURN QUERY SELECT 'abcd'::varchar; END$$;
SELECT * FROM q_modifier();
CREATE FUNCTION q_plain() RETURNS TABLE (a varchar(3), b numeric(5, 2)) LANGUAGE plpgsql AS $$BEGIN RETURN QUERY SELECT 'abcd'::varchar, 1.555; END$$;
SELECT * FROM q_plain();
CREATE FUNCTION q_made() RETURNS SETOF int LANGUAGE plpgsql AS $$BEGIN RETURN QUERY EXECUTE 'create table made_here (a int)'; END$$;
SELECT * FROM q_made();
CREATE FUNCTION q_into() RETURNS SETOF int LANGUAGE plpgsql AS $$BEGIN RETURN QUERY EXECUTE 'select 1 as a into made_here'; END$$;
SELECT * FROM q_into();

CREATE FUNCTION n_record() RETURNS SETOF pair LANGUAGE plpgsql AS $$DECLARE r record; BEGIN SELECT 1, 2 INTO r; RETURN NEXT r; END$$;
SELECT * FROM n_record();
CREATE FUNCTION n_wide() RETURNS SETOF pair LANGUAGE plpgsql AS $$DECLARE r record; BEGIN SELECT 1, 2::bigint, 3 INTO r; RETURN NEXT r; END$$;
SELECT * FROM n_wide();
CREATE FUNCTION n_row() RETURNS SETOF pair LANGUAGE plpgsql AS $$BEGIN RETURN NEXT row(1, 2); END$$;
SELECT * FROM n_row();
CREATE FUNCTION n_good() RETURNS SETOF pair LANGUAGE plpgsql AS $$DECLARE t pair; BEGIN RETURN NEXT t; t.a := 4; RETURN NEXT t; RETURN NEXT null; RETURN NEXT row(1, 2::bigint); END$$;
SELECT * FROM n_good();
CREATE FUNCTION n_into_scalar() RETURNS SETOF bigint LANGUAGE plpgsql AS $$DECLARE t pair; BEGIN t.a := 4; RETURN NEXT t; END$$;
SELECT * FROM n_into_scalar();
CREATE FUNCTION n_scalar() RETURNS SETOF pair LANGUAGE plpgsql AS $$BEGIN RETURN NEXT 1; END$$;
SELECT * FROM n_scalar();
CREATE FUNCTION n_variable() RETURNS SETOF pair LANGUAGE plpgsql AS $$DECLARE i int; BEGIN RETURN NEXT i; END$$;
SELECT * FROM n_variable();
CREATE FUNCTION n_casts() RETURNS SETOF bigint LANGUAGE plpgsql AS $$BEGIN RETURN NEXT '12'; RETURN NEXT 12.4; RETURN NEXT null::text; RETURN NEXT 'x'; END$$;
SELECT * FROM n_casts();
CREATE FUNCTION n_unassigned() RETURNS SETOF pair LANGUAGE plpgsql AS $$DECLARE r record; BEGIN RETURN NEXT r; END$$;
SELECT * FROM n_unassigned();
CREATE FUNCTION n_records() RETURNS SETOF record LANGUAGE plpgsql AS $$BEGIN RETURN NEXT row(1, 2); END$$;
SELECT * FROM n_records() AS (x int, y int);
SELECT * FROM n_records() AS (x int, y bigint);
SELECT n_records();
CREATE FUNCTION n_outputs(OUT a int, OUT b text) RETURNS SETOF record LANGUAGE plpgsql AS $$BEGIN a := 1; b := 'x'; RETURN NEXT; RETURN QUERY SELECT 2, 'y'::text; RETURN QUERY SELECT 3, 'z'; END$$;
SELECT * FROM n_outputs();

CREATE FUNCTION r_record(n int) RETURNS record LANGUAGE plpgsql AS $$BEGIN RETURN row(n, n + 1); END$$;
SELECT * FROM r_record(1) AS r(x int, y int);
SELECT * FROM r_record(1) AS r(x int, y int, z int);
SELECT * FROM r_record(1) AS r(x int, y bigint);
SELECT r_record(1);
CREATE FUNCTION r_variable(n int) RETURNS record LANGUAGE plpgsql AS $$DECLARE r record; BEGIN SELECT n AS a, 'x'::text AS b INTO r; RETURN r; END$$;
SELECT * FROM r_variable(1) AS r(x int, y text);
SELECT * FROM r_variable(1) AS r(x int, y int);
CREATE FUNCTION r_scalar() RETURNS pair LANGUAGE plpgsql AS $$BEGIN RETURN 2; END$$;
SELECT r_scalar();
CREATE FUNCTION r_text() RETURNS pair LANGUAGE plpgsql AS $$BEGIN RETURN '(1,2)'; END$$;
SELECT r_text();
CREATE FUNCTION r_null() RETURNS pair LANGUAGE plpgsql AS $$BEGIN RETURN null; END$$;
SELECT r_null() IS NULL AS nothing;
CREATE FUNCTION r_int() RETURNS record LANGUAGE plpgsql AS $$BEGIN RETURN 2; END$$;
SELECT * FROM r_int() AS r(x int, y text);

-- What a record parameter is called with says its fields.
CREATE TYPE named AS (name text, b bigint, a int);
CREATE FUNCTION field_of(x record) RETURNS text LANGUAGE plpgsql AS $$BEGIN RETURN x.a; END$$;
SELECT field_of(row(1, 2)::pair), field_of(row('n', 7, 8)::named), field_of(row(3, 4)::pair);
SELECT field_of(row(1, 2));

-- Rows of no type of their own go into rows of a type by their texts.
CREATE TYPE nested AS (one pair, two pair);
DO $$DECLARE p pair; n nested; BEGIN
  p := row(1, 2); n := row(p, row(p.a, p.b + 1)); RAISE NOTICE '% %', p, n;
  p.a := 10; n.one := row(11, 12); n.two.b := 42; RAISE NOTICE '% %', p, n;
END$$;
DO $$DECLARE p pair; BEGIN p.x := 1; END$$;
DO $$<<outside>> DECLARE p nested; BEGIN outside.p.x.a := 1; END$$;
DO $$DECLARE p nested; BEGIN p.one.x := 1; END$$;
DO $$BEGIN <<outside>> DECLARE p nested; BEGIN outside.p.one.two := 1; END; END$$;
DO $$BEGIN a.b.c.d := 1; END$$;
