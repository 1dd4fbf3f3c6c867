-- What sqlx sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: sqlx/connect, query_as, bind every type, fetch stream, execute counts
drop table if exists sx_t; create table sx_t(id bigserial primary key, n varchar(20) not null unique, d numeric(12,2), t text[], j jsonb, at timestamptz default now(), b bytea, u uuid);

-- extended: sqlx/connect, query_as, bind every type, fetch stream, execute counts
insert into sx_t(n,d,t,j,b,u) values($1,$2,$3,$4,$5,$6);

-- extended: sqlx/connect, query_as, bind every type, fetch stream, execute counts
select id,n,d,t from sx_t where n=$1;

-- extended: sqlx/connect, query_as, bind every type, fetch stream, execute counts
select * from sx_t;

-- extended: sqlx/connect, query_as, bind every type, fetch stream, execute counts
insert into sx_t(n) values('n1');

-- simple: sqlx/connect, query_as, bind every type, fetch stream, execute counts
BEGIN;

-- extended: sqlx/connect, query_as, bind every type, fetch stream, execute counts
delete from sx_t;

-- simple: sqlx/connect, query_as, bind every type, fetch stream, execute counts
SAVEPOINT _sqlx_savepoint_1;

-- simple: sqlx/connect, query_as, bind every type, fetch stream, execute counts
ROLLBACK TO SAVEPOINT _sqlx_savepoint_1;

-- simple: sqlx/connect, query_as, bind every type, fetch stream, execute counts
ROLLBACK;

-- extended: sqlx/connect, query_as, bind every type, fetch stream, execute counts
select count(*) from sx_t;

-- extended: sqlx/describe as done by query! at compile time: parameter types, column types, nullability
select a.id, a.n, b.n as bn, count(*) as c, a.d + $1 as s from sx_t a left join sx_t b on a.id = b.id + 1 where a.n = $2 and a.id = any($3) group by 1,2,3,5;

-- extended: sqlx/describe as done by query! at compile time: parameter types, column types, nullability
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) UNION ALL ( SELECT $4::int4, $5::int4, $6::int2 ) UNION ALL ( SELECT $7::int4, $8::int4, $9::int2 ) UNION ALL ( SELECT $10::int4, $11::int4, $12::int2 ) UNION ALL ( SELECT $13::int4, $14::int4, $15::int2 ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx;

-- extended: sqlx/describe as done by query! at compile time: parameter types, column types, nullability
EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE sqlx_s_1(NULL, NULL, NULL);

-- extended: sqlx/describe as done by query! at compile time: parameter types, column types, nullability
select a.id, a.d, b.id as bid from sx_t a left join sx_t b on a.id = b.id + 1;

-- extended: sqlx/describe as done by query! at compile time: parameter types, column types, nullability
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) UNION ALL ( SELECT $4::int4, $5::int4, $6::int2 ) UNION ALL ( SELECT $7::int4, $8::int4, $9::int2 ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx;

-- simple: sqlx/migrate, custom enum, listener, copy, advisory lock
drop table if exists _sqlx_migrations, sx_m;

-- extended: sqlx/migrate, custom enum, listener, copy, advisory lock
SELECT current_database();

-- extended: sqlx/migrate, custom enum, listener, copy, advisory lock
SELECT pg_advisory_lock($1);

-- simple: sqlx/migrate, custom enum, listener, copy, advisory lock
CREATE TABLE IF NOT EXISTS _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMPTZ NOT NULL DEFAULT now(),
    success BOOLEAN NOT NULL,
    checksum BYTEA NOT NULL,
    execution_time BIGINT NOT NULL
);

-- extended: sqlx/migrate, custom enum, listener, copy, advisory lock
SELECT version FROM _sqlx_migrations WHERE success = false ORDER BY version LIMIT 1;

-- extended: sqlx/migrate, custom enum, listener, copy, advisory lock
SELECT version, checksum FROM _sqlx_migrations ORDER BY version;

-- simple: sqlx/migrate, custom enum, listener, copy, advisory lock
create table sx_m(a int); insert into sx_m values(1);

-- extended: sqlx/migrate, custom enum, listener, copy, advisory lock
INSERT INTO _sqlx_migrations ( version, description, success, checksum, execution_time )
    VALUES ( $1, $2, TRUE, $3, -1 );

-- simple: sqlx/migrate, custom enum, listener, copy, advisory lock
COMMIT;

-- extended: sqlx/migrate, custom enum, listener, copy, advisory lock
UPDATE _sqlx_migrations
    SET execution_time = $1
    WHERE version = $2;

-- simple: sqlx/migrate, custom enum, listener, copy, advisory lock
alter table sx_m add b int default 2;

-- extended: sqlx/migrate, custom enum, listener, copy, advisory lock
SELECT pg_advisory_unlock($1);

-- extended: sqlx/migrate, custom enum, listener, copy, advisory lock
select b from sx_m;

-- simple: sqlx/migrate, custom enum, listener, copy, advisory lock
copy sx_m from stdin;

-- simple: sqlx/migrate, custom enum, listener, copy, advisory lock
LISTEN "sxch";

-- extended: sqlx/migrate, custom enum, listener, copy, advisory lock
select pg_notify('sxch','q');

-- simple: sqlx/migrate, custom enum, listener, copy, advisory lock
drop table _sqlx_migrations, sx_m, sx_t;

-- simple: sqlx/migrate, custom enum, listener, copy, advisory lock
UNLISTEN *;

-- extended: sqlx/describe as done by query! at compile time: parameter types, column types, nullability
select id, d from sx_t where id = $1;

-- extended: sqlx/describe as done by query! at compile time: parameter types, column types, nullability
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) UNION ALL ( SELECT $4::int4, $5::int4, $6::int2 ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx;

-- extended: sqlx/describe as done by query! at compile time: parameter types, column types, nullability
select count(*) > 0 from pg_catalog.pg_attribute where attrelid = 'sx_t'::regclass and attnotnull;
