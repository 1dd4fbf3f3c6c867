-- The triggers of foreign keys: rows of pg_trigger, ENABLE and DISABLE, and session_replication_role. Other built-in triggers.
create table p (id int primary key, v int default 0);
create table c (id int primary key, p int references p on delete cascade on update cascade, v int);
create table r (id int primary key, p int references p, q int references p on delete restrict on update set null deferrable initially deferred);
create table self (id int primary key, up int references self on delete set null);
create view key_triggers as
 select tgrelid::regclass as rel, regexp_replace(tgname, '\d+$', 'N') as name, tgfoid::regproc as func, tgtype, tgenabled, tgisinternal,
  tgconstrrelid::regclass as other, tgconstrindid::regclass as ind, (select conname from pg_constraint where oid = tgconstraint) as con, tgdeferrable, tginitdeferred, tgnargs, tgattr
 from pg_trigger where tgrelid::regclass::text in ('p', 'c', 'r', 'self');
select * from key_triggers order by 1, 3, 9;
select relname, relhastriggers from pg_class where relname in ('p', 'c', 'r', 'self', 'key_triggers') order by 1;
select regexp_replace(pg_get_triggerdef(oid), '_\d+"', '_N"') from pg_trigger where tgrelid = 'p'::regclass or tgrelid = 'c'::regclass order by 1;
select count(*) from pg_depend where classid = 'pg_trigger'::regclass and deptype = 'i' and refclassid = 'pg_constraint'::regclass and objid in (select oid from pg_trigger where tgrelid = 'r'::regclass or tgrelid = 'p'::regclass);
insert into p values (1), (2), (3);
insert into c values (1, 1, 0), (2, 2, 0);
-- the referencing side
alter table c disable trigger all;
select rel, func, tgenabled from key_triggers where tgenabled <> 'O' order by 1, 2;
insert into c values (3, 99, 0);
update c set p = 98 where id = 3;
delete from p where id = 1;
select * from c order by id;
alter table c enable trigger all;
insert into c values (4, 97, 0);
update c set p = 97 where id = 3;
update c set v = 5 where id = 3;
select * from c order by id;
-- the referenced side
alter table p disable trigger all;
select rel, func, tgenabled, con from key_triggers where tgenabled <> 'O' order by 1, 2, 4;
delete from p where id = 2;
update p set id = 30 where id = 3;
select * from c order by id;
insert into c values (5, 2, 0);
alter table p enable trigger all;
select count(*) from key_triggers where tgenabled <> 'O';
update p set id = 3 where id = 30;
insert into c values (5, 3, 0);
update p set id = 31 where id = 3;
select * from c order by id;
-- user's only
create function say() returns trigger language plpgsql as $$ begin raise notice '% %', tg_name, tg_op; return coalesce(new, old); end $$;
create trigger z after insert or update or delete on c for each row execute function say();
alter table c disable trigger user;
insert into c values (6, 96, 0);
insert into c values (6, 31, 0);
alter table c disable trigger all;
alter table c enable trigger user;
insert into c values (7, 96, 0);
alter table c enable trigger all;
delete from c where p = 96;
-- deferred
begin;
insert into r values (1, 31, 77);
alter table r disable trigger all;
commit;
begin;
insert into r values (1, 31, 77);
commit;
alter table r disable trigger all;
begin;
insert into r values (1, 31, 77);
alter table r enable trigger all;
commit;
select * from r;
delete from r;
-- a table that refers to itself
insert into self values (1, null), (2, 1);
alter table self disable trigger all;
insert into self values (3, 9);
delete from self where id = 1;
select * from self order by id;
alter table self enable trigger all;
-- a replica
set session_replication_role = replica;
insert into c values (8, 95, 0);
delete from p where id = 31;
select * from c order by id;
copy c from stdin;
9	94	0
\.
set session_replication_role = local;
insert into c values (10, 95, 0);
reset session_replication_role;
insert into c values (10, 95, 0);
select * from c order by id;
-- always, replica, by name
do $$
declare t record;
begin
  for t in select tgname, tgfoid::regproc::text as func from pg_trigger where tgrelid = 'c'::regclass and tgisinternal order by 2 loop
    if t.func like '%ins%' then execute format('alter table c enable always trigger %I', t.tgname);
    else execute format('alter table c enable replica trigger %I', t.tgname); end if;
  end loop;
end $$;
select rel, func, tgenabled from key_triggers where tgenabled <> 'O' order by 1, 2;
update c set p = 93 where id = 9;
insert into c values (11, 93, 0);
set session_replication_role = replica;
update c set p = 92 where id = 9;
insert into c values (11, 93, 0);
reset session_replication_role;
alter table c enable trigger all;
alter table c disable trigger nope;
-- rights
create role key_triggers_r;
grant all on schema public to key_triggers_r;
alter table c owner to key_triggers_r;
set role key_triggers_r;
do $$
begin
  alter table c disable trigger all;
exception when insufficient_privilege then raise notice '% %', sqlstate, regexp_replace(sqlerrm, '\d+', 'N');
end $$;
alter table c disable trigger user;
alter table c enable trigger z;
alter table p disable trigger all;
set session_replication_role = replica;
reset role;
alter table c owner to current_user;
drop owned by key_triggers_r;
drop role key_triggers_r;
-- a key that goes takes its triggers along
alter table p disable trigger all;
alter table c drop constraint c_p_fkey;
select rel, func, tgenabled from key_triggers order by 1, 2;
drop table r;
select rel, func, tgenabled from key_triggers order by 1, 2;
-- suppress_redundant_updates_trigger
create table s (a int primary key, b text, f float8, n numeric, g int generated always as (a * 2) stored);
insert into s values (1, 'x', 0, 1.0), (2, null, '-0', 1.00);
create trigger z_min before update on s for each row execute function suppress_redundant_updates_trigger();
create trigger after_s after update on s for each row execute function say();
select pg_get_triggerdef(oid) from pg_trigger where tgname = 'z_min';
update s set b = b;
update s set b = 'x' returning a;
update s set n = 1.00;
update s set f = 0 where a = 2;
update s set f = 0, n = n, b = b;
update s set a = a + 10 where a = 1 returning *;
create trigger bad before insert on s for each row execute function suppress_redundant_updates_trigger();
insert into s values (5);
drop trigger bad on s;
create trigger bad after update on s for each row execute function suppress_redundant_updates_trigger();
update s set b = 'q' where a = 2;
drop trigger bad on s;
create trigger bad before update on s for each statement execute function suppress_redundant_updates_trigger();
update s set b = 'q' where a = 2;
drop trigger bad on s;
-- copy of no rows is a statement, too
create function say_statement() returns trigger language plpgsql as $$ begin raise notice '% % %', tg_name, tg_when, tg_op; return null; end $$;
create trigger b1 before insert on s for each statement execute function say_statement();
create trigger a1 after insert on s for each statement execute function say_statement();
create function say_new() returns trigger language plpgsql as $$ begin raise notice 'new %', (select count(*) from n); return null; end $$;
create trigger a2 after insert on s referencing new table as n for each statement execute function say_new();
copy s (a, b) from stdin;
\.
copy s (a, b) from stdin;
30	x
31	y
\.
copy s (a, b) from stdin where a > 100;
40	x
\.
