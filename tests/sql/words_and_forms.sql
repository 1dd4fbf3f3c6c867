-- Words that may be names, casts as keys, arguments with their names, which of several meanings a name has, and what
-- calls look like in a definition: as they were written, without the casts that a form of the standard hides.
create table op (operator int, values int, if int, id int);
insert into op (operator, values, if, id) values (1, 2, 3, 4);
select operator + 1, (values), if from op where operator = 1 order by operator;
select - operator, not (operator = 2) from op;
update op set operator = operator + 1 returning operator;
create table if (x int);
drop table if;
drop table if cascade;
drop table if exists if;
with recursive as (select 1 as x) select x from recursive;
begin;
savepoint savepoint;
rollback to savepoint;
release savepoint;
rollback;
prepare prepare as select 1;
deallocate prepare;
prepare transaction as select 2;
deallocate transaction;
select extract(abort from now());
select extract("day" from date '2020-01-02'), extract(day from date '2020-01-02'), extract('day' from date '2020-01-02');
set x.select = 1;

create table t (a int, b text);
insert into t values (1, 'x'), (2, 'y');
create index on t (CAST(a as text));
create unique index tu on t (cast(b as varchar));
create index on t (a::text);
insert into t values (1, 'x') on conflict (cast(b as varchar)) do nothing;
revoke all on function lower(x text) from public;
revoke all on function lower(in text) from public;
revoke all on function pg_sleep(seconds double precision) from public;
grant execute on function lower(text), pg_sleep(double precision) to public;

select o.x, (select count(*) from (select a as x from t group by x) r) from (values (1)) o(x);
select o.a, (select count(*) from (select b as x from t group by a, x) r) from (values (1)) o(a);
select o.x, (select count(*) from (select 1 from t group by x) r) from (values (1)) o(x);
select a from t x, t y group by a;

prepare p1 as update t set a = $1 where a = $1;
prepare p2 as update t set a = $1 where b = 'x' returning $1 = 1.5;
prepare p3 as update t set a = $1 where b = 'x' returning $1;
select name, parameter_types from pg_prepared_statements order by name;
update t set nosuch = 1 where nosuch2 = 1;
update t set nosuch = 1 returning nosuch3;

show default_with_oids;
set default_with_oids = false;
set default_with_oids = true;
set default_with_oids = maybe;
set ssl_renegotiation_limit = 0;
show ssl_renegotiation_limit;
set ssl_renegotiation_limit = 512;
create or replace language plpgsql;
create trusted procedural language plpgsql;
create language nosuch;
create extension nosuch;
create extension if not exists nosuch version '1.0';
create extension "a/b";
create extension "a--b";
create extension "-a";

create table tt (n varchar, c char(10), d date, e text, j jsonb, k varchar(5)[] default '{abc}', l numeric(4, 1)[] default '{1,2}', m varchar(3)[] default '{abc}'::varchar(3)[], ts timestamp);
select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 'tt'::regclass order by adnum;
create view v1 as select trim(both from n) a, trim(leading n from c) b, position('a' in n) c, position('x' in c) d,
  overlay(n placing 'a' from 1 for 2) e, substring(n from 1 for 2) f, substring(n similar 'a' escape '#') g,
  normalize(n) h, n is normalized i, extract("YEAR" from d) j, extract(year from d) k, d at time zone 'utc' l,
  (d, d) overlaps (d, d) m, trim(n::text) n, trim(both from n || 'x') o, position(n in n::text) p from tt;
select pg_get_viewdef('v1');
select pg_get_viewdef('v1', true);
create view v2 as select starts_with(n, c) a, n ^@ c b, int4pl(1, 2) c, 1 + 2 d, textlike(n, e) e, n like e f,
  text(c) g, c::text h, date(ts) i, ts::date j, numeric_add(1, 2.5) k, bpcharin('a', 0, 5) l, float8(1) m, int4(2.5) n,
  btrim(n) o, varchar(e) p, lower(n) q, length(c) r, int4um(3) s, - 3 t from tt;
select pg_get_viewdef('v2');
select pg_get_viewdef('v2', true);
create view v3 as select j['foo'] a, j['a']['b'] b, (j -> 'x')['y'] c, j #> array['foo'] d from tt;
select pg_get_viewdef('v3');
create view v4 as select e, n, count(*) from tt group by (e, n);
select pg_get_viewdef('v4');
create view v5 as select e, n, count(*) from tt group by (e, n), rollup (d);
select pg_get_viewdef('v5');
create view v6 as select coalesce(id, 1) from op join op o2 using (id);
select pg_get_viewdef('v6');
select count(*) from v1, v2, v3, v4, v5, v6;
alter table tt add check (starts_with(n, 'a')), add check (trim(n) <> '' and int4eq(1, 1));
create index on tt (starts_with(n, c), date(ts), (ts::date), trim(both from c));
select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'tt'::regclass order by 1;
select pg_get_indexdef(indexrelid) from pg_index where indrelid = 'tt'::regclass;
-- Words of operators as labels.
SELECT 1 and;
SELECT 1 AS a, 2 between, 3 in, 4 is, 5 like, 6 or FROM (SELECT 1) x;
SELECT 1 collate, (SELECT 2 ilike), 3 isnull;
SELECT (1 and);
SELECT 1 and 2;
SELECT 1 WHERE true and;
SELECT true and UNION ALL SELECT false;
