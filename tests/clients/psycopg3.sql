-- What psycopg3 sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: type/int2 '5': text and binary, parameter and result
set timezone='UTC';

-- simple: type/int2 '5': text and binary, parameter and result
create temp table p3(i int, v int2);

-- extended: type/int2 '5': text and binary, parameter and result
select $1::int2;

-- extended: type/int2 '5': text and binary, parameter and result
insert into p3 values(1,$1);

-- simple: type/int2 '5': text and binary, parameter and result
select v from p3;

-- simple: type/int4 '5': text and binary, parameter and result
create temp table p3(i int, v int4);

-- simple: type/int8 '-1152921504606846976': text and binary, parameter and result
create temp table p3(i int, v int8);

-- simple: type/float4 '1.5': text and binary, parameter and result
create temp table p3(i int, v float4);

-- simple: type/float8 'inf': text and binary, parameter and result
create temp table p3(i int, v float8);

-- simple: type/numeric '1.10': text and binary, parameter and result
create temp table p3(i int, v numeric);

-- simple: type/text "héllo\n'\\ 你 🎉": text and binary, parameter and result
create temp table p3(i int, v text);

-- simple: type/varchar 'ab': text and binary, parameter and result
create temp table p3(i int, v varchar);

-- simple: type/bool 'True': text and binary, parameter and result
create temp table p3(i int, v bool);

-- simple: type/bytea "b'\\x00\\xff\\\\'": text and binary, parameter and result
create temp table p3(i int, v bytea);

-- simple: type/date '2024-02-29': text and binary, parameter and result
create temp table p3(i int, v date);

-- simple: type/time '01:02:03.000004': text and binary, parameter and result
create temp table p3(i int, v time);

-- simple: type/timestamp '1999-12-31 23:59:59.': text and binary, parameter and result
create temp table p3(i int, v timestamp);

-- simple: type/timestamptz '2020-01-01 00:00:00+': text and binary, parameter and result
create temp table p3(i int, v timestamptz);

-- simple: type/interval '3 days, 0:00:05': text and binary, parameter and result
create temp table p3(i int, v interval);

-- simple: type/int4[] '[1, None, 3]': text and binary, parameter and result
create temp table p3(i int, v int4[]);

-- simple: type/text[] '[\'a,b\', \'"\', None]': text and binary, parameter and result
create temp table p3(i int, v text[]);

-- simple: type/numeric[] "[Decimal('1.5')]": text and binary, parameter and result
create temp table p3(i int, v numeric[]);

-- simple: type/uuid '00000000-0000-0000-0': text and binary, parameter and result
create temp table p3(i int, v uuid);

-- simple: type/jsonb "{'a': [1, None]}": text and binary, parameter and result
create temp table p3(i int, v jsonb);

-- simple: type/json "{'a': 1}": text and binary, parameter and result
create temp table p3(i int, v json);

-- simple: type/inet '10.0.0.1': text and binary, parameter and result
create temp table p3(i int, v inet);

-- simple: type/cidr '10.0.0.0/8': text and binary, parameter and result
create temp table p3(i int, v cidr);

-- simple: type/int4range '[1, 5)': text and binary, parameter and result
create temp table p3(i int, v int4range);

-- simple: prepare/automatic after 5 executions, prepare=True, DEALLOCATE, survives DDL
create temp table pp(a int);

-- simple: prepare/automatic after 5 executions, prepare=True, DEALLOCATE, survives DDL
insert into pp values(1);

-- extended: prepare/automatic after 5 executions, prepare=True, DEALLOCATE, survives DDL
select a from pp where a=$1;

-- simple: prepare/automatic after 5 executions, prepare=True, DEALLOCATE, survives DDL
select count(*) from pg_prepared_statements;

-- simple: prepare/automatic after 5 executions, prepare=True, DEALLOCATE, survives DDL
alter table pp add b int;

-- simple: prepare/automatic after 5 executions, prepare=True, DEALLOCATE, survives DDL
DEALLOCATE ALL;

-- extended: prepare/automatic after 5 executions, prepare=True, DEALLOCATE, survives DDL
select 1 where $1=1;

-- simple: pipeline/mode: many statements, results in order, error aborts to sync, recovery
create temp table pl(a int primary key);

-- extended: pipeline/mode: many statements, results in order, error aborts to sync, recovery
insert into pl values($1) returning a;

-- extended: pipeline/mode: many statements, results in order, error aborts to sync, recovery
insert into pl values(100);

-- simple: pipeline/mode: many statements, results in order, error aborts to sync, recovery
select count(*) from pl;

-- extended: pipeline/mode: many statements, results in order, error aborts to sync, recovery
select 1/0;

-- simple: executemany/pipelined, returning
create temp table em(id serial, a int);

-- extended: executemany/pipelined, returning
insert into em(a) values($1);

-- extended: executemany/pipelined, returning
insert into em(a) values($1) returning id;

-- simple: copy/in rows, text block, binary with set_types, out rows, binary out
create temp table cp(a int,b text,t timestamptz,n numeric);

-- simple: copy/in rows, text block, binary with set_types, out rows, binary out
copy cp from stdin;

-- simple: copy/in rows, text block, binary with set_types, out rows, binary out
copy cp from stdin (format binary);

-- simple: copy/in rows, text block, binary with set_types, out rows, binary out
select count(*),sum(n) from cp;

-- simple: copy/in rows, text block, binary with set_types, out rows, binary out
copy (select a,b,t,n from cp order by n,a limit 2) to stdout;

-- simple: copy/in rows, text block, binary with set_types, out rows, binary out
copy (select a,n from cp where b is null order by a limit 1) to stdout binary;

-- simple: copy/in rows, text block, binary with set_types, out rows, binary out
copy cp(a) from stdin;

-- simple: copy/in rows, text block, binary with set_types, out rows, binary out
select count(*) from cp;

-- simple: cursor/server-side named, stream, scroll, description with type codes
BEGIN;

-- extended: cursor/server-side named, stream, scroll, description with type codes
DECLARE "srv" CURSOR FOR select g from generate_series(1,300) g;

-- simple: cursor/server-side named, stream, scroll, description with type codes
FETCH FORWARD 100 FROM "srv";

-- simple: cursor/server-side named, stream, scroll, description with type codes
CLOSE "srv";

-- extended: cursor/server-side named, stream, scroll, description with type codes
DECLARE "sc" SCROLL CURSOR FOR select g from generate_series(1,10) g;

-- simple: cursor/server-side named, stream, scroll, description with type codes
MOVE 4 FROM "sc";

-- extended: cursor/server-side named, stream, scroll, description with type codes
FETCH FORWARD 1 FROM "sc";

-- simple: cursor/server-side named, stream, scroll, description with type codes
MOVE ABSOLUTE 0 FROM "sc";

-- extended: cursor/server-side named, stream, scroll, description with type codes
select g from generate_series(1,100) g;

-- simple: cursor/server-side named, stream, scroll, description with type codes
COMMIT;

-- simple: txn/nested transactions by savepoints, isolation, read only, diag, tpc
insert into t values(1);

-- simple: txn/nested transactions by savepoints, isolation, read only, diag, tpc
SAVEPOINT "_pg3_2";

-- simple: txn/nested transactions by savepoints, isolation, read only, diag, tpc
ROLLBACK TO "_pg3_2";

-- simple: txn/nested transactions by savepoints, isolation, read only, diag, tpc
RELEASE "_pg3_2";

-- simple: txn/nested transactions by savepoints, isolation, read only, diag, tpc
select a from t order by 1;

-- simple: txn/nested transactions by savepoints, isolation, read only, diag, tpc
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY;

-- simple: txn/nested transactions by savepoints, isolation, read only, diag, tpc
show transaction_isolation;

-- simple: txn/nested transactions by savepoints, isolation, read only, diag, tpc
create table nope_ro(a int);

-- simple: txn/nested transactions by savepoints, isolation, read only, diag, tpc
ROLLBACK;

-- simple: notify/generator and handler
listen p3ch;

-- simple: notify/generator and handler
select pg_notify('p3ch','1');

-- simple: notify/generator and handler
notify p3ch,'2';

-- simple: notify/generator and handler
do $$begin raise notice 'hi %',1; end$$;

-- simple: adapt/enum, composite, custom range and multirange registered from the catalogue
drop type if exists p3_e,p3_c,p3_r cascade; create type p3_e as enum('A','B'); create type p3_c as (a int, e p3_e); create type p3_r as range(subtype=float8);

-- extended: adapt/enum, composite, custom range and multirange registered from the catalogue
SELECT name, oid, array_oid, regtype, array_agg(label) AS labels
FROM (
    SELECT
        t.typname AS name, t.oid AS oid, t.typarray AS array_oid,
        t.oid::regtype::text AS regtype, e.enumlabel AS label
    FROM pg_type t
    LEFT JOIN  pg_enum e
    ON e.enumtypid = t.oid
    WHERE t.oid = to_regtype($1)
    ORDER BY e.enumsortorder
) x
GROUP BY name, oid, array_oid, regtype;

-- extended: adapt/enum, composite, custom range and multirange registered from the catalogue
SELECT
    t.typname AS name, t.oid AS oid, t.typarray AS array_oid,
    t.oid::regtype::text AS regtype,
    coalesce(a.fnames, '{}') AS field_names,
    coalesce(a.ftypes, '{}') AS field_types
FROM pg_type t
LEFT JOIN (
    SELECT
        attrelid,
        array_agg(attname) AS fnames,
        array_agg(atttypid) AS ftypes
    FROM (
        SELECT a.attrelid, a.attname, a.atttypid
        FROM pg_attribute a
        JOIN pg_type t ON t.typrelid = a.attrelid
        WHERE t.oid = to_regtype($1)
        AND a.attnum > 0
        AND NOT a.attisdropped
        ORDER BY a.attnum
    ) x
    GROUP BY attrelid
) a ON a.attrelid = t.typrelid
WHERE t.oid = to_regtype($1);

-- extended: adapt/enum, composite, custom range and multirange registered from the catalogue
SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid,
    t.oid::regtype::text AS regtype,
    r.rngsubtype AS subtype_oid
FROM pg_type t
JOIN pg_range r ON t.oid = r.rngtypid
WHERE t.oid = to_regtype($1);

-- simple: adapt/enum, composite, custom range and multirange registered from the catalogue
select 'B'::p3_e, array['A']::p3_e[];

-- simple: adapt/enum, composite, custom range and multirange registered from the catalogue
select (1,'A')::p3_c;

-- extended: adapt/enum, composite, custom range and multirange registered from the catalogue
SELECT
    typname AS name, oid, typarray AS array_oid,
    oid::regtype::text AS regtype, typdelim AS delimiter
FROM pg_type t
WHERE t.oid = to_regtype($1)
ORDER BY t.oid;

-- simple: adapt/enum, composite, custom range and multirange registered from the catalogue
drop type p3_c,p3_e,p3_r;

-- simple: multi/several statements in one simple query
select 1; select 2;
