-- What asyncpg sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: type/int2
create temp table ap(v int2);

-- extended: type/int2
select $1::int2;

-- extended: type/int2
insert into ap values($1);

-- extended: type/int2
select v from ap;

-- simple: type/int4
create temp table ap(v int4);

-- simple: type/int8
create temp table ap(v int8);

-- simple: type/float4
create temp table ap(v float4);

-- simple: type/float8
create temp table ap(v float8);

-- simple: type/numeric
create temp table ap(v numeric);

-- simple: type/bool
create temp table ap(v bool);

-- simple: type/text
create temp table ap(v text);

-- simple: type/varchar(10)
create temp table ap(v varchar(10));

-- simple: type/char(3)
create temp table ap(v char(3));

-- simple: type/bytea
create temp table ap(v bytea);

-- simple: type/date
create temp table ap(v date);

-- simple: type/time
create temp table ap(v time);

-- simple: type/timetz
create temp table ap(v timetz);

-- simple: type/timestamp
create temp table ap(v timestamp);

-- simple: type/timestamptz
create temp table ap(v timestamptz);

-- simple: type/interval
create temp table ap(v interval);

-- simple: type/uuid
create temp table ap(v uuid);

-- simple: type/json
create temp table ap(v json);

-- simple: type/jsonb
create temp table ap(v jsonb);

-- simple: type/inet
create temp table ap(v inet);

-- simple: type/cidr
create temp table ap(v cidr);

-- simple: type/macaddr
create temp table ap(v macaddr);

-- simple: type/point
create temp table ap(v point);

-- simple: type/box
create temp table ap(v box);

-- simple: type/int4range
create temp table ap(v int4range);

-- extended: type/int4range
SELECT
                        current_setting('jit') AS cur,
                        set_config('jit', 'off', false) AS new;

-- extended: type/int4range
SELECT
                    set_config('jit', $1, false);

-- simple: type/int4[]
create temp table ap(v int4[]);

-- simple: type/text[]
create temp table ap(v text[]);

-- simple: type/numeric[]
create temp table ap(v numeric[]);

-- simple: type/bit(5)
create temp table ap(v bit(5));

-- simple: type/money
create temp table ap(v money);

-- simple: type/oid
create temp table ap(v oid);

-- simple: type/name
create temp table ap(v name);

-- simple: type/tsvector
create temp table ap(v tsvector);

-- simple: type/xml
create temp table ap(v xml);

-- simple: type/int4multirange
create temp table ap(v int4multirange);

-- simple: type/"char"
create temp table ap(v "char");

-- simple: introspection/enum, domain, composite, array of composite, nested, range over domain
drop schema if exists apg cascade; create schema apg; create type apg.e as enum('a','b'); create domain apg.d as numeric(5,1) check(value>0); create type apg.c as (x int, y apg.e, z apg.d[]); create table apg.t(id int, e apg.e, ea apg.e[], d apg.d, c apg.c, ca apg.c[]);

-- extended: introspection/enum, domain, composite, array of composite, nested, range over domain
insert into apg.t values($1,$2,$3,$4,$5,$6);

-- extended: introspection/enum, domain, composite, array of composite, nested, range over domain
select * from apg.t;

-- extended: introspection/enum, domain, composite, array of composite, nested, range over domain
select row(1,'x'::text);

-- simple: introspection/enum, domain, composite, array of composite, nested, range over domain
drop schema apg cascade;

-- simple: stmt/prepare, get_attributes, get_parameters, explain, statement cache across DDL
drop table if exists apg_t; create table apg_t(a int, b varchar(5));

-- extended: stmt/prepare, get_attributes, get_parameters, explain, statement cache across DDL
select a,b from apg_t where a=$1 and b=$2;

-- simple: stmt/prepare, get_attributes, get_parameters, explain, statement cache across DDL
insert into apg_t values(1,'x');

-- extended: stmt/prepare, get_attributes, get_parameters, explain, statement cache across DDL
select * from apg_t;

-- simple: stmt/prepare, get_attributes, get_parameters, explain, statement cache across DDL
alter table apg_t add column z int;

-- simple: stmt/prepare, get_attributes, get_parameters, explain, statement cache across DDL
drop table apg_t;

-- simple: cursor/iteration with prefetch, explicit fetch, forward
BEGIN;

-- extended: cursor/iteration with prefetch, explicit fetch, forward
select g from generate_series(1,$1::int) g;

-- extended: cursor/iteration with prefetch, explicit fetch, forward
select generate_series(1,10);

-- simple: cursor/iteration with prefetch, explicit fetch, forward
MOVE FORWARD 2 __asyncpg_portal_8a__;

-- simple: cursor/iteration with prefetch, explicit fetch, forward
COMMIT;

-- simple: txn/nested, isolation, readonly, error recovery
create temp table t(a int primary key);

-- simple: txn/nested, isolation, readonly, error recovery
SAVEPOINT __asyncpg_savepoint_8b__;

-- simple: txn/nested, isolation, readonly, error recovery
ROLLBACK TO __asyncpg_savepoint_8b__;

-- extended: txn/nested, isolation, readonly, error recovery
select count(*) from t;

-- simple: txn/nested, isolation, readonly, error recovery
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;

-- extended: txn/nested, isolation, readonly, error recovery
show transaction_isolation;

-- simple: txn/nested, isolation, readonly, error recovery
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- simple: copy/records binary, to_table csv, from_query, copy_to_table big
create temp table cp(a int,b text,n numeric);

-- extended: copy/records binary, to_table csv, from_query, copy_to_table big
SELECT * FROM "cp" LIMIT 1;

-- simple: copy/records binary, to_table csv, from_query, copy_to_table big
COPY "cp" FROM STDIN (FORMAT binary);

-- extended: copy/records binary, to_table csv, from_query, copy_to_table big
select a,b from cp where a<$1 order by a;

-- extended: copy/records binary, to_table csv, from_query, copy_to_table big
SELECT quote_literal($1::"pg_catalog"."int4"::text);

-- simple: copy/records binary, to_table csv, from_query, copy_to_table big
COPY (select a,b from cp where a<'2' order by a) TO STDOUT (FORMAT 'csv');

-- simple: copy/records binary, to_table csv, from_query, copy_to_table big
COPY "cp" TO STDOUT (FORMAT 'binary');

-- extended: copy/records binary, to_table csv, from_query, copy_to_table big
select count(*) from cp;

-- simple: copy/records binary, to_table csv, from_query, copy_to_table big
COPY "cp" FROM STDIN (FORMAT 'csv');

-- simple: executemany/2000 rows in one pipeline
create temp table em(a int primary key,b text);

-- extended: executemany/2000 rows in one pipeline
insert into em values($1,$2);

-- extended: executemany/2000 rows in one pipeline
select count(*) from em;

-- extended: executemany/2000 rows in one pipeline
insert into em values($1,$2) returning a;

-- extended: notify/listener, log listener
LISTEN "apch";

-- simple: notify/listener, log listener
notify apch,'x';

-- simple: notify/listener, log listener
drop table if exists apnope;

-- simple: notify/listener, log listener
SELECT pg_advisory_unlock_all();
CLOSE ALL;
UNLISTEN *;
RESET ALL;

-- simple: pool/acquire, reset query (advisory unlock, close all, unlisten, reset all), 20 tasks
set application_name='dirty';

-- extended: pool/acquire, reset query (advisory unlock, close all, unlisten, reset all), 20 tasks
show application_name;

-- extended: errors/SQLSTATE classes
select * from nope_z;

-- extended: errors/SQLSTATE classes
select 1/0;

-- extended: errors/SQLSTATE classes
selec;
