-- Casts of users in PL/pgSQL: what is given to them, NULL included, and what a variable takes that is a row.
CREATE TYPE cast_row AS (f1 bigint);
CREATE TYPE cast_pair AS (f1 bigint, f2 text);
CREATE FUNCTION to_cast_row(bigint) RETURNS cast_row LANGUAGE plpgsql AS $$ begin raise notice 'row of %', $1; return row($1)::cast_row; end $$;
CREATE CAST (bigint AS cast_row) WITH FUNCTION to_cast_row(bigint) AS IMPLICIT;
CREATE TYPE cast_enum AS ENUM ('a', 'b');
CREATE FUNCTION to_cast_enum(int) RETURNS cast_enum LANGUAGE plpgsql AS $$ begin raise notice 'enum of %', $1; return case when $1 is null then 'b' else 'a' end; end $$;
CREATE CAST (int AS cast_enum) WITH FUNCTION to_cast_enum(int) AS ASSIGNMENT;
DO $$ declare x cast_row; y bigint; begin y := 5; x := y; raise notice '%', x; y := null; x := y; raise notice '%', x; x := null; raise notice '%', x; end $$;
DO $$ declare x cast_enum; y int; begin x := y; raise notice '%', x; x := 3; raise notice '%', x; end $$;
-- What RETURN gives is cast where it is not NULL, what RETURN NEXT gives always.
CREATE FUNCTION cast_returned(y int) RETURNS cast_enum LANGUAGE plpgsql AS $$ begin return y; end $$;
SELECT cast_returned(NULL), cast_returned(7);
CREATE FUNCTION cast_next(y int) RETURNS SETOF cast_enum LANGUAGE plpgsql AS $$ begin return next y; end $$;
SELECT cast_next(NULL);
CREATE FUNCTION cast_row_returned(y bigint) RETURNS cast_row LANGUAGE plpgsql AS $$ begin return y; end $$;
SELECT cast_row_returned(5);
SELECT cast_row_returned(NULL) IS NULL;
-- INTO gives each value of a row to its cast, and nothing where there is no row.
DO $$ declare x cast_enum; y int; begin select null::int, 4 into x, y; raise notice '% %', x, y; select 1, 2 into x, y where false; raise notice '% %', x, y; end $$;
DO $$ declare x cast_enum; begin execute 'select null::int' into x; raise notice '%', x; for x in select n from (values (1), (null)) v(n) loop raise notice '%', x; end loop; end $$;
DO $$ declare x cast_pair; begin select 3, 'c' into x.f1, x.f2; raise notice '%', x; x.f1 := null; raise notice '%', x; end $$;
-- Rows go into rows field by field; anything else by a cast, or by its text.
DO $$ declare x cast_row; begin x := '(5)'; raise notice '%', x; x := '(6)'::text; raise notice '%', x; end $$;
DO $$ declare x cast_pair; begin x := 5; end $$;
DO $$ declare x cast_row := '(6)'; begin raise notice '%', x; end $$;
DO $$ declare x cast_pair; begin x := row(5, 'a')::cast_pair; x := row(3, 'b'); raise notice '%', x; end $$;
DO $$ declare x cast_pair; y record; begin select 1 as a, 'z'::text as b into y; x := y; raise notice '%', x; select 1 as a into y; x := y; raise notice '%', x; end $$;
DO $$ declare x cast_pair; begin x := null::int; raise notice '%', x; end $$;
-- No row is one of NULLs in a variable of a composite type; NULL is none, and what is given to a record takes its fields away.
CREATE TABLE cast_none (a int, b text);
DO $$ declare x cast_pair; begin raise notice '% %', x, x is null; select 3, 'c' into x where false; raise notice '% % %', x, x is null, x is distinct from null; x := null; raise notice '%', x; x.f1 := 1; raise notice '%', x; select 3, 'c' into x where false; raise notice '%', x; end $$;
DO $$ declare x cast_none; begin raise notice '%', x; select * into x from cast_none; raise notice '%', x; x := null; raise notice '%', x; end $$;
DO $$ declare x record; begin select * into x from cast_none; raise notice '%', x; x := null; raise notice '%', x; raise notice '%', x.a; end $$;
DO $$ declare x record; begin select 1 as a into x; raise notice '%', x.a; x := null; raise notice '%', x is null; select 2 as a into x; raise notice '%', x.a; x := null; x.a := 3; end $$;
DO $$ declare x record; begin select 1 as a into x; x.zz := 3; end $$;
DO $$ declare x cast_pair; begin x.zz := 3; end $$;
DO $$ declare x cast_none%rowtype; begin for x in select * from cast_none loop null; end loop; raise notice '%', x; end $$;
DO $$ declare x cast_none; c cursor for select * from cast_none; begin open c; fetch c into x; raise notice '% %', x, found; end $$;
DO $$ declare x cast_none; begin execute 'select * from cast_none' into x; raise notice '% %', x, found; end $$;
DO $$ declare x cast_none; begin delete from cast_none returning * into x; raise notice '% %', x, found; end $$;
CREATE DOMAIN cast_domain AS cast_none CHECK ((VALUE).a IS NULL);
DO $$ declare x cast_domain; begin select * into x from cast_none; raise notice '%', x; select 1, 'a' into x; end $$;
CREATE FUNCTION cast_stamp() RETURNS trigger LANGUAGE plpgsql AS $$ begin if new.a > 1 then new := null; end if; return new; end $$;
CREATE TRIGGER cast_stamps BEFORE INSERT ON cast_none FOR EACH ROW EXECUTE FUNCTION cast_stamp();
INSERT INTO cast_none VALUES (1, 'one'), (2, 'two') RETURNING *;
-- Only a variable that stands alone takes a row.
DO $$ declare x int; y record; begin select 1, 2 into y, x; end $$;
DO $$ declare x int; y record; begin select 1, 2 into x, y; end $$;
DO $$ declare x int; y record; begin select 1, 2 into x, z; end $$;
DO $$ declare x int; y record; begin execute 'select 1, 2' into y, x; end $$;
DO $$ declare x int; y record; c refcursor; begin fetch c into x, y; end $$;
DO $$ declare x int; y record; begin for x, y in select 1, 2 loop null; end loop; end $$;
DO $$ declare x int; y record; begin for y, x in select 1, 2 loop null; end loop; end $$;
DO $$ declare x int; y record; begin get diagnostics y = row_count; end $$;
DROP CAST (int AS cast_enum);
DROP CAST (bigint AS cast_row);
