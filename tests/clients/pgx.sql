-- What pgx sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: pgx/type int2 cache_statement
create temp table gt(v int2);

-- extended: pgx/type int2 cache_statement
select $1::int2;

-- extended: pgx/type int2 cache_statement
insert into gt values($1);

-- simple: pgx/type int2 cache_statement
select v from gt;

-- simple: pgx/type int4 cache_statement
create temp table gt(v int4);

-- simple: pgx/type int8 cache_statement
create temp table gt(v int8);

-- simple: pgx/type float8 cache_statement
create temp table gt(v float8);

-- simple: pgx/type float4 cache_statement
create temp table gt(v float4);

-- simple: pgx/type bool cache_statement
create temp table gt(v bool);

-- simple: pgx/type text cache_statement
create temp table gt(v text);

-- simple: pgx/type varchar(20) cache_statement
create temp table gt(v varchar(20));

-- simple: pgx/type bytea cache_statement
create temp table gt(v bytea);

-- simple: pgx/type date cache_statement
create temp table gt(v date);

-- simple: pgx/type timestamp cache_statement
create temp table gt(v timestamp);

-- simple: pgx/type uuid cache_statement
create temp table gt(v uuid);

-- simple: pgx/type numeric(12,2) cache_statement
create temp table gt(v numeric(12,2));

-- simple: pgx/type interval cache_statement
create temp table gt(v interval);

-- simple: pgx/type inet cache_statement
create temp table gt(v inet);

-- simple: pgx/type int4[] cache_statement
create temp table gt(v int4[]);

-- simple: pgx/type text[] cache_statement
create temp table gt(v text[]);

-- simple: pgx/type jsonb cache_statement
create temp table gt(v jsonb);

-- simple: pgx/type int4range cache_statement
create temp table gt(v int4range);

-- simple: pgx/type point cache_statement
create temp table gt(v point);

-- simple: pgx/type time cache_statement
create temp table gt(v time);

-- extended: pgx/connect runtime params, errors 28P01 3D000, sslmode
show application_name;

-- simple: pgx/batch, error in batch, pipeline mode
create temp table b(a int primary key);

-- extended: pgx/batch, error in batch, pipeline mode
insert into b values($1);

-- extended: pgx/batch, error in batch, pipeline mode
select count(*) from b;

-- extended: pgx/batch, error in batch, pipeline mode
select 1/0;

-- simple: pgx/CopyFrom binary, CopyTo, error
create temp table cp(a int,b text,n numeric,t timestamptz);

-- extended: pgx/CopyFrom binary, CopyTo, error
select "a", "b", "n", "t" from "cp";

-- simple: pgx/CopyFrom binary, CopyTo, error
copy "cp" ( "a", "b", "n", "t" ) from stdin binary;

-- simple: pgx/CopyFrom binary, CopyTo, error
copy (select a,n from cp order by a limit 2) to stdout csv;

-- simple: pgx/CopyFrom binary, CopyTo, error
copy cp(a,b) from stdin;

-- simple: pgx/transactions, savepoints, isolation, read only, error fields, context cancel
create temp table t(a int constraint gt_u unique);

-- simple: pgx/transactions, savepoints, isolation, read only, error fields, context cancel
begin isolation level serializable;

-- simple: pgx/transactions, savepoints, isolation, read only, error fields, context cancel
insert into t values(1);

-- simple: pgx/transactions, savepoints, isolation, read only, error fields, context cancel
savepoint sp_1;

-- simple: pgx/transactions, savepoints, isolation, read only, error fields, context cancel
rollback to savepoint sp_1;

-- simple: pgx/transactions, savepoints, isolation, read only, error fields, context cancel
commit;

-- extended: pgx/transactions, savepoints, isolation, read only, error fields, context cancel
select count(*) from t;

-- simple: pgx/transactions, savepoints, isolation, read only, error fields, context cancel
begin isolation level serializable read only deferrable;

-- simple: pgx/transactions, savepoints, isolation, read only, error fields, context cancel
create table gro(a int);

-- simple: pgx/transactions, savepoints, isolation, read only, error fields, context cancel
rollback;

-- simple: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
listen gch;

-- simple: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
notify gch,'x';

-- simple: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
drop table if exists nope_g;

-- simple: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
drop type if exists g_c,g_e,g_d,g_r cascade; create type g_e as enum('a','b'); create domain g_d as int; create type g_c as (x int, e g_e); create type g_r as range(subtype=float8);

-- extended: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
select $1::text::regtype::oid;

-- extended: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
select typtype::text, typbasetype from pg_type where oid=$1;

-- extended: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
select typrelid from pg_type where oid=$1;

-- extended: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
select attname, atttypid
from pg_attribute
where attrelid=$1
	and not attisdropped
	and attnum > 0
order by attnum;

-- extended: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
select rngsubtype from pg_range where rngtypid=$1;

-- extended: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
select typelem from pg_type where oid=$1;

-- extended: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
select array['a','b']::g_e[];

-- simple: pgx/LISTEN NOTIFY, notices, LoadType of enum, domain, composite, range
drop type g_c,g_e,g_d,g_r;

-- simple: pgx/pool 50 goroutines, prepared statement survives DDL by other session, 4 MB values
drop table if exists g_ddl; create table g_ddl(a int); insert into g_ddl values(1);

-- extended: pgx/pool 50 goroutines, prepared statement survives DDL by other session, 4 MB values
select a from g_ddl;

-- simple: pgx/pool 50 goroutines, prepared statement survives DDL by other session, 4 MB values
alter table g_ddl add b int;

-- simple: pgx/pool 50 goroutines, prepared statement survives DDL by other session, 4 MB values
drop table g_ddl;

-- extended: pgx/database-sql stdlib, named args, CollectRows by name, large objects
select $1::int+1;

-- simple: pgx/database-sql stdlib, named args, CollectRows by name, large objects
-- ping;

-- extended: pgx/database-sql stdlib, named args, CollectRows by name, large objects
select g from generate_series(1,$1::int) g;

-- simple: pgx/database-sql stdlib, named args, CollectRows by name, large objects
begin;

-- extended: pgx/database-sql stdlib, named args, CollectRows by name, large objects
select lo_create($1);

-- extended: pgx/database-sql stdlib, named args, CollectRows by name, large objects
select lo_open($1, $2);

-- extended: pgx/database-sql stdlib, named args, CollectRows by name, large objects
select lowrite($1, $2);

-- extended: pgx/database-sql stdlib, named args, CollectRows by name, large objects
select lo_unlink($1);
