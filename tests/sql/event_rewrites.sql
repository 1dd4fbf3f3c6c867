-- Event triggers of table_rewrite fire before a table is rewritten, and can forbid it.
create table t (a integer, b text);
insert into t values (1, 'x'), (2, 'y');
create function about() returns event_trigger language plpgsql as $$
begin
  raise notice '% % % %', tg_event, tg_tag, pg_event_trigger_table_rewrite_oid()::regclass, pg_event_trigger_table_rewrite_reason();
end $$;
create event trigger rewrites on table_rewrite execute function about();
alter table t alter a type bigint;
alter table t add c integer default 5;
alter table t add d float default random() * 0;
alter table t add e integer generated always as (a + 1) stored, alter a type numeric using a + 0.5;
select * from t order by b;
alter table t alter b type varchar(30) using b || '!', drop column d;
select * from t order by b;
begin;
alter table t alter c type text;
rollback;
select c + 1 from t order by 1;
create function no_rewrite() returns event_trigger language plpgsql as $$ begin raise exception 'rewrites not allowed'; end $$;
create event trigger forbids on table_rewrite when tag in ('ALTER TABLE') execute function no_rewrite();
alter table t alter c type text;
select c + 1 from t order by 1;
alter table t add f integer;
drop event trigger forbids;
create function late() returns event_trigger language plpgsql as $$ begin perform pg_event_trigger_table_rewrite_oid(); end $$;
create event trigger late on ddl_command_end execute function late();
create table never (a integer);
drop event trigger late, rewrites;
alter table t alter c type text;
