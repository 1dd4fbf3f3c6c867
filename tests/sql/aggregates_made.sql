-- CREATE AGGREGATE: over built-in functions and users', with states of all kinds, in groups and windows.
CREATE TABLE t (g int, v int, s text);
INSERT INTO t VALUES (1, 1, 'a'), (1, 2, 'b'), (1, NULL, NULL), (2, 5, 'c'), (2, 5, 'c'), (3, NULL, NULL);
CREATE AGGREGATE total (int) (sfunc = int4pl, stype = int, initcond = '0');
SELECT g, total(v), sum(v) FROM t GROUP BY g ORDER BY g;
SELECT total(v) FROM t WHERE false;
-- A strict function without a first state: the first value is it.
CREATE AGGREGATE product (int) (sfunc = int4mul, stype = int);
SELECT g, product(v) FROM t GROUP BY g ORDER BY g;
CREATE FUNCTION add_squared(state bigint, value int) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT state + value * value';
CREATE AGGREGATE squares (int) (sfunc = add_squared, stype = bigint, initcond = 0, combinefunc = int8pl, parallel = safe);
SELECT g, squares(v) FROM t WHERE v IS NOT NULL GROUP BY g ORDER BY g;
SELECT squares(v) FROM t;
CREATE FUNCTION gather(state text, value text, separator text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF value IS NULL THEN RETURN state; END IF;
  IF state IS NULL THEN RETURN value; END IF;
  RETURN state || separator || value;
END $$;
CREATE FUNCTION bracketed(state text) RETURNS text LANGUAGE sql AS $$ SELECT '[' || coalesce(state, '-') || ']' $$;
CREATE AGGREGATE gathered (text, text) (sfunc = gather, stype = text, finalfunc = bracketed);
SELECT g, gathered(s, ',' ORDER BY s DESC) FROM t GROUP BY g ORDER BY g;
SELECT gathered(DISTINCT s, '+'), gathered(s, '+') FILTER (WHERE g = 1), count(*) FROM t;
SELECT g, gathered(s, ';' ORDER BY s) FROM t GROUP BY ROLLUP (g) ORDER BY g;
SELECT gathered(s, ',' ORDER BY s) FROM t HAVING gathered(s, ',' ORDER BY s) LIKE '[a%';
SELECT g, v, total(v) OVER (PARTITION BY g ORDER BY v, s ROWS UNBOUNDED PRECEDING), gathered(s, '-') OVER (ORDER BY g, v, s ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY g, v, s;
SELECT g, product(v) OVER w, gathered(s, ',') FILTER (WHERE v > 1) OVER w FROM t WINDOW w AS (PARTITION BY g ORDER BY v, s ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) ORDER BY g, v, s;
-- States of arrays, polymorphic ones, rows of several arguments, none.
CREATE AGGREGATE collect (anycompatible) (sfunc = array_append, stype = anycompatiblearray, initcond = '{}');
SELECT g, collect(v ORDER BY v), collect(s ORDER BY s) FROM t GROUP BY g ORDER BY g;
SELECT pg_typeof(collect(v)), pg_typeof(collect(s)) FROM t;
CREATE FUNCTION count_up(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT $1 + 1';
CREATE AGGREGATE rows_of (*) (sfunc = count_up, stype = bigint, initcond = '0');
SELECT g, rows_of(*) FROM t GROUP BY g ORDER BY g;
CREATE AGGREGATE old_max (basetype = int, sfunc = int4larger, stype = int, sortop = >);
SELECT old_max(v) FROM t;
CREATE AGGREGATE mean (float8) (sfunc = float8_accum, stype = float8[], finalfunc = float8_avg, initcond = '{0,0,0}');
SELECT g, mean(v) FROM t GROUP BY g ORDER BY g;
CREATE FUNCTION spread(state int[], value int) RETURNS int[] LANGUAGE sql AS 'SELECT ARRAY[least(state[1], value), greatest(state[2], value)]';
CREATE FUNCTION spread_of(state int[], value int) RETURNS int LANGUAGE sql AS 'SELECT state[2] - state[1]';
CREATE AGGREGATE spread (int) (sfunc = spread, stype = int[], initcond = '{NULL,NULL}', finalfunc = spread_of, finalfunc_extra);
SELECT g, spread(v) FROM t GROUP BY g ORDER BY g;
-- In views, subqueries and routines.
CREATE VIEW totals AS SELECT g, total(v) AS t, gathered(s, ',' ORDER BY s) AS s FROM t GROUP BY g;
SELECT * FROM totals ORDER BY g;
SELECT pg_get_viewdef('totals'::regclass);
SELECT (SELECT total(v) FROM t AS i WHERE i.g = o.g) FROM (SELECT DISTINCT g FROM t) AS o ORDER BY o.g;
CREATE FUNCTION all_of() RETURNS text LANGUAGE sql AS $$ SELECT gathered(s, '/' ORDER BY s) FROM t $$;
SELECT all_of();
CREATE OR REPLACE FUNCTION add_squared(state bigint, value int) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT state + value * value * 10';
SELECT squares(v) FROM t;
-- What fails in a function, fails.
CREATE FUNCTION fails(state int, value int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN state + 1 / (value - 5); END $$;
CREATE AGGREGATE failing (int) (sfunc = fails, stype = int, initcond = '0');
SELECT failing(v) FROM t WHERE v < 3;
SELECT failing(v) FROM t;
-- The catalogs.
SELECT proname, prokind, provolatile, proparallel, prosrc, pg_get_function_arguments(oid), pg_get_function_result(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'a' ORDER BY 1;
SELECT aggfnoid, aggkind, aggtransfn, aggfinalfn, aggcombinefn, aggfinalextra, aggsortop::regoper, aggtranstype::regtype, agginitval FROM pg_aggregate WHERE aggfnoid::oid >= 16384 ORDER BY aggfnoid::text;
COMMENT ON AGGREGATE total (int) IS 'adds up';
COMMENT ON AGGREGATE rows_of (*) IS 'counts';
SELECT obj_description('total(int)'::regprocedure), obj_description('rows_of()'::regprocedure);
ALTER AGGREGATE product (int) RENAME TO product_of;
CREATE SCHEMA other;
ALTER AGGREGATE product_of (int) SET SCHEMA other;
SELECT other.product_of(v) FROM t;
CREATE AGGREGATE moving (int) (sfunc = int4pl, stype = int, msfunc = int4pl, minvfunc = int4mi, mstype = int, minitcond = '0', msspace = 8);
SELECT v, moving(v) OVER (ORDER BY v ROWS 1 PRECEDING) FROM t WHERE v IS NOT NULL ORDER BY v;
SELECT aggmtransfn, aggminvtransfn, aggmtranstype::regtype, aggmtransspace, aggminitval FROM pg_aggregate WHERE aggfnoid = 'moving(int)'::regprocedure;
-- Refused.
CREATE AGGREGATE bad (int) (sfunc = int4pl);
CREATE AGGREGATE bad (int) (stype = int);
CREATE AGGREGATE bad (int) (sfunc = nothing, stype = int);
CREATE AGGREGATE bad (text) (sfunc = int4pl, stype = int);
CREATE AGGREGATE bad (int) (sfunc = int4eq, stype = int);
CREATE AGGREGATE bad (int) (sfunc = add_squared, stype = bigint);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, initcond = '0', unknown = 1);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, msfunc = int4pl);
CREATE AGGREGATE bad (int) (sfunc = array_append, stype = anycompatiblearray);
CREATE AGGREGATE total (int) (sfunc = int4mul, stype = int);
CREATE OR REPLACE AGGREGATE total (int) (sfunc = int4mul, stype = int, initcond = '1');
SELECT total(v) FROM t;
CREATE FUNCTION total(a int) RETURNS int LANGUAGE sql AS 'SELECT 1';
DROP FUNCTION total(int);
DROP FUNCTION count_up(bigint);
DROP AGGREGATE count_up(bigint);
DROP AGGREGATE nothing(int);
DROP AGGREGATE IF EXISTS nothing(int);
DROP AGGREGATE total(int);
DROP VIEW totals;
DROP AGGREGATE total(int), squares(int), rows_of(*);
SELECT total(v) FROM t;
DROP FUNCTION count_up(bigint);
CREATE VIEW gathering AS SELECT gathered(s, ',' ORDER BY s) AS all_of_them FROM t;
DROP FUNCTION gather(text, text, text);
DROP FUNCTION gather(text, text, text) CASCADE;
SELECT * FROM gathering;
