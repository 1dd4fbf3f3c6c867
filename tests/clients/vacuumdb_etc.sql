-- What vacuumdb-etc sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
SELECT pg_catalog.set_config('search_path', '', false);

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
RESET search_path;

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
SELECT c.relname, ns.nspname FROM pg_catalog.pg_class c
 JOIN pg_catalog.pg_namespace ns ON c.relnamespace OPERATOR(pg_catalog.=) ns.oid
 LEFT JOIN pg_catalog.pg_class t ON c.reltoastrelid OPERATOR(pg_catalog.=) t.oid
 WHERE c.relpersistence OPERATOR(pg_catalog.!=) 't'
 AND c.relkind OPERATOR(pg_catalog.=) ANY (array['r', 'm'])
 ORDER BY c.relpages DESC;

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
VACUUM (ANALYZE) pg_catalog.pg_proc;

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
WITH listed_tables (table_oid, column_list) AS (
  VALUES ('shop.account'::pg_catalog.regclass, '(name)'::pg_catalog.text)
)
SELECT c.relname, ns.nspname, listed_tables.column_list FROM pg_catalog.pg_class c
 JOIN pg_catalog.pg_namespace ns ON c.relnamespace OPERATOR(pg_catalog.=) ns.oid
 LEFT JOIN pg_catalog.pg_class t ON c.reltoastrelid OPERATOR(pg_catalog.=) t.oid
 JOIN listed_tables ON listed_tables.table_oid OPERATOR(pg_catalog.=) c.oid
 WHERE c.relpersistence OPERATOR(pg_catalog.!=) 't'
 ORDER BY c.relpages DESC;

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
ANALYZE shop.account(name);

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
VACUUM (FULL) shop.item;

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
ANALYZE pg_catalog.pg_proc;

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
SET default_statistics_target=1; SET vacuum_cost_delay=0;

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
SET default_statistics_target=10; RESET vacuum_cost_delay;

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
RESET default_statistics_target;

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
SELECT c.relname, ns.nspname FROM pg_catalog.pg_class c
 JOIN pg_catalog.pg_namespace ns ON c.relnamespace OPERATOR(pg_catalog.=) ns.oid
 LEFT JOIN pg_catalog.pg_class t ON c.reltoastrelid OPERATOR(pg_catalog.=) t.oid
 WHERE c.relpersistence OPERATOR(pg_catalog.!=) 't'
 AND c.relkind OPERATOR(pg_catalog.=) ANY (array['r', 'm'])
 AND GREATEST(pg_catalog.age(c.relfrozenxid), pg_catalog.age(t.relfrozenxid))  OPERATOR(pg_catalog.>=) '1'::pg_catalog.int4
 AND c.relfrozenxid OPERATOR(pg_catalog.!=) '0'::pg_catalog.xid
 ORDER BY c.relpages DESC;

-- simple: vacuumdb/-z, -Z, -f, -a, -t, -j2, --analyze-in-stages
VACUUM (FREEZE) pg_catalog.pg_proc;

-- simple: reindexdb/database, table, index, schema, -j2, concurrently
REINDEX DATABASE compat_src;

-- simple: reindexdb/database, table, index, schema, -j2, concurrently
SELECT c.relname, ns.nspname
 FROM pg_catalog.pg_class c, pg_catalog.pg_namespace ns
 WHERE c.relnamespace OPERATOR(pg_catalog.=) ns.oid
  AND c.oid OPERATOR(pg_catalog.=) 'shop.account'::pg_catalog.regclass;

-- simple: reindexdb/database, table, index, schema, -j2, concurrently
REINDEX TABLE shop.account;

-- simple: reindexdb/database, table, index, schema, -j2, concurrently
REINDEX INDEX shop.idx_order;

-- simple: reindexdb/database, table, index, schema, -j2, concurrently
SELECT c.relname, ns.nspname
 FROM pg_catalog.pg_class c
 JOIN pg_catalog.pg_namespace ns ON c.relnamespace = ns.oid
 WHERE c.relkind IN ('r', 'm')
   AND c.relpersistence != 't'
 AND ns.nspname IN ('shop')
 ORDER BY c.relpages DESC;

-- simple: reindexdb/database, table, index, schema, -j2, concurrently
REINDEX TABLE CONCURRENTLY shop.account;

-- simple: clusterdb
cluster shop.orders using idx_order;

-- simple: clusterdb
CLUSTER;

-- simple: vacuumlo and large objects: \lo_import, \lo_list, \lo_export, \lo_unlink
BEGIN;

-- simple: vacuumlo and large objects: \lo_import, \lo_list, \lo_export, \lo_unlink
select proname, oid from pg_catalog.pg_proc where proname in ('lo_open', 'lo_close', 'lo_creat', 'lo_create', 'lo_unlink', 'lo_lseek', 'lo_lseek64', 'lo_tell', 'lo_tell64', 'lo_truncate', 'lo_truncate64', 'loread', 'lowrite') and pronamespace = (select oid from pg_catalog.pg_namespace where nspname = 'pg_catalog');

-- simple: vacuumlo and large objects: \lo_import, \lo_list, \lo_export, \lo_unlink
COMMENT ON LARGE OBJECT 28829 IS 'c1';

-- simple: vacuumlo and large objects: \lo_import, \lo_list, \lo_export, \lo_unlink
COMMIT;

-- simple: vacuumlo and large objects: \lo_import, \lo_list, \lo_export, \lo_unlink
SELECT oid as "ID",
  pg_catalog.pg_get_userbyid(lomowner) as "Owner",
  pg_catalog.obj_description(oid, 'pg_largeobject') as "Description"
FROM pg_catalog.pg_largeobject_metadata
ORDER BY oid;

-- simple: vacuumlo and large objects: \lo_import, \lo_list, \lo_export, \lo_unlink
CREATE TEMP TABLE vacuum_l AS SELECT oid AS lo FROM pg_largeobject_metadata;

-- simple: vacuumlo and large objects: \lo_import, \lo_list, \lo_export, \lo_unlink
ANALYZE vacuum_l;

-- simple: vacuumlo and large objects: \lo_import, \lo_list, \lo_export, \lo_unlink
SELECT s.nspname, c.relname, a.attname FROM pg_class c, pg_attribute a, pg_namespace s, pg_type t WHERE a.attnum > 0 AND NOT a.attisdropped       AND a.attrelid = c.oid       AND a.atttypid = t.oid       AND c.relnamespace = s.oid       AND t.typname in ('oid', 'lo')       AND c.relkind in ('r', 'm')      AND s.nspname !~ '^pg_';

-- simple: vacuumlo and large objects: \lo_import, \lo_list, \lo_export, \lo_unlink
DECLARE myportal CURSOR WITH HOLD FOR SELECT lo FROM vacuum_l;

-- simple: vacuumlo and large objects: \lo_import, \lo_list, \lo_export, \lo_unlink
FETCH FORWARD 1000 IN myportal;
