-- What php-pdo sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
drop table if exists php_t;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
create table php_t(id serial primary key, n varchar(20) unique, d numeric(8,2), b bytea, f bool);

-- extended: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
insert into php_t(n,d,b,f) values($1,$2,$3,$4);

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
DEALLOCATE pdo_stmt_00000001;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
SELECT LASTVAL();

-- extended: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
SELECT CURRVAL($1);

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
select * from php_t where n='n3';

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
SELECT RELNAME FROM PG_CLASS WHERE OID=32431;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
BEGIN;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
delete from php_t;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
ROLLBACK;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
select count(*) from php_t;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
insert into php_t(n) values('n1');

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
COPY php_t FROM STDIN WITH DELIMITER E'	' NULL AS E'\\N';

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
COPY php_t TO STDIN WITH DELIMITER E'	' NULL AS E'\\N';

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
DECLARE pdo_crsr_00000002 SCROLL CURSOR WITH HOLD FOR select g from generate_series(1,9) g;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
FETCH FORWARD 0 FROM pdo_crsr_00000002;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
FETCH ABSOLUTE 4 FROM pdo_crsr_00000002;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
COMMIT;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
SELECT a.attname, a.attnum, t.typname, a.attlen, a.attnotnull, a.atthasdef, a.attndims, t.typtype FROM pg_class as c  JOIN pg_attribute a ON (a.attrelid = c.oid)  JOIN pg_type t ON (a.atttypid = t.oid)  JOIN pg_namespace n ON (c.relnamespace = n.oid) WHERE a.attnum > 0 AND c.relname = 'php_t' AND n.nspname = 'public' ORDER BY a.attnum;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
INSERT INTO "php_t" ("n","d") VALUES ('pi',2.5);

-- extended: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
select $1::int+1;

-- extended: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
select $1::text;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
select n from php_t;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
select 1/0;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
drop table php_t;

-- simple: php/PDO and pgsql: prepared, named, lastInsertId, getColumnMeta, copyFromArray, transactions, errors, pg_meta_data, pg_insert
CLOSE pdo_crsr_00000002;
