-- What psqlodbc sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: odbc/isql: query, help (tables), help table (columns), error
drop table if exists odbc_t; create table odbc_t(a int primary key, b varchar(10), c numeric(8,2)); insert into odbc_t values(1,'x',1.5);

-- simple: odbc/isql: query, help (tables), help table (columns), error
SET DateStyle = 'ISO';SET extra_float_digits = 2;show transaction_isolation;

-- simple: odbc/isql: query, help (tables), help table (columns), error
select oid, typbasetype from pg_type where typname = 'lo';

-- extended: odbc/isql: query, help (tables), help table (columns), error
select * from odbc_t;

-- simple: odbc/isql: query, help (tables), help table (columns), error
DEALLOCATE "_PLAN0x55cd107f69b0";

-- simple: odbc/isql: query, help (tables), help table (columns), error
select relname, nspname, relkind from pg_catalog.pg_class c, pg_catalog.pg_namespace n where relkind in ('r', 'v', 'm', 'f', 'p') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1') and n.oid = relnamespace order by nspname, relname;

-- simple: odbc/isql: query, help (tables), help table (columns), error
select current_schema();

-- simple: odbc/isql: query, help (tables), help table (columns), error
select n.nspname, c.relname, a.attname, a.atttypid, t.typname, a.attnum, a.attlen, a.atttypmod, a.attnotnull, c.relhasrules, c.relkind, c.oid, pg_get_expr(d.adbin, d.adrelid), case t.typtype when 'd' then t.typbasetype else 0 end, t.typtypmod, 0, attidentity, c.relhassubclass from (((pg_catalog.pg_class c inner join pg_catalog.pg_namespace n on n.oid = c.relnamespace and c.relname like 'odbc_t' and n.nspname like 'public') inner join pg_catalog.pg_attribute a on (not a.attisdropped) and a.attnum > 0 and a.attrelid = c.oid) inner join pg_catalog.pg_type t on t.oid = a.atttypid) left outer join pg_attrdef d on a.atthasdef and d.adrelid = a.attrelid and d.adnum = a.attnum order by n.nspname, c.relname, attnum;

-- extended: odbc/isql: query, help (tables), help table (columns), error
insert into odbc_t values(2,null,null);

-- simple: odbc/isql: query, help (tables), help table (columns), error
select count(*) from odbc_t;

-- simple: odbc/isql: query, help (tables), help table (columns), error
drop table odbc_t;
