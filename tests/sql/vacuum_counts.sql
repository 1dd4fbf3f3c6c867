-- VACUUM counts the rows of a table, as ANALYZE does; what is known of its columns stays.
create table counted (id int primary key, v text);
insert into counted select g, 'x' from generate_series(1, 400) g;
select reltuples from pg_class where relname = 'counted';
vacuum counted;
select relname, reltuples from pg_class where relname = 'counted';
select count(*) from pg_stats where tablename = 'counted';
analyze counted;
delete from counted where id > 100;
vacuum counted;
select relname, reltuples from pg_class where relname like 'counted%' order by 1;
select attname, n_distinct from pg_stats where tablename = 'counted' order by 1;
insert into counted select g, 'y' from generate_series(1001, 1050) g;
vacuum full counted;
select relname, reltuples from pg_class where relname like 'counted%' order by 1;
create temporary table counted_here as select g from generate_series(1, 30) g;
vacuum counted_here;
select reltuples from pg_class where relname = 'counted_here';
drop table counted;
