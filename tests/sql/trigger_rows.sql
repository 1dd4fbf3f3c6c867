-- Triggers of rows and statements beside foreign keys, ON CONFLICT, MERGE and COPY; what they may not do.
create table log (n serial, what text);
create table p (id int primary key, v int default 0);
create table c (id int primary key, p int references p on delete cascade on update cascade, v int);
create function say() returns trigger language plpgsql as $$
begin
  insert into log (what) values (format('%s %s %s %s old=%s new=%s depth=%s', tg_table_name, tg_when, tg_level, tg_op, old, new, pg_trigger_depth()));
  if tg_op = 'DELETE' then return old; end if;
  return new;
exception when object_not_in_prerequisite_state then
  raise notice 'state';
  return null;
end $$;
create trigger p1 before insert or update or delete on p for each row execute function say();
create trigger p2 after insert or update or delete on p for each row execute function say();
create trigger c1 before insert or update or delete on c for each row execute function say();
create trigger c2 after insert or update or delete on c for each row execute function say();
create trigger c3 before insert or update or delete on c for each statement execute function say();
create trigger c4 after insert or update or delete on c for each statement execute function say();
insert into p values (1), (2);
insert into c values (1, 1, 0), (2, 1, 0), (3, 2, 0);
select what from log order by n; truncate log;
update p set id = id + 10;
select what from log order by n; truncate log;
delete from p;
select what from log order by n; truncate log;
-- on conflict
insert into p values (1, 1);
insert into p values (1, 2) on conflict (id) do update set v = excluded.v;
insert into p values (1, 3) on conflict (id) do nothing;
select what from log order by n; truncate log;
-- merge
merge into p using (values (1, 5), (2, 6), (3, 7)) s(id, v) on p.id = s.id
 when matched then update set v = s.v when not matched and s.id = 2 then insert values (s.id, s.v) when not matched then do nothing;
merge into p using (values (1, 5), (2, 6)) s(id, v) on p.id = s.id when matched and s.id = 2 then delete when matched then do nothing;
select what from log order by n; truncate log;
-- copy
copy c from stdin;
10	1	5
11	1	6
\.
select what from log order by n; truncate log;
-- the row itself
create function touch() returns trigger language plpgsql as $$
begin update p set v = v + 1 where id = old.id; return new; end $$;
create trigger p0 before update on p for each row when (pg_trigger_depth() = 0) execute function touch();
update p set v = 100 where id = 1;
drop trigger p0 on p;
create function touchd() returns trigger language plpgsql as $$
begin update p set v = v + 1 where id = old.id; return old; end $$;
create trigger p0 before delete on p for each row execute function touchd();
delete from p where id = 1;
drop trigger p0 on p;
-- errors with context
create function fails() returns trigger language plpgsql as $$
begin
  perform 1/0;
  return new;
end $$;
create trigger p9 before insert on p for each row execute function fails();
insert into p values (77);
drop trigger p9 on p;
create function noret() returns trigger language plpgsql as $$ begin end $$;
create trigger p9 before insert on p for each row execute function noret();
insert into p values (77);
drop trigger p9 on p;
create function badret() returns trigger language plpgsql as $$ begin return row(1, 'x'::text); end $$;
create trigger p9 before insert on p for each row execute function badret();
insert into p values (77);
create or replace function badret() returns trigger language plpgsql as $$ begin return row(1); end $$;
insert into p values (77);
create or replace function badret() returns trigger language plpgsql as $$ begin return 5; end $$;
insert into p values (77);
create or replace function badret() returns trigger language plpgsql as $$ begin new := old; return new; end $$;
insert into p values (77);
create or replace function badret() returns trigger language plpgsql as $$ begin raise notice '% %', old is null, old.id; select 78, 5 into new; return new; end $$;
insert into p values (77) returning *;
create or replace function badret() returns trigger language plpgsql as $$ begin commit; return new; end $$;
insert into p values (79);
drop trigger p9 on p;
-- ddl on the table
create function ddlf() returns trigger language plpgsql as $$ begin alter table p add column z int; return new; end $$;
create trigger p9 before insert on p for each row execute function ddlf();
insert into p values (80);
create or replace function ddlf() returns trigger language plpgsql as $$ begin drop table p; return new; end $$;
insert into p values (80);
create or replace function ddlf() returns trigger language plpgsql as $$ begin truncate p; return new; end $$;
insert into p values (80);
create or replace function ddlf() returns trigger language plpgsql as $$ begin create index on p (v); return new; end $$;
insert into p values (80);
create or replace function ddlf() returns trigger language plpgsql as $$ begin drop trigger p9 on p; return new; end $$;
insert into p values (81);
drop trigger p9 on p;
-- is distinct from
create table d (id int primary key, a int, b text, n int default 0);
create function bump() returns trigger language plpgsql as $$ begin if new.* is distinct from old.* then new.n := old.n + 1; end if; return new; end $$;
create trigger bump before update on d for each row when (old.* is distinct from new.*) execute function bump();
insert into d values (1, 1, 'x');
update d set a = 1; select * from d;
update d set a = 2; select * from d;
select pg_get_triggerdef(oid) from pg_trigger where tgrelid = 'd'::regclass;
alter table d add column e int;
update d set e = 2; select * from d;
alter table d drop column b;
update d set e = 3; select * from d;
-- columns that triggers name
create trigger named after update of e on d for each row when (new.a > 0) execute function say();
alter table d drop column a;
alter table d drop column e;
alter table d alter column e type bigint;
alter table d alter column a type bigint;
alter table d drop column a cascade;
select tgname from pg_trigger where tgrelid = 'd'::regclass order by 1;
update d set e = 4; select * from d;
-- constraint triggers
create constraint trigger ct after insert or update on d deferrable initially deferred for each row execute function say();
truncate log;
begin;
insert into d (id) values (7);
select count(*) from log;
set constraints ct immediate;
select count(*) from log;
commit;
begin;
insert into d (id) values (8);
savepoint s;
insert into d (id) values (9);
rollback to s;
commit;
select what from log order by n;
select conname, contype, condeferrable, condeferred, conrelid::regclass from pg_constraint where conname = 'ct';
select pg_get_triggerdef(oid) from pg_trigger where tgname = 'ct';
select tgname, tgenabled from pg_trigger where tgrelid = 'd'::regclass order by 1;
alter table d disable trigger ct;
insert into d (id) values (10);
alter table d enable replica trigger ct;
insert into d (id) values (11);
set session_replication_role = replica;
insert into d (id) values (12);
reset session_replication_role;
alter table d enable always trigger ct;
select what from log order by n;
drop function say();
drop function say() cascade;
