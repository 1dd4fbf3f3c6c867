-- What pgjdbc sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: connect/default options, isValid, product version, client info
SET application_name = 'PostgreSQL JDBC Driver';

-- extended: connect/default options, isValid, product version, client info
select current_catalog;

-- extended: connect/default options, isValid, product version, client info
select current_schema();

-- extended: connect/default options, isValid, product version, client info
show application_name;

-- simple: connect/sslmode=disable
select 1;

-- extended: connect/readOnly=true&readOnlyMode=always
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY;

-- simple: connect/targetServerType=primary
show transaction_read_only;

-- extended: connect/HikariCP pool of 5, 200 borrowings from 10 threads
SHOW TRANSACTION ISOLATION LEVEL;

-- extended: connect/HikariCP pool of 5, 200 borrowings from 10 threads
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ;

-- simple: connect/HikariCP pool of 5, 200 borrowings from 10 threads
BEGIN;

-- extended: connect/HikariCP pool of 5, 200 borrowings from 10 threads
select $1::int+1;

-- extended: connect/HikariCP pool of 5, 200 borrowings from 10 threads
COMMIT;

-- extended: type/int2 -7 text and binary, NULL
create temp table jt(i int, v int2);

-- extended: type/int2 -7 text and binary, NULL
insert into jt values($1,$2);

-- extended: type/int2 -7 text and binary, NULL
select v from jt where i=$1;

-- extended: type/int2 -7 text and binary, NULL
select count(*) from jt where v=$1;

-- extended: type/int4 -2147483648 text and binary, NULL
create temp table jt(i int, v int4);

-- extended: type/int8 9223372036854775807 text and binary, NULL
create temp table jt(i int, v int8);

-- extended: type/numeric 12345678901234567890.1230 text and binary, NULL
create temp table jt(i int, v numeric);

-- extended: type/float4 1.5 text and binary, NULL
create temp table jt(i int, v float4);

-- extended: type/float8 4.9E-324 text and binary, NULL
create temp table jt(i int, v float8);

-- extended: type/bool true text and binary, NULL
create temp table jt(i int, v bool);

-- extended: type/text héllo 你好 🎉 text and binary, NULL
create temp table jt(i int, v text);

-- extended: type/varchar(20)  text and binary, NULL
create temp table jt(i int, v varchar(20));

-- extended: type/bpchar(5) ab text and binary, NULL
create temp table jt(i int, v bpchar(5));

-- extended: type/bytea bytes text and binary, NULL
create temp table jt(i int, v bytea);

-- extended: type/date 2024-02-29 text and binary, NULL
create temp table jt(i int, v date);

-- extended: type/time 23:59:59 text and binary, NULL
create temp table jt(i int, v time);

-- extended: type/timestamp 1999-12-31T23:59:59.123456 text and binary, NULL
create temp table jt(i int, v timestamp);

-- extended: type/timestamptz 2024-07-01T12:00+05:00 text and binary, NULL
create temp table jt(i int, v timestamptz);

-- extended: type/uuid a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 text and binary, NULL
create temp table jt(i int, v uuid);

-- extended: type/arrays: int[], text[], 2-d, getArray, createArrayOf, ANY(?)
select $1::int[], $2::text[], $3::int8[], 5=any($4);

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
drop table if exists jdbc_en;

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
drop type if exists jdbc_mood;

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
create type jdbc_mood as enum('a','b');

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
create table jdbc_en(m jdbc_mood, j jsonb, i interval, n inet);

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
SELECT pg_type.oid, typname   FROM pg_catalog.pg_type   LEFT   JOIN (select ns.oid as nspoid, ns.nspname, r.r           from pg_namespace as ns           join ( select s.r, (current_schemas(false))[s.r] as nspname                    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r          using ( nspname )        ) as sp     ON sp.nspoid = typnamespace  WHERE typname = $1  ORDER BY sp.r, pg_type.oid DESC LIMIT 1;

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
insert into jdbc_en values($1,$2,$3,$4);

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
select m,j,i,n from jdbc_en;

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1;

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid   FROM pg_catalog.pg_type   LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r           from pg_namespace as ns           join ( select s.r, (current_schemas(false))[s.r] as nspname                    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r          using ( nspname )        ) as sp     ON sp.nspoid = typnamespace  WHERE pg_type.oid = $1  ORDER BY sp.r, pg_type.oid DESC;

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
drop table jdbc_en;

-- extended: type/json, jsonb, interval, point, inet, enum as PGobject/OTHER
drop type jdbc_mood;

-- extended: type/1 MB text and bytea, text and binary
create temp table big(a text,b bytea);

-- extended: type/1 MB text and bytea, text and binary
insert into big values($1,$2);

-- extended: type/1 MB text and bytea, text and binary
select a,b from big;

-- extended: stmt/executeUpdate counts, executeLargeUpdate, execute with several results
create temp table m(a int);

-- extended: stmt/executeUpdate counts, executeLargeUpdate, execute with several results
insert into m select g from generate_series(1,5) g;

-- extended: stmt/executeUpdate counts, executeLargeUpdate, execute with several results
update m set a=a+1 where a>2;

-- extended: stmt/executeUpdate counts, executeLargeUpdate, execute with several results
delete from m where a=1;

-- extended: stmt/executeUpdate counts, executeLargeUpdate, execute with several results
insert into m values(1);

-- extended: stmt/executeUpdate counts, executeLargeUpdate, execute with several results
update m set a=a;

-- extended: stmt/prepared statement used 20 times moves to a named server statement
drop table if exists jdbc_ddl;

-- extended: stmt/prepared statement used 20 times moves to a named server statement
create table jdbc_ddl(a int);

-- extended: stmt/prepared statement used 20 times moves to a named server statement
insert into jdbc_ddl values(1);

-- extended: stmt/prepared statement used 20 times moves to a named server statement
select * from jdbc_ddl where a=$1;

-- extended: stmt/prepared statement used 20 times moves to a named server statement
alter table jdbc_ddl add column b int default 4;

-- extended: stmt/prepared statement used 20 times moves to a named server statement
drop table jdbc_ddl;

-- extended: stmt/prepared statement used 20 times moves to a named server statement
create table jdbc_ddl(z text, a int);

-- extended: stmt/batch: counts, reWriteBatchedInserts, failing batch
create temp table b(a int primary key, t text);

-- extended: stmt/batch: counts, reWriteBatchedInserts, failing batch
insert into b values($1,$2);

-- extended: stmt/batch: counts, reWriteBatchedInserts, failing batch
select count(*) from b;

-- extended: stmt/batch: counts, reWriteBatchedInserts, failing batch
ROLLBACK;

-- extended: stmt/batch: counts, reWriteBatchedInserts, failing batch
update b set t='z' where a<10;

-- extended: stmt/batch: counts, reWriteBatchedInserts, failing batch
delete from b where a=2000;

-- extended: stmt/generated keys: RETURN_GENERATED_KEYS, column names, batch
create temp table gk(id bigint generated by default as identity primary key, s serial, t text);

-- extended: stmt/generated keys: RETURN_GENERATED_KEYS, column names, batch
insert into gk(t) values($1)
RETURNING *;

-- extended: stmt/generated keys: RETURN_GENERATED_KEYS, column names, batch
insert into gk(t) values($1)
RETURNING "id", "s";

-- extended: stmt/fetch size uses a portal
select g from generate_series(1,2500) g;

-- extended: stmt/updatable result set: updateRow, insertRow, deleteRow
drop table if exists jdbc_ur;

-- extended: stmt/updatable result set: updateRow, insertRow, deleteRow
create table jdbc_ur(id int primary key, t text);

-- extended: stmt/updatable result set: updateRow, insertRow, deleteRow
insert into jdbc_ur values(1,'a'),(2,'b');

-- extended: stmt/updatable result set: updateRow, insertRow, deleteRow
select id,t from jdbc_ur order by id;

-- extended: stmt/updatable result set: updateRow, insertRow, deleteRow
SELECT        result.TABLE_CAT AS "TABLE_CAT",        result.TABLE_SCHEM AS "TABLE_SCHEM",        result.TABLE_NAME AS "TABLE_NAME",        result.COLUMN_NAME AS "COLUMN_NAME",        result.KEY_SEQ AS "KEY_SEQ",        result.PK_NAME AS "PK_NAME",        result.IS_NOT_NULL AS "IS_NOT_NULL"FROM      (SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM,   ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME,   (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME,   information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM,   a.attnotnull AS IS_NOT_NULL FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid)   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN pg_catalog.pg_index i ON ( a.attrelid = i.indrelid)   JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid) WHERE (i.indisprimary OR (     i.indisunique     AND i.indisvalid     AND i.indpred IS NULL     AND i.indexprs IS NULL   ))  AND ct.relname = 'jdbc_ur' ) result where  result.A_ATTNUM = (result.KEYS).x  ORDER BY result.table_name, result.pk_name, result.key_seq;

-- extended: stmt/updatable result set: updateRow, insertRow, deleteRow
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT 27055 AS oid , 1 AS attnum UNION ALL SELECT 27055, 2) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in (27055);

-- extended: stmt/updatable result set: updateRow, insertRow, deleteRow
UPDATE jdbc_ur SET  "t" = $1 WHERE "id" = $2;

-- extended: stmt/updatable result set: updateRow, insertRow, deleteRow
INSERT INTO jdbc_ur ("t", "id") values ($1,$2)
RETURNING *;

-- extended: stmt/updatable result set: updateRow, insertRow, deleteRow
DELETE FROM jdbc_ur where "id" = $1;

-- extended: stmt/updatable result set: updateRow, insertRow, deleteRow
drop table jdbc_ur;

-- extended: stmt/refcursor from a PL/pgSQL function
create or replace function jdbc_f(a int) returns int language plpgsql as $$begin return a*2; end$$;

-- extended: stmt/refcursor from a PL/pgSQL function
create or replace function jdbc_rc() returns refcursor language plpgsql as $$declare r refcursor; begin open r for select g from generate_series(1,3) g; return r; end$$;

-- extended: stmt/refcursor from a PL/pgSQL function
create or replace function jdbc_out(a int, out b int, out t text) language plpgsql as $$begin b:=a+1; t:='x'||a; end$$;

-- extended: stmt/refcursor from a PL/pgSQL function
create or replace procedure jdbc_pr(inout a int) language plpgsql as $$begin a:=a+10; end$$;

-- extended: stmt/refcursor from a PL/pgSQL function
select * from jdbc_f($1,$2) as result;

-- extended: stmt/refcursor from a PL/pgSQL function
select * from jdbc_out($1,$2,$3) as result;

-- extended: stmt/refcursor from a PL/pgSQL function
call jdbc_pr($1);

-- extended: stmt/refcursor from a PL/pgSQL function
select * from jdbc_rc($1) as result;

-- extended: stmt/refcursor from a PL/pgSQL function
FETCH ALL IN "<unnamed portal 1>";

-- extended: stmt/refcursor from a PL/pgSQL function
CLOSE "<unnamed portal 1>";

-- extended: stmt/refcursor from a PL/pgSQL function
drop function jdbc_f(int), jdbc_rc(), jdbc_out(int);

-- extended: stmt/refcursor from a PL/pgSQL function
drop procedure jdbc_pr(int);

-- extended: stmt/ParameterMetaData and ResultSetMetaData
drop table if exists jdbc_md;

-- extended: stmt/ParameterMetaData and ResultSetMetaData
create table jdbc_md(id serial primary key, n numeric(10,2) not null, v varchar(30), t timestamptz);

-- extended: stmt/ParameterMetaData and ResultSetMetaData
select id,n,v,t,id+1 as e from jdbc_md where n>$1 and v like $2;

-- extended: stmt/ParameterMetaData and ResultSetMetaData
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT 27067 AS oid , 1 AS attnum UNION ALL SELECT 27067, 2 UNION ALL SELECT 27067, 3 UNION ALL SELECT 27067, 4) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in (27067);

-- extended: stmt/ParameterMetaData and ResultSetMetaData
drop table jdbc_md;

-- extended: stmt/escape syntax, setMaxRows, warnings
select ('a'||'b'), DATE '2020-01-02', TIMESTAMP '2020-01-02 03:04:05', upper('x'), now(), (CAST(1||' day' as interval)+TIMESTAMP '2020-01-02 03:04:05') where 'a_' like 'a\_' ESCAPE '\';

-- extended: stmt/escape syntax, setMaxRows, warnings
select generate_series(1,10);

-- extended: stmt/escape syntax, setMaxRows, warnings
do $$begin raise warning 'careful %', 5; end$$;

-- extended: stmt/escape syntax, setMaxRows, warnings
drop table if exists nope_x;

-- extended: txn/commit, rollback, savepoints, error then rollback to savepoint
insert into t values(1);

-- simple: txn/commit, rollback, savepoints, error then rollback to savepoint
SAVEPOINT "sp";

-- extended: txn/commit, rollback, savepoints, error then rollback to savepoint
select 1/0;

-- simple: txn/commit, rollback, savepoints, error then rollback to savepoint
ROLLBACK TO SAVEPOINT "sp";

-- extended: txn/commit, rollback, savepoints, error then rollback to savepoint
RELEASE SAVEPOINT JDBC_SAVEPOINT_0;

-- extended: txn/commit, rollback, savepoints, error then rollback to savepoint
select sum(a) from t;

-- extended: txn/commit, rollback, savepoints, error then rollback to savepoint
delete from t;

-- extended: txn/commit, rollback, savepoints, error then rollback to savepoint
select count(*) from t;

-- extended: txn/isolation level 2 set, shown, and behaves
drop table if exists jdbc_iso;

-- extended: txn/isolation level 2 set, shown, and behaves
create table jdbc_iso(id int primary key, v int);

-- extended: txn/isolation level 2 set, shown, and behaves
insert into jdbc_iso values(1,1);

-- extended: txn/isolation level 2 set, shown, and behaves
select v from jdbc_iso;

-- extended: txn/isolation level 2 set, shown, and behaves
update jdbc_iso set v=2;

-- extended: txn/isolation level 4 set, shown, and behaves
update jdbc_iso set v=v+1;

-- extended: txn/readOnly, autosave=always keeps the transaction alive, autosave=conservative
select * from nope_y;

-- simple: txn/readOnly, autosave=always keeps the transaction alive, autosave=conservative
BEGIN READ ONLY;

-- extended: txn/readOnly, autosave=always keeps the transaction alive, autosave=conservative
create table ro_x(a int);

-- extended: txn/deadlock 40P01, unique 23505 with server error fields
create temp table u(a int constraint u_pk primary key);

-- extended: txn/deadlock 40P01, unique 23505 with server error fields
insert into u values(1);

-- extended: txn/two-phase: XA prepare and commit
drop table if exists jdbc_xa;

-- extended: txn/two-phase: XA prepare and commit
create table jdbc_xa(a int);

-- extended: txn/two-phase: XA prepare and commit
insert into jdbc_xa values(1);

-- extended: txn/two-phase: XA prepare and commit
PREPARE TRANSACTION '1_AQI=_Aw==';

-- extended: txn/two-phase: XA prepare and commit
select count(*) from jdbc_xa;

-- extended: txn/two-phase: XA prepare and commit
SELECT gid FROM pg_prepared_xacts where database = current_database() and pg_has_role(current_user, owner, 'member');

-- extended: txn/two-phase: XA prepare and commit
COMMIT PREPARED '1_AQI=_Aw==';

-- extended: txn/two-phase: XA prepare and commit
drop table jdbc_xa;

-- extended: copy/CopyManager in and out: text, csv, binary
create temp table cp(a int,b text);

-- simple: copy/CopyManager in and out: text, csv, binary
copy cp from stdin;

-- simple: copy/CopyManager in and out: text, csv, binary
copy cp from stdin (format csv);

-- simple: copy/CopyManager in and out: text, csv, binary
copy (select * from cp order by a) to stdout csv;

-- simple: copy/CopyManager in and out: text, csv, binary
copy cp to stdout binary;

-- simple: copy/CopyManager in and out: text, csv, binary
copy cp from stdin binary;

-- extended: copy/CopyManager in and out: text, csv, binary
select count(*) from cp;

-- extended: notify/LISTEN, NOTIFY, getNotifications
listen jch;

-- extended: notify/LISTEN, NOTIFY, getNotifications
notify jch,'hello';

-- extended: lo/large object API
SELECT p.proname,p.oid  FROM pg_catalog.pg_proc p, pg_catalog.pg_namespace n  WHERE p.pronamespace=n.oid AND n.nspname='pg_catalog' AND ( proname = 'lo_open' or proname = 'lo_close' or proname = 'lo_creat' or proname = 'lo_unlink' or proname = 'lo_lseek' or proname = 'lo_lseek64' or proname = 'lo_tell' or proname = 'lo_tell64' or proname = 'loread' or proname = 'lowrite' or proname = 'lo_truncate' or proname = 'lo_truncate64');

-- extended: meta/getTables: kinds, remarks
SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME",  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'  WHEN true THEN CASE  WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TABLE'   WHEN 'v' THEN 'SYSTEM VIEW'   WHEN 'i' THEN 'SYSTEM INDEX'   ELSE NULL   END  WHEN n.nspname = 'pg_toast' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TOAST TABLE'   WHEN 'i' THEN 'SYSTEM TOAST INDEX'   ELSE NULL   END  ELSE CASE c.relkind   WHEN 'r' THEN 'TEMPORARY TABLE'   WHEN 'p' THEN 'TEMPORARY TABLE'   WHEN 'i' THEN 'TEMPORARY INDEX'   WHEN 'S' THEN 'TEMPORARY SEQUENCE'   WHEN 'v' THEN 'TEMPORARY VIEW'   ELSE NULL   END  END  WHEN false THEN CASE c.relkind  WHEN 'r' THEN 'TABLE'  WHEN 'p' THEN 'PARTITIONED TABLE'  WHEN 'i' THEN 'INDEX'  WHEN 'P' then 'PARTITIONED INDEX'  WHEN 'S' THEN 'SEQUENCE'  WHEN 'v' THEN 'VIEW'  WHEN 'c' THEN 'TYPE'  WHEN 'f' THEN 'FOREIGN TABLE'  WHEN 'm' THEN 'MATERIALIZED VIEW'  ELSE NULL  END  ELSE NULL  END  AS "TABLE_TYPE", d.description AS "REMARKS",  '' as "TYPE_CAT", '' as "TYPE_SCHEM", '' as "TYPE_NAME", '' AS "SELF_REFERENCING_COL_NAME", '' AS "REF_GENERATION"  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0  and d.classoid = 'pg_class'::regclass)  WHERE c.relnamespace = n.oid  AND n.nspname LIKE 'shop' AND c.relname LIKE '%' ORDER BY "TABLE_TYPE","TABLE_SCHEM","TABLE_NAME";

-- extended: meta/getTables: kinds, remarks
SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME",  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'  WHEN true THEN CASE  WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TABLE'   WHEN 'v' THEN 'SYSTEM VIEW'   WHEN 'i' THEN 'SYSTEM INDEX'   ELSE NULL   END  WHEN n.nspname = 'pg_toast' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TOAST TABLE'   WHEN 'i' THEN 'SYSTEM TOAST INDEX'   ELSE NULL   END  ELSE CASE c.relkind   WHEN 'r' THEN 'TEMPORARY TABLE'   WHEN 'p' THEN 'TEMPORARY TABLE'   WHEN 'i' THEN 'TEMPORARY INDEX'   WHEN 'S' THEN 'TEMPORARY SEQUENCE'   WHEN 'v' THEN 'TEMPORARY VIEW'   ELSE NULL   END  END  WHEN false THEN CASE c.relkind  WHEN 'r' THEN 'TABLE'  WHEN 'p' THEN 'PARTITIONED TABLE'  WHEN 'i' THEN 'INDEX'  WHEN 'P' then 'PARTITIONED INDEX'  WHEN 'S' THEN 'SEQUENCE'  WHEN 'v' THEN 'VIEW'  WHEN 'c' THEN 'TYPE'  WHEN 'f' THEN 'FOREIGN TABLE'  WHEN 'm' THEN 'MATERIALIZED VIEW'  ELSE NULL  END  ELSE NULL  END  AS "TABLE_TYPE", d.description AS "REMARKS",  '' as "TYPE_CAT", '' as "TYPE_SCHEM", '' as "TYPE_NAME", '' AS "SELF_REFERENCING_COL_NAME", '' AS "REF_GENERATION"  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0  and d.classoid = 'pg_class'::regclass)  WHERE c.relnamespace = n.oid  AND n.nspname LIKE 'shop' AND c.relname LIKE 'acc%' AND (false  OR ( c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' )  OR ( c.relkind = 'v' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' ) )  ORDER BY "TABLE_TYPE","TABLE_SCHEM","TABLE_NAME";

-- extended: meta/getTables: kinds, remarks
SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME",  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'  WHEN true THEN CASE  WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TABLE'   WHEN 'v' THEN 'SYSTEM VIEW'   WHEN 'i' THEN 'SYSTEM INDEX'   ELSE NULL   END  WHEN n.nspname = 'pg_toast' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TOAST TABLE'   WHEN 'i' THEN 'SYSTEM TOAST INDEX'   ELSE NULL   END  ELSE CASE c.relkind   WHEN 'r' THEN 'TEMPORARY TABLE'   WHEN 'p' THEN 'TEMPORARY TABLE'   WHEN 'i' THEN 'TEMPORARY INDEX'   WHEN 'S' THEN 'TEMPORARY SEQUENCE'   WHEN 'v' THEN 'TEMPORARY VIEW'   ELSE NULL   END  END  WHEN false THEN CASE c.relkind  WHEN 'r' THEN 'TABLE'  WHEN 'p' THEN 'PARTITIONED TABLE'  WHEN 'i' THEN 'INDEX'  WHEN 'P' then 'PARTITIONED INDEX'  WHEN 'S' THEN 'SEQUENCE'  WHEN 'v' THEN 'VIEW'  WHEN 'c' THEN 'TYPE'  WHEN 'f' THEN 'FOREIGN TABLE'  WHEN 'm' THEN 'MATERIALIZED VIEW'  ELSE NULL  END  ELSE NULL  END  AS "TABLE_TYPE", d.description AS "REMARKS",  '' as "TYPE_CAT", '' as "TYPE_SCHEM", '' as "TYPE_NAME", '' AS "SELF_REFERENCING_COL_NAME", '' AS "REF_GENERATION"  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0  and d.classoid = 'pg_class'::regclass)  WHERE c.relnamespace = n.oid  AND c.relname LIKE 'pg_class' AND (false  OR ( c.relkind = 'r' AND (n.nspname = 'pg_catalog' OR n.nspname = 'information_schema') ) )  ORDER BY "TABLE_TYPE","TABLE_SCHEM","TABLE_NAME";

-- extended: meta/getColumns
SELECT * FROM (SELECT current_database() AS current_database, n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull  OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as attidentity,nullif(a.attgenerated, '') as attgenerated,pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype  FROM pg_catalog.pg_namespace n  JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)  JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid)  JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)  LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND a.attnum = def.adnum)  LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)  LEFT JOIN pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND dc.relname='pg_class')  LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace=dn.oid AND dn.nspname='pg_catalog')  WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT a.attisdropped  AND n.nspname LIKE 'shop' AND c.relname LIKE 'account') c WHERE true  AND attname LIKE '%' ORDER BY nspname,c.relname,attnum;

-- extended: meta/getPrimaryKeys, getIndexInfo, getBestRowIdentifier
SELECT        result.TABLE_CAT AS "TABLE_CAT",        result.TABLE_SCHEM AS "TABLE_SCHEM",        result.TABLE_NAME AS "TABLE_NAME",        result.COLUMN_NAME AS "COLUMN_NAME",        result.KEY_SEQ AS "KEY_SEQ",        result.PK_NAME AS "PK_NAME"FROM      (SELECT current_database() AS TABLE_CAT, n.nspname AS TABLE_SCHEM,   ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME,   (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME,   information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM, i.indnkeyatts as KEY_COUNT FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid)   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN pg_catalog.pg_index i ON ( a.attrelid = i.indrelid)   JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid) WHERE true  AND n.nspname = 'shop' AND ct.relname = 'district' AND i.indisprimary  ) result where  result.A_ATTNUM = (result.KEYS).x AND result.KEY_SEQ <= KEY_COUNT  ORDER BY result.table_name, result.pk_name, result.key_seq;

-- extended: meta/getPrimaryKeys, getIndexInfo, getBestRowIdentifier
SELECT     tmp.TABLE_CAT AS "TABLE_CAT",     tmp.TABLE_SCHEM AS "TABLE_SCHEM",     tmp.TABLE_NAME AS "TABLE_NAME",     tmp.NON_UNIQUE AS "NON_UNIQUE",     tmp.INDEX_QUALIFIER AS "INDEX_QUALIFIER",     tmp.INDEX_NAME AS "INDEX_NAME",     tmp.TYPE AS "TYPE",     tmp.ORDINAL_POSITION AS "ORDINAL_POSITION",     trim(both '"' from pg_catalog.pg_get_indexdef(tmp.CI_OID, tmp.ORDINAL_POSITION, false)) AS "COLUMN_NAME",   CASE tmp.AM_NAME     WHEN 'btree' THEN CASE tmp.I_INDOPTION[tmp.ORDINAL_POSITION - 1] & 1::smallint       WHEN 1 THEN 'D'       ELSE 'A'     END     ELSE NULL   END AS "ASC_OR_DESC",     tmp.CARDINALITY AS "CARDINALITY",     tmp.PAGES AS "PAGES",     tmp.FILTER_CONDITION AS "FILTER_CONDITION",     tmp.REMARKS AS "REMARKS"FROM (SELECT current_database() AS TABLE_CAT,  n.nspname AS TABLE_SCHEM,   ct.relname AS TABLE_NAME, NOT i.indisunique AS NON_UNIQUE,   NULL AS INDEX_QUALIFIER, ci.relname AS INDEX_NAME,   CASE i.indisclustered     WHEN true THEN 1    ELSE CASE am.amname       WHEN 'hash' THEN 2      ELSE 3    END   END AS TYPE,   (information_schema._pg_expandarray(i.indkey)).n AS ORDINAL_POSITION,   ci.reltuples AS CARDINALITY,   ci.relpages AS PAGES,   pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS FILTER_CONDITION,   ci.oid AS CI_OID,   i.indoption AS I_INDOPTION,   am.amname AS AM_NAME,   d.description AS REMARKS FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid)   JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid)   JOIN pg_catalog.pg_am am ON (ci.relam = am.oid)   LEFT JOIN pg_catalog.pg_description d ON (ci.oid = d.objoid) WHERE true  AND n.nspname = 'shop' AND ct.relname = 'account') AS tmp ORDER BY "NON_UNIQUE", "TYPE", "INDEX_NAME", "ORDINAL_POSITION";

-- extended: meta/getPrimaryKeys, getIndexInfo, getBestRowIdentifier
SELECT     tmp.TABLE_CAT AS "TABLE_CAT",     tmp.TABLE_SCHEM AS "TABLE_SCHEM",     tmp.TABLE_NAME AS "TABLE_NAME",     tmp.NON_UNIQUE AS "NON_UNIQUE",     tmp.INDEX_QUALIFIER AS "INDEX_QUALIFIER",     tmp.INDEX_NAME AS "INDEX_NAME",     tmp.TYPE AS "TYPE",     tmp.ORDINAL_POSITION AS "ORDINAL_POSITION",     trim(both '"' from pg_catalog.pg_get_indexdef(tmp.CI_OID, tmp.ORDINAL_POSITION, false)) AS "COLUMN_NAME",   CASE tmp.AM_NAME     WHEN 'btree' THEN CASE tmp.I_INDOPTION[tmp.ORDINAL_POSITION - 1] & 1::smallint       WHEN 1 THEN 'D'       ELSE 'A'     END     ELSE NULL   END AS "ASC_OR_DESC",     tmp.CARDINALITY AS "CARDINALITY",     tmp.PAGES AS "PAGES",     tmp.FILTER_CONDITION AS "FILTER_CONDITION",     tmp.REMARKS AS "REMARKS"FROM (SELECT current_database() AS TABLE_CAT,  n.nspname AS TABLE_SCHEM,   ct.relname AS TABLE_NAME, NOT i.indisunique AS NON_UNIQUE,   NULL AS INDEX_QUALIFIER, ci.relname AS INDEX_NAME,   CASE i.indisclustered     WHEN true THEN 1    ELSE CASE am.amname       WHEN 'hash' THEN 2      ELSE 3    END   END AS TYPE,   (information_schema._pg_expandarray(i.indkey)).n AS ORDINAL_POSITION,   ci.reltuples AS CARDINALITY,   ci.relpages AS PAGES,   pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS FILTER_CONDITION,   ci.oid AS CI_OID,   i.indoption AS I_INDOPTION,   am.amname AS AM_NAME,   d.description AS REMARKS FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid)   JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid)   JOIN pg_catalog.pg_am am ON (ci.relam = am.oid)   LEFT JOIN pg_catalog.pg_description d ON (ci.oid = d.objoid) WHERE true  AND n.nspname = 'shop' AND ct.relname = 'Order Item' AND i.indisunique ) AS tmp ORDER BY "NON_UNIQUE", "TYPE", "INDEX_NAME", "ORDINAL_POSITION";

-- extended: meta/getPrimaryKeys, getIndexInfo, getBestRowIdentifier
SELECT a.attname, a.atttypid, atttypmod FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid)   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN (SELECT i.indexrelid, i.indrelid, i.indisprimary,              information_schema._pg_expandarray(i.indkey) AS keys         FROM pg_catalog.pg_index i) i     ON (a.attnum = (i.keys).x AND a.attrelid = i.indrelid) WHERE true  AND n.nspname = 'shop' AND ct.relname = 'warehouse' AND i.indisprimary  ORDER BY a.attnum;

-- extended: meta/getImportedKeys, getExportedKeys, getCrossReference
SELECT setting FROM pg_catalog.pg_settings WHERE name='max_index_keys';

-- extended: meta/getImportedKeys, getExportedKeys, getCrossReference
SELECT current_database() AS "PKTABLE_CAT", pkn.nspname AS "PKTABLE_SCHEM", pkc.relname AS "PKTABLE_NAME", pka.attname AS "PKCOLUMN_NAME", current_database() AS "FKTABLE_CAT", fkn.nspname AS "FKTABLE_SCHEM", fkc.relname AS "FKTABLE_NAME", fka.attname AS "FKCOLUMN_NAME", pos.n AS "KEY_SEQ", CASE con.confupdtype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "UPDATE_RULE", CASE con.confdeltype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "DELETE_RULE", con.conname AS "FK_NAME", pkic.relname AS "PK_NAME", CASE  WHEN con.condeferrable AND con.condeferred THEN 5 WHEN con.condeferrable THEN 6 ELSE 7 END AS "DEFERRABILITY"  FROM  pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka,  pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka,  pg_catalog.pg_constraint con,  pg_catalog.generate_series(1, 32) pos(n),  pg_catalog.pg_class pkic WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid  AND fkn.oid = fkc.relnamespace AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid  AND con.contype = 'f' AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid  AND fkn.nspname = 'shop' AND fkc.relname = 'customer' ORDER BY pkn.nspname,pkc.relname, con.conname,pos.n;

-- extended: meta/getImportedKeys, getExportedKeys, getCrossReference
SELECT current_database() AS "PKTABLE_CAT", pkn.nspname AS "PKTABLE_SCHEM", pkc.relname AS "PKTABLE_NAME", pka.attname AS "PKCOLUMN_NAME", current_database() AS "FKTABLE_CAT", fkn.nspname AS "FKTABLE_SCHEM", fkc.relname AS "FKTABLE_NAME", fka.attname AS "FKCOLUMN_NAME", pos.n AS "KEY_SEQ", CASE con.confupdtype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "UPDATE_RULE", CASE con.confdeltype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "DELETE_RULE", con.conname AS "FK_NAME", pkic.relname AS "PK_NAME", CASE  WHEN con.condeferrable AND con.condeferred THEN 5 WHEN con.condeferrable THEN 6 ELSE 7 END AS "DEFERRABILITY"  FROM  pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka,  pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka,  pg_catalog.pg_constraint con,  pg_catalog.generate_series(1, 32) pos(n),  pg_catalog.pg_class pkic WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid  AND fkn.oid = fkc.relnamespace AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid  AND con.contype = 'f' AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid  AND pkn.nspname = 'shop' AND pkc.relname = 'account' ORDER BY fkn.nspname,fkc.relname,con.conname,pos.n;

-- extended: meta/getImportedKeys, getExportedKeys, getCrossReference
SELECT current_database() AS "PKTABLE_CAT", pkn.nspname AS "PKTABLE_SCHEM", pkc.relname AS "PKTABLE_NAME", pka.attname AS "PKCOLUMN_NAME", current_database() AS "FKTABLE_CAT", fkn.nspname AS "FKTABLE_SCHEM", fkc.relname AS "FKTABLE_NAME", fka.attname AS "FKCOLUMN_NAME", pos.n AS "KEY_SEQ", CASE con.confupdtype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "UPDATE_RULE", CASE con.confdeltype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "DELETE_RULE", con.conname AS "FK_NAME", pkic.relname AS "PK_NAME", CASE  WHEN con.condeferrable AND con.condeferred THEN 5 WHEN con.condeferrable THEN 6 ELSE 7 END AS "DEFERRABILITY"  FROM  pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka,  pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka,  pg_catalog.pg_constraint con,  pg_catalog.generate_series(1, 32) pos(n),  pg_catalog.pg_class pkic WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid  AND fkn.oid = fkc.relnamespace AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid  AND con.contype = 'f' AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid  AND pkn.nspname = 'shop' AND fkn.nspname = 'shop' AND pkc.relname = 'warehouse' AND fkc.relname = 'district' ORDER BY fkn.nspname,fkc.relname,con.conname,pos.n;

-- extended: meta/getTypeInfo, getUDTs, getTableTypes, getSchemas, getCatalogs
SELECT t.typname,t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON (t.typnamespace = n.oid)  WHERE n.nspname  != 'pg_toast' AND  (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid));

-- extended: meta/getTypeInfo, getUDTs, getTableTypes, getSchemas, getCatalogs
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid   FROM pg_catalog.pg_type   LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r           from pg_namespace as ns           join ( select s.r, (current_schemas(false))[s.r] as nspname                    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r          using ( nspname )        ) as sp     ON sp.nspoid = typnamespace  ORDER BY sp.r, pg_type.oid DESC;

-- extended: meta/getTypeInfo, getUDTs, getTableTypes, getSchemas, getCatalogs
SELECT nspname AS "TABLE_SCHEM", current_database() AS "TABLE_CATALOG" FROM pg_catalog.pg_namespace  WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_'  OR nspname = (pg_catalog.current_schemas(true))[1]) AND (nspname !~ '^pg_toast_temp_'  OR nspname = replace((pg_catalog.current_schemas(true))[1], 'pg_temp_', 'pg_toast_temp_'))  ORDER BY "TABLE_SCHEM";

-- extended: meta/getTypeInfo, getUDTs, getTableTypes, getSchemas, getCatalogs
SELECT datname AS "TABLE_CAT" FROM pg_catalog.pg_database WHERE datallowconn = true ORDER BY datname;

-- extended: meta/getProcedures, getFunctions and their columns, privileges, client info, sequences
SELECT current_database() AS "FUNCTION_CAT",  n.nspname AS "FUNCTION_SCHEM", p.proname AS "FUNCTION_NAME",  d.description AS "REMARKS",  CASE    WHEN (format_type(p.prorettype, null) = 'unknown') THEN 0   WHEN      (substring(pg_get_function_result(p.oid) from 0 for 6) = 'TABLE') OR      (substring(pg_get_function_result(p.oid) from 0 for 6) = 'SETOF') THEN 2   ELSE 1 END  AS "FUNCTION_TYPE",  p.proname || '_' || p.oid AS "SPECIFIC_NAME" FROM pg_catalog.pg_proc p INNER JOIN pg_catalog.pg_namespace n ON p.pronamespace=n.oid LEFT JOIN pg_catalog.pg_description d ON p.oid=d.objoid WHERE true   AND p.prokind='f' AND n.nspname LIKE 'shop' AND p.proname LIKE 'add%' ORDER BY "FUNCTION_SCHEM", "FUNCTION_NAME", p.oid::text;

-- extended: meta/getProcedures, getFunctions and their columns, privileges, client info, sequences
SELECT current_database() AS current_database, n.nspname,p.proname,p.prorettype,p.proargtypes, t.typtype,t.typrelid,  p.proargnames, p.proargmodes, p.proallargtypes, p.oid  FROM pg_catalog.pg_proc p, pg_catalog.pg_namespace n, pg_catalog.pg_type t  WHERE p.pronamespace=n.oid AND p.prorettype=t.oid  AND n.nspname LIKE 'shop' AND p.proname LIKE 'add_tax' ORDER BY n.nspname, p.proname, p.oid::text;

-- extended: meta/getProcedures, getFunctions and their columns, privileges, client info, sequences
SELECT current_database() AS "PROCEDURE_CAT",  n.nspname AS "PROCEDURE_SCHEM", p.proname AS "PROCEDURE_NAME", NULL, NULL, NULL, d.description AS "REMARKS", 2 AS "PROCEDURE_TYPE",  p.proname || '_' || p.oid AS "SPECIFIC_NAME"  FROM pg_catalog.pg_namespace n, pg_catalog.pg_proc p  LEFT JOIN pg_catalog.pg_description d ON (p.oid=d.objoid)  LEFT JOIN pg_catalog.pg_class c ON (d.classoid=c.oid AND c.relname='pg_proc')  LEFT JOIN pg_catalog.pg_namespace pn ON (c.relnamespace=pn.oid AND pn.nspname='pg_catalog')  WHERE p.pronamespace=n.oid  AND p.prokind='p' AND n.nspname LIKE 'shop' AND p.proname LIKE '%' ORDER BY "PROCEDURE_SCHEM", "PROCEDURE_NAME", p.oid::text;

-- extended: meta/getProcedures, getFunctions and their columns, privileges, client info, sequences
SELECT a.attname,a.atttypid FROM pg_catalog.pg_attribute a  WHERE a.attrelid = 0 AND NOT a.attisdropped AND a.attnum > 0 ORDER BY a.attnum;

-- extended: meta/getProcedures, getFunctions and their columns, privileges, client info, sequences
SELECT current_database() AS current_database, n.nspname,c.relname,r.rolname,c.relacl  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c, pg_catalog.pg_roles r  WHERE c.relnamespace = n.oid  AND c.relowner = r.oid  AND c.relkind IN ('r','p','v','m','f')  AND n.nspname LIKE 'shop' AND c.relname LIKE 'warehouse' ORDER BY nspname, relname;

-- extended: meta/getProcedures, getFunctions and their columns, privileges, client info, sequences
SELECT current_database() AS current_database, n.nspname,c.relname,r.rolname,c.relacl, a.attacl,  a.attname  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c,  pg_catalog.pg_roles r, pg_catalog.pg_attribute a  WHERE c.relnamespace = n.oid  AND c.relowner = r.oid  AND c.oid = a.attrelid  AND c.relkind = 'r'  AND a.attnum > 0 AND NOT a.attisdropped  AND n.nspname = 'shop' AND c.relname = 'warehouse' AND a.attname LIKE 'w_id' ORDER BY attname;

-- extended: meta/getProcedures, getFunctions and their columns, privileges, client info, sequences
select string_agg(word, ',') from pg_catalog.pg_get_keywords() where word <> ALL ('{a,abs,absolute,action,ada,add,admin,after,all,allocate,alter,always,and,any,are,array,as,asc,asensitive,assertion,assignment,asymmetric,at,atomic,attribute,attributes,authorization,avg,before,begin,bernoulli,between,bigint,binary,blob,boolean,both,breadth,by,c,call,called,cardinality,cascade,cascaded,case,cast,catalog,catalog_name,ceil,ceiling,chain,char,char_length,character,character_length,character_set_catalog,character_set_name,character_set_schema,characteristics,characters,check,checked,class_origin,clob,close,coalesce,cobol,code_units,collate,collation,collation_catalog,collation_name,collation_schema,collect,column,column_name,command_function,command_function_code,commit,committed,condition,condition_number,connect,connection_name,constraint,constraint_catalog,constraint_name,constraint_schema,constraints,constructors,contains,continue,convert,corr,corresponding,count,covar_pop,covar_samp,create,cross,cube,cume_dist,current,current_collation,current_date,current_default_transform_group,current_path,current_role,current_time,current_timestamp,current_transform_group_for_type,current_user,cursor,cursor_name,cycle,data,date,datetime_interval_code,datetime_interval_precision,day,deallocate,dec,decimal,declare,default,defaults,deferrable,deferred,defined,definer,degree,delete,dense_rank,depth,deref,derived,desc,describe,descriptor,deterministic,diagnostics,disconnect,dispatch,distinct,domain,double,drop,dynamic,dynamic_function,dynamic_function_code,each,element,else,end,end-exec,equals,escape,every,except,exception,exclude,excluding,exec,execute,exists,exp,external,extract,false,fetch,filter,final,first,float,floor,following,for,foreign,fortran,found,free,from,full,function,fusion,g,general,get,global,go,goto,grant,granted,group,grouping,having,hierarchy,hold,hour,identity,immediate,implementation,in,including,increment,indicator,initially,inner,inout,input,insensitive,insert,instance,instantiable,int,integer,intersect,intersection,interval,into,invoker,is,isolation,join,k,key,key_member,key_type,language,large,last,lateral,leading,left,length,level,like,ln,local,localtime,localtimestamp,locator,lower,m,map,match,matched,max,maxvalue,member,merge,message_length,message_octet_length,message_text,method,min,minute,minvalue,mod,modifies,module,month,more,multiset,mumps,name,names,national,natural,nchar,nclob,nesting,new,next,no,none,normalize,normalized,not,"null",nullable,nullif,nulls,number,numeric,object,octet_length,octets,of,old,on,only,open,option,options,or,order,ordering,ordinality,others,out,outer,output,over,overlaps,overlay,overriding,pad,parameter,parameter_mode,parameter_name,parameter_ordinal_position,parameter_specific_catalog,parameter_specific_name,parameter_specific_schema,partial,partition,pascal,path,percent_rank,percentile_cont,percentile_disc,placing,pli,position,power,preceding,precision,prepare,preserve,primary,prior,privileges,procedure,public,range,rank,read,reads,real,recursive,ref,references,referencing,regr_avgx,regr_avgy,regr_count,regr_intercept,regr_r2,regr_slope,regr_sxx,regr_sxy,regr_syy,relative,release,repeatable,restart,result,return,returned_cardinality,returned_length,returned_octet_length,returned_sqlstate,returns,revoke,right,role,rollback,rollup,routine,routine_catalog,routine_name,routine_schema,row,row_count,row_number,rows,savepoint,scale,schema,schema_name,scope_catalog,scope_name,scope_schema,scroll,search,second,section,security,select,self,sensitive,sequence,serializable,server_name,session,session_user,set,sets,similar,simple,size,smallint,some,source,space,specific,specific_name,specifictype,sql,sqlexception,sqlstate,sqlwarning,sqrt,start,state,statement,static,stddev_pop,stddev_samp,structure,style,subclass_origin,submultiset,substring,sum,symmetric,system,system_user,table,table_name,tablesample,temporary,then,ties,time,timestamp,timezone_hour,timezone_minute,to,top_level_count,trailing,transaction,transaction_active,transactions_committed,transactions_rolled_back,transform,transforms,translate,translation,treat,trigger,trigger_catalog,trigger_name,trigger_schema,trim,true,type,uescape,unbounded,uncommitted,under,union,unique,unknown,unnamed,unnest,update,upper,usage,user,user_defined_type_catalog,user_defined_type_code,user_defined_type_name,user_defined_type_schema,using,value,values,var_pop,var_samp,varchar,varying,view,when,whenever,where,width_bucket,window,with,within,without,work,write,year,zone}'::text[]);

-- extended: meta/getProcedures, getFunctions and their columns, privileges, client info, sequences
SELECT t.typlen FROM pg_catalog.pg_type t, pg_catalog.pg_namespace n WHERE t.typnamespace=n.oid AND t.typname='name' AND n.nspname='pg_catalog';

-- extended: load/8 sessions x 100 prepared transactions
drop table if exists jdbc_ld;

-- extended: load/8 sessions x 100 prepared transactions
create table jdbc_ld(id int primary key, v int);

-- extended: load/8 sessions x 100 prepared transactions
insert into jdbc_ld select g,0 from generate_series(1,10) g;

-- extended: load/8 sessions x 100 prepared transactions
update jdbc_ld set v=v+$1 where id=$2;

-- extended: load/8 sessions x 100 prepared transactions
select sum(v) from jdbc_ld;

-- extended: load/8 sessions x 100 prepared transactions
drop table jdbc_ld;
