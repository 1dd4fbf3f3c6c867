-- What node-postgres sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: pg/connect, processID, parameterStatus, application_name
show application_name;

-- simple: pg/connect, processID, parameterStatus, application_name
show statement_timeout;

-- simple: pg/type int4  parameter, stored, named statement, binary mode
create temp table nt(v int4);

-- extended: pg/type int4  parameter, stored, named statement, binary mode
insert into nt values($1);

-- extended: pg/type int4  parameter, stored, named statement, binary mode
select v, $1::int4 as p from nt;

-- simple: pg/type int8  parameter, stored, named statement, binary mode
create temp table nt(v int8);

-- simple: pg/type numeric  parameter, stored, named statement, binary mode
create temp table nt(v numeric);

-- simple: pg/type float8  parameter, stored, named statement, binary mode
create temp table nt(v float8);

-- simple: pg/type bool  parameter, stored, named statement, binary mode
create temp table nt(v bool);

-- simple: pg/type text  parameter, stored, named statement, binary mode
create temp table nt(v text);

-- simple: pg/type bytea  parameter, stored, named statement, binary mode
create temp table nt(v bytea);

-- simple: pg/type json  parameter, stored, named statement, binary mode
create temp table nt(v json);

-- simple: pg/type jsonb  parameter, stored, named statement, binary mode
create temp table nt(v jsonb);

-- simple: pg/type timestamptz  parameter, stored, named statement, binary mode
create temp table nt(v timestamptz);

-- simple: pg/type uuid  parameter, stored, named statement, binary mode
create temp table nt(v uuid);

-- simple: pg/type int4[]  parameter, stored, named statement, binary mode
create temp table nt(v int4[]);

-- simple: pg/type text[]  parameter, stored, named statement, binary mode
create temp table nt(v text[]);

-- simple: pg/type float8[]  parameter, stored, named statement, binary mode
create temp table nt(v float8[]);

-- simple: pg/type bool[]  parameter, stored, named statement, binary mode
create temp table nt(v bool[]);

-- simple: pg/type interval  parameter, stored, named statement, binary mode
create temp table nt(v interval);

-- simple: pg/type point  parameter, stored, named statement, binary mode
create temp table nt(v point);

-- simple: pg/type date  parameter, stored, named statement, binary mode
create temp table nt(v date);

-- simple: pg/type inet  parameter, stored, named statement, binary mode
create temp table nt(v inet);

-- simple: pg/simple multi-statement, rowCount, command, fields
select 1 as a; create temp table m(a int); insert into m values(1),(2);

-- simple: pg/simple multi-statement, rowCount, command, fields
select 1::int8 as x, 'a'::varchar(5) as y;

-- extended: pg/rowMode array, 100 queued queries, error keeps the session
select * from nope_n where a=$1;

-- extended: pg/rowMode array, 100 queued queries, error keeps the session
select 1/$1::int;

-- simple: pg/transaction, 25P02, savepoint, constraint fields
create temp table t(a int constraint nt_u unique);

-- simple: pg/transaction, 25P02, savepoint, constraint fields
begin;

-- simple: pg/transaction, 25P02, savepoint, constraint fields
insert into t values(1);

-- simple: pg/transaction, 25P02, savepoint, constraint fields
savepoint s;

-- simple: pg/transaction, 25P02, savepoint, constraint fields
rollback to s;

-- simple: pg/transaction, 25P02, savepoint, constraint fields
commit;

-- simple: pg/transaction, 25P02, savepoint, constraint fields
select count(*)::int n from t;

-- extended: pg/cursor and query stream (portal, max rows)
select g from generate_series(1,$1::int) g;

-- simple: pg/COPY in and out by streams
create temp table cp(a int,b text);

-- simple: pg/COPY in and out by streams
copy cp from stdin;

-- simple: pg/COPY in and out by streams
copy cp to stdout csv;

-- simple: pg/LISTEN NOTIFY, notices
listen njs;

-- simple: pg/LISTEN NOTIFY, notices
notify njs,'x';

-- simple: pg/LISTEN NOTIFY, notices
drop table if exists nope_q;
