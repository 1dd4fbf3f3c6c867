-- Functions of aggregates and casts take values of domains for those of the types under them; mixtures of polymorphic and
-- other types are no such functions.
create domain dc_a as int;
create domain dc_b as int;
create function dc_add(bigint, int) returns bigint language sql as 'select $1 + $2';
create aggregate dc_sum(dc_a) (sfunc = int4pl, stype = int);
create aggregate dc_total(dc_a) (sfunc = dc_add, stype = bigint, initcond = '0');
select dc_sum(x::dc_a), dc_total(x::dc_a) from generate_series(1, 3) x;
select dc_sum(x), dc_total(x) from generate_series(1, 3) x;
select dc_sum(x::dc_b) from generate_series(1, 3) x;
create aggregate dc_wrong(dc_a) (sfunc = dc_add, stype = text);
drop aggregate dc_sum(dc_b);
drop aggregate dc_sum(dc_a);
drop function dc_add(bigint, dc_a);
drop function dc_nothing(dc_a, dc_b[]);
drop procedure dc_nothing(dc_a);
create function dc_cast(int) returns dc_b language sql as 'select $1::dc_b';
create cast (dc_a as dc_b) with function dc_cast(int);
create cast (dc_b as dc_a) with function dc_cast(int);
drop cast (dc_a as dc_b);
create function dc_poly(anyarray, anyelement) returns anyarray language sql as 'select $1 || $2';
create aggregate dc_mixed(basetype = anyelement, sfunc = dc_poly, stype = int[]);
create aggregate dc_same(basetype = anyelement, sfunc = dc_poly, stype = anyarray, initcond = '{}');
create aggregate dc_plain(basetype = int, sfunc = dc_poly, stype = int[]);
select dc_same(x), dc_plain(x) from generate_series(1, 3) x;
-- What is refused is so with PostgreSQL's codes.
select has_table_privilege('pg_class', 'rule'), has_table_privilege('pg_class', 'select, rule'), has_table_privilege('pg_class', 'Rule with grant option');
select has_table_privilege('pg_class', 'rules');
select has_schema_privilege('public', 'rule');
create table dc_t (a int);
create function dc_trigger() returns trigger language plpgsql as 'begin return null; end';
create trigger t after truncate or update on dc_t referencing old table as d new table as i for each statement execute function dc_trigger();
create view dc_v as select 1 as a;
alter view dc_v inherit dc_t;
