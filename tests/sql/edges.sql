-- What definitions depend on is noted when they are made, by OID and column number: names may change.
create type ek as enum ('a', 'b');
create domain ed as int check (value > 0);
create type ec as (x int, y text);
create table et (id int primary key, k ek, d ed, c ec, n int);
create table ed1 (k ek default 'a', d ed default 5, s text default 'b'::ek::text, o oid default 'et'::regclass, check (k <> 'b'));
create view ev1 as select et.* from et;
create view ev2 as select k = 'a' as is_a, (c).x from et;
create view ev3 as select id, k, count(*) from et group by id;
create view ev4 as select t is null as n from et t;
create view ev5 as select 'et'::regclass as o;
create view ev6 as select (t).n, (row(1, 'q')::ec).y from et t;
create view ev8 as select array['a', 'b']::ek[] as ks;
create index ei on et ((k = 'a'), ((c).x)) where d > 1;
create table eg (a int, b int generated always as (a * 2) stored, r et, check ((r).n > 0));
-- Each side of each edge.
select case d.classid when 2618 then 'rule of ' || d.objid::regclass when 2604 then 'default of ' || (select adrelid::regclass || '.' || adnum from pg_attrdef where oid = d.objid)
  when 2606 then 'constraint ' || (select conname from pg_constraint where oid = d.objid) when 1259 then d.objid::regclass::text else d.objid::regtype::text end as what,
  case d.refclassid when 1259 then d.refobjid::regclass::text when 1247 then d.refobjid::regtype::text when 2606 then (select conname::text from pg_constraint where oid = d.refobjid) end as on_what,
  d.refobjsubid, d.deptype
  from (select case when classid = 2618 then (select ev_class from pg_rewrite where oid = objid) else objid end as objid, classid, refclassid, refobjid, refobjsubid, deptype from pg_depend where refobjid > 16000 and refclassid <> 2615) d
  where d.classid in (2618, 2604, 2606) or d.objid = 'ei'::regclass
  order by 1 collate "C", 2 collate "C", 3, 4;
-- Names change, edges do not.
alter table et rename to et_now;
alter table et_now rename k to kind;
alter type ek rename to ek_now;
alter type ec rename attribute x to xx;
alter table et_now rename n to number;
select pg_get_viewdef('ev2'), pg_get_viewdef('ev5'), pg_get_viewdef('ev6');
select pg_get_indexdef('ei'::regclass);
select pg_get_constraintdef(oid) from pg_constraint where conrelid in ('eg'::regclass, 'ed1'::regclass) order by oid;
drop type ek_now;
drop type ec;
drop domain ed;
drop table et_now;
alter table et_now drop column number;
alter table et_now drop constraint et_pkey;
alter type ec drop attribute xx;
alter table et_now drop column number cascade;
alter type ec drop attribute xx cascade;
select viewname from pg_views where schemaname = 'public' order by 1;
alter table et_now drop constraint et_pkey cascade;
drop type ek_now cascade;
select relname from pg_class where relname in ('ei', 'ev2', 'ev3', 'ev8') order by 1;
drop table et_now cascade;
select o from ed1;
insert into ed1 (s) values ('y') returning *;
