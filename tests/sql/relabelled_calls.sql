-- A call that gets another type without a function is computed as often as it was, also where it has no arguments.
create sequence s;
create function next() returns text language plpgsql as $$ begin return nextval('s')::text; end $$;
prepare twice as select next()::varchar;
execute twice;
execute twice;
select count(distinct next()::varchar) from generate_series(1, 5);
select count(distinct timeofday()::varchar) > 1 from generate_series(1, 20000);
create table t (at varchar default timeofday(), n int);
insert into t (n) select n from generate_series(1, 20000) n;
select count(distinct at) > 1 from t;
-- What is stable is computed anew when it is asked again.
prepare mine as select current_query()::varchar = current_query();
execute mine;
select current_query()::varchar;
create function rewritten() returns event_trigger language plpgsql as $$ begin raise notice 'rewrites %', pg_event_trigger_table_rewrite_oid()::regclass; end $$;
create event trigger on_rewrite on table_rewrite execute function rewritten();
create table a (x int);
create table b (x int);
insert into a values (1);
insert into b values (1);
alter table a add y float8 default random();
alter table b add y float8 default random();
drop event trigger on_rewrite;
