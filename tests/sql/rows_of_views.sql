-- What takes or gives the rows of a view goes with the view, also where that goes with something else; what goes for two
-- reasons is told of once.
create table rv_t (a int, b int);
create view rv_v as select * from rv_t;
create view rv_w as select * from rv_v;
create function rv_f(rv_v) returns int language sql as 'select 1';
create function rv_g() returns setof rv_w language plpgsql as 'begin end';
create table rv_u (a rv_w, b int);
drop table rv_t;
drop view rv_v;
alter table rv_t drop column b;
begin;
drop view rv_v cascade;
select proname from pg_proc where proname like 'rv\_%' order by proname;
rollback;
drop table rv_t cascade;
select proname from pg_proc where proname like 'rv\_%' order by proname;
select attname from pg_attribute where attrelid = 'rv_u'::regclass and attnum > 0 and not attisdropped;
create schema rv;
create table rv.t (a int);
create function rv.f() returns setof rv.t language sql as 'select * from rv.t';
create view rv.v as select * from rv.f();
create procedure rv.p(rv.t) language sql as 'select 1';
create operator family rv.family using hash;
create operator class rv.class for type uuid using hash family rv.family as operator 1 = (uuid, uuid), function 1 uuid_hash(uuid);
drop schema rv;
drop schema rv cascade;
-- Functions are made within bodies in the standard's form, semicolons and all.
do $$ begin create function rv_atomic(x int) returns int begin atomic select 1; select case when x > 1 then x end; end; create or replace procedure rv_call() begin atomic select 2; end; perform rv_atomic(5); end $$;
select rv_atomic(2);
call rv_call();
create function rv_makes() returns int language plpgsql as $$ declare procedure int := 3; begin create or replace function rv_atomic(x int) returns int return x + 1; return procedure; end $$;
select rv_makes();
select rv_atomic(2);
-- How settings of functions are shown.
create function rv_set() returns int language sql set search_path to pg_catalog, "A b", 'c' set local_preload_libraries to "Mixed/Case", 'c:/''a"/path', '' set datestyle to iso, mdy set work_mem = '4MB' as 'select 1';
select pg_get_functiondef('rv_set'::regproc);
create function rv_none() returns int language sql set search_path to '' as 'select 1';
select pg_get_functiondef('rv_none'::regproc);
prepare rv_p(int) as select $1 as x;
create table rv_made as execute rv_p(1) with no data;
select * from rv_made;
