-- CREATE INDEX CONCURRENTLY: what it makes, refuses, and leaves behind where it fails.
create table t (a int primary key, b int, c text);
insert into t select g, g % 10, 'x' || g from generate_series(1, 1000) g;
create index concurrently t_b on t (b);
create index concurrently on t (lower(c)) include (b) where b > 3;
create index concurrently on t ((a + b), c desc nulls last);
create unique index concurrently t_ac on t (a, c);
create index concurrently if not exists t_b on t (c);
create index concurrently t_b on t (c);
select indexrelid::regclass, indisunique, indisvalid, indisready, indislive, pg_get_indexdef(indexrelid) from pg_index where indrelid = 't'::regclass order by 1;
select count(*) from t where b = 4;
select a from t where lower(c) = 'x77' and b > 3;
select a from t where a + b = 100 order by a;
insert into t values (1000, 1, 'again');
insert into t values (1001, 4, 'X1001');
update t set c = 'X77', b = 9 where a = 78;
delete from t where a = 77;
select a from t where lower(c) = 'x77' and b > 3;
select count(*) from t where b = 4;
-- A unique violation leaves an index that nobody reads or writes.
create unique index concurrently t_u on t (b) where a in (4, 14, 2000);
select indexrelid::regclass, indisvalid, indisready from pg_index where indrelid = 't'::regclass and not indisvalid;
insert into t values (2000, 4, 'four');
select count(*) from t where b = 4;
insert into t values (2000, 4, 'four') on conflict (b) do nothing;
create unique index concurrently if not exists t_u on t (b) where a in (4, 14, 2000);
create unique index concurrently t_u on t (b) where a in (4, 14, 2000);
truncate t;
select indisvalid, indisready from pg_index where indexrelid = 't_u'::regclass;
insert into t values (1, 1, 'a'), (2, 1, 'b');
drop index t_u;
create index concurrently t_div on t ((1 / (b - 1)));
select indisvalid from pg_index where indexrelid = 't_div'::regclass;
insert into t values (3, 1, 'c');
drop index t_div;
alter table t add unique using index t_ac;
-- Where it is not for.
begin;
create index concurrently on t (c);
rollback;
create view v as select * from t;
create index concurrently on v (a);
create index concurrently on nothing (a);
create index concurrently on t (nothing);
create index concurrently on pg_class (relname);
-- Of a temporary table, which nobody else writes.
create temporary table tt (a int);
insert into tt values (1), (2);
create unique index concurrently tt_a on tt (a);
select indisvalid from pg_index where indexrelid = 'tt_a'::regclass;
begin;
create index concurrently on tt (a);
rollback;
-- Of a materialized view.
create materialized view m as select a, b from t;
create unique index concurrently m_a on m (a);
refresh materialized view concurrently m;
select * from m where a = 2;
select indexrelid::regclass, indisvalid from pg_index where indrelid = 'm'::regclass;
