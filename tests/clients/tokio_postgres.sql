-- What tokio-postgres sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: tokio-postgres/type int2 binary, array, null
create temp table rt(v int2);

-- extended: tokio-postgres/type int2 binary, array, null
select $1::int2;

-- extended: tokio-postgres/type int2 binary, array, null
insert into rt values($1);

-- extended: tokio-postgres/type int2 binary, array, null
select v from rt;

-- extended: tokio-postgres/type int2 binary, array, null
select array_agg(v) from rt;

-- simple: tokio-postgres/type int4 binary, array, null
create temp table rt(v int4);

-- simple: tokio-postgres/type int8 binary, array, null
create temp table rt(v int8);

-- simple: tokio-postgres/type float4 binary, array, null
create temp table rt(v float4);

-- simple: tokio-postgres/type float8 binary, array, null
create temp table rt(v float8);

-- simple: tokio-postgres/type bool binary, array, null
create temp table rt(v bool);

-- simple: tokio-postgres/type text binary, array, null
create temp table rt(v text);

-- simple: tokio-postgres/type varchar(10) binary, array, null
create temp table rt(v varchar(10));

-- simple: tokio-postgres/type bytea binary, array, null
create temp table rt(v bytea);

-- simple: tokio-postgres/type uuid binary, array, null
create temp table rt(v uuid);

-- simple: tokio-postgres/type jsonb binary, array, null
create temp table rt(v jsonb);

-- simple: tokio-postgres/type json binary, array, null
create temp table rt(v json);

-- simple: tokio-postgres/type date binary, array, null
create temp table rt(v date);

-- simple: tokio-postgres/type timestamp binary, array, null
create temp table rt(v timestamp);

-- simple: tokio-postgres/type timestamptz binary, array, null
create temp table rt(v timestamptz);

-- simple: tokio-postgres/type time binary, array, null
create temp table rt(v time);

-- simple: tokio-postgres/type numeric binary, array, null
create temp table rt(v numeric);

-- simple: tokio-postgres/type inet binary, array, null
create temp table rt(v inet);

-- extended: tokio-postgres/connect errors, config parameters
show statement_timeout;

-- simple: tokio-postgres/prepare: params and columns, custom enum and composite looked up in pg_type
drop type if exists rs_c; drop type if exists rs_e; create type rs_e as enum('a','b'); create type rs_c as (x int, e rs_e);

-- extended: tokio-postgres/prepare: params and columns, custom enum and composite looked up in pg_type
select $1::rs_c as c, array[$2::rs_e] as ea, int4range(1,2) as r, $3::int8 as i;

-- extended: tokio-postgres/prepare: params and columns, custom enum and composite looked up in pg_type
SELECT t.typname, t.typtype, t.typelem, r.rngsubtype, t.typbasetype, n.nspname, t.typrelid
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
INNER JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
WHERE t.oid = $1;

-- extended: tokio-postgres/prepare: params and columns, custom enum and composite looked up in pg_type
SELECT attname, atttypid
FROM pg_catalog.pg_attribute
WHERE attrelid = $1
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum;

-- extended: tokio-postgres/prepare: params and columns, custom enum and composite looked up in pg_type
SELECT enumlabel
FROM pg_catalog.pg_enum
WHERE enumtypid = $1
ORDER BY enumsortorder;

-- simple: tokio-postgres/prepare: params and columns, custom enum and composite looked up in pg_type
drop type rs_c; drop type rs_e;

-- extended: tokio-postgres/pipelined queries on one connection
select 1/$1::int;

-- simple: tokio-postgres/transaction, savepoint, portal, isolation, simple_query
create temp table t(a int constraint rs_u unique);

-- simple: tokio-postgres/transaction, savepoint, portal, isolation, simple_query
START TRANSACTION ISOLATION LEVEL SERIALIZABLE;

-- extended: tokio-postgres/transaction, savepoint, portal, isolation, simple_query
insert into t values(1);

-- simple: tokio-postgres/transaction, savepoint, portal, isolation, simple_query
SAVEPOINT s;

-- simple: tokio-postgres/transaction, savepoint, portal, isolation, simple_query
ROLLBACK TO s;

-- extended: tokio-postgres/transaction, savepoint, portal, isolation, simple_query
select g from generate_series(1,25) g;

-- simple: tokio-postgres/transaction, savepoint, portal, isolation, simple_query
COMMIT;

-- simple: tokio-postgres/transaction, savepoint, portal, isolation, simple_query
select count(*) from t; select 'x';

-- simple: tokio-postgres/COPY text, binary in and out
create temp table cp(a int, b text);

-- extended: tokio-postgres/COPY text, binary in and out
copy cp from stdin;

-- extended: tokio-postgres/COPY text, binary in and out
copy cp from stdin binary;

-- extended: tokio-postgres/COPY text, binary in and out
copy cp to stdout binary;

-- simple: tokio-postgres/LISTEN NOTIFY, notice, cancel token
listen rsch; notify rsch, 'p'; drop table if exists rs_nope;
