-- INSTEAD OF triggers of views, and the statement triggers beside them (PostgreSQL 15 manual, CREATE TRIGGER).
create table base (a int primary key, b text default 'base', c int not null default 7);
create table log (n serial, what text);
insert into base values (1, 'one', 1), (2, 'two', 2), (3, 'three', 3);
create view joined as select x.a, x.b, y.c, x.a * 10 as ten from base x join base y using (a);
create view grouped (total, many) as select sum(a), count(*) from base;
insert into joined values (5);
update joined set b = 'x';
delete from joined;
create function say() returns trigger language plpgsql as $$
begin
  insert into log (what) values (format('%s %s %s %s %s old=%s new=%s args=%s depth=%s', tg_name, tg_table_name, tg_when, tg_level, tg_op, old, new, tg_argv, pg_trigger_depth()));
  if tg_level = 'STATEMENT' then return null; end if;
  if tg_op = 'INSERT' then
    if new.b = 'skip' then return null; end if;
    insert into base values (new.a, new.b, coalesce(new.c, -1));
    new.ten := new.a * 100;
    return new;
  elsif tg_op = 'UPDATE' then
    update base set a = new.a, b = new.b, c = new.c where a = old.a;
    if not found then return null; end if;
    new.ten := new.ten + 1;
    return new;
  end if;
  delete from base where a = old.a;
  if not found then return null; end if;
  old.b := 'told';
  return old;
end $$;
-- what cannot be
create trigger bad instead of insert on base for each row execute function say();
create trigger bad before insert on joined for each row execute function say();
create trigger bad after update on joined for each row execute function say();
create trigger bad before truncate on joined for each statement execute function say();
create trigger bad instead of truncate on joined for each row execute function say();
create trigger bad instead of insert on joined for each statement execute function say();
create trigger bad instead of insert on joined for each row when (new.a > 0) execute function say();
create trigger bad instead of update of a on joined for each row execute function say();
create trigger bad after insert on joined referencing new table as n for each statement execute function say();
-- statement triggers alone make a view no more changeable
create trigger s1 before insert or update or delete on joined for each statement execute function say('s', 1);
create trigger s2 after insert or update or delete on joined for each statement execute function say();
insert into joined values (5);
create trigger r1 instead of insert or update or delete on joined for each row execute function say('r');
insert into joined values (5, 'five', 5), (6, 'skip', 6), (7, null, null);
insert into joined (a) values (8) returning *;
insert into joined (a, b) select a + 20, b from base where a < 3 returning a, ten, joined.b as bb;
insert into joined default values;
select what from log order by n;
truncate log;
select * from base order by a;
update joined set b = b || '!' where a < 3;
update joined set b = x.v, c = joined.c + x.w from (values (1, 'v1', 10), (2, 'v2', 20), (2, 'v3', 30)) x(a, v, w) where joined.a = x.a returning joined.*, x.v, ten;
update joined j set a = default where j.a = 3 returning a;
update joined set a = a where false;
delete from joined where a = 1 returning *;
delete from joined j using base k where j.a = k.a and k.a > 20 returning j.a, j.b, k.b;
with gone as (delete from joined where a = 2 returning a, b) select * from gone;
with made as (insert into joined values (31, 'thirty', 1) returning a, ten) select * from made;
select what from log order by n;
truncate log;
select * from base order by a;
-- parameters and subqueries
prepare ins(int, text) as insert into joined (a, b, c) values ($1, $2, (select count(*) from base)) returning a, b, c;
execute ins(41, 'p');
execute ins(42, 'q');
prepare upd(int, text) as update joined set b = $2 || (select max(b) from base x where x.a = joined.a) where a = $1;
execute upd(41, 'z');
select a, b, c from base where a > 40 order by a;
-- where current of
begin;
declare cur cursor for select * from joined;
fetch cur;
update joined set b = 'x' where current of cur;
rollback;
-- on conflict, merge
insert into joined values (1) on conflict do nothing;
insert into joined values (1) on conflict (a) do nothing;
insert into joined values (1) on conflict (a) do update set b = 'x';
merge into joined using base on joined.a = base.a when matched then delete;
-- a disabled trigger changes nothing and is still there
alter table joined disable trigger r1;
insert into joined values (99, 'none', 1) returning *;
update joined set b = 'none';
select count(*) from base where b = 'none' or a = 99;
alter view joined alter column b set default 'view''s own';
alter table joined enable trigger r1;
insert into joined (a) values (50) returning b;
truncate log;
-- a view over it
create view above as select a as x, b as y, ten from joined where a > 5;
insert into above values (60, 'sixty');
insert into above values (2, 'two');
update above set y = y || '?' where x = 60 returning *;
delete from above where x = 60 returning x, y;
update above set ten = 1 where x = 50;
select what from log order by n;
truncate log;
create view checked as select a as x, b as y from joined where a > 5 with check option;
insert into checked values (70, 'ok') returning *;
insert into checked values (4, 'not');
update checked set x = 3 where x = 70;
select * from base order by a;
-- updatable, as the catalog says
select table_name, is_updatable, is_insertable_into, is_trigger_updatable, is_trigger_deletable, is_trigger_insertable_into
 from information_schema.views where table_name in ('joined', 'above', 'checked', 'grouped') order by 1;
select c.relname, pg_relation_is_updatable(c.oid, false), pg_relation_is_updatable(c.oid, true), pg_column_is_updatable(c.oid, 1::int2, true), pg_column_is_updatable(c.oid, 1::int2, false), relhastriggers
 from pg_class c where relname in ('joined', 'above', 'checked', 'grouped', 'base') order by 1;
select trigger_name, event_manipulation, event_object_table, action_orientation, action_timing, action_statement from information_schema.triggers where event_object_table = 'joined' order by 1, 2;
select tgname, tgtype, tgenabled, pg_get_triggerdef(oid) from pg_trigger where tgrelid = 'joined'::regclass order by 1;
-- copy
copy joined (a, b, c) from stdin;
80	copied	1
82	\N	\N
\.
copy grouped from stdin;
select * from base where a >= 80 order by a;
copy joined from stdin where a > 90;
90	no	1	1
91	yes	1	1
\.
select * from base where a >= 90 order by a;
truncate log;
-- one event alone
create function count_only() returns trigger language plpgsql as $$ begin raise notice '% % %', tg_op, old, new; return coalesce(new, old); end $$;
create trigger g instead of update on grouped for each row execute function count_only();
update grouped set many = 0 returning *;
insert into grouped values (1, 2);
delete from grouped;
create view simple as select a, b from base;
create trigger t instead of insert on simple for each row execute function count_only();
insert into simple values (500, 'nowhere');
update simple set b = 'direct' where a = 91;
delete from simple where a = 90;
select a, b from base where a >= 90 order by a;
-- order by name, one after the other; NULL ends it
create function add_one() returns trigger language plpgsql as $$ begin new.a := new.a + 1; raise notice '% %', tg_name, new; return new; end $$;
create function stop() returns trigger language plpgsql as $$ begin raise notice '% stops', tg_name; return null; end $$;
create trigger u2 instead of insert on simple for each row execute function add_one();
create trigger u1 instead of insert on simple for each row execute function add_one();
insert into simple values (1, 'x') returning *;
create trigger u1a instead of insert on simple for each row execute function stop();
insert into simple values (1, 'x') returning *;
-- create or replace view keeps them; a new column is seen
create or replace view simple as select a, b, c from base;
drop trigger u1a on simple;
insert into simple values (1, 'x', 3) returning *;
alter trigger t on simple rename to t_renamed;
comment on trigger t_renamed on simple is 'of a view';
select obj_description(oid, 'pg_trigger') from pg_trigger where tgname = 't_renamed';
drop trigger u1 on simple;
drop trigger u2 on simple;
alter view simple rename column a to aa;
insert into simple values (1, 'x', 3) returning *;
-- the function goes, or the view
drop function count_only();
drop view simple;
select count(*) from pg_trigger where tgname = 't_renamed';
drop function count_only() cascade;
update grouped set many = 0;
-- explain
create function count_only2() returns trigger language plpgsql as $$ begin return coalesce(new, old); end $$;
create view one as select a, b from base where c > 0;
create trigger t instead of insert or update or delete on one for each row execute function count_only2();
explain (costs off) insert into one values (1);
explain (costs off) update one set b = 'x' where a = 1;
explain (costs off) delete from one where a = 1;
-- rights
create role view_triggers_r;
grant select, insert, update, delete on joined to view_triggers_r;
set role view_triggers_r;
insert into joined values (100, 'by r', 1);
create trigger mine instead of insert on joined for each row execute function say();
reset role;
grant select, insert on base, log to view_triggers_r;
grant usage on sequence log_n_seq to view_triggers_r;
set role view_triggers_r;
insert into joined values (100, 'by r', 1) returning a;
update joined set b = 'x' where a = 100;
reset role;
revoke select on joined from view_triggers_r;
grant select, update, delete on base to view_triggers_r;
set role view_triggers_r;
insert into joined values (101, 'by r', 1);
update joined set b = 'y';
update joined set b = b || 'y';
delete from joined;
delete from joined where a = 101;
reset role;
select * from base order by a;
drop owned by view_triggers_r;
drop role view_triggers_r;
drop view above, checked;
drop table base cascade;
