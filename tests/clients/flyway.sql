-- What flyway sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: flyway/migrate two versions, info, validate, second run is a no-op, clean
SET application_name = 'PostgreSQL JDBC Driver';

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT version();

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SHOW search_path;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT CURRENT_USER;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT rolname FROM pg_roles WHERE rolname ILIKE 'rds_superuser';

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT current_schema;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
select current_catalog;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT COUNT(*) FROM pg_namespace WHERE nspname=$1;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SET ROLE 'compat';

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT EXISTS (
  SELECT 1
  FROM   pg_catalog.pg_class c
  JOIN   pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE  n.nspname = $1
  AND    c.relname = $2
  AND    c.relkind = 'r'
);

-- simple: flyway/migrate two versions, info, validate, second run is a no-op, clean
BEGIN;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT set_config('search_path', $1, false);

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
COMMIT;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
CREATE SCHEMA "fw_test";

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT pg_try_advisory_xact_lock(77429899561338);

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
CREATE TABLE "fw_test"."flyway_schema_history" (
    "installed_rank" INT NOT NULL,
    "version" VARCHAR(50),
    "description" VARCHAR(200) NOT NULL,
    "type" VARCHAR(20) NOT NULL,
    "script" VARCHAR(1000) NOT NULL,
    "checksum" INTEGER,
    "installed_by" VARCHAR(100) NOT NULL,
    "installed_on" TIMESTAMP NOT NULL DEFAULT now(),
    "execution_time" INTEGER NOT NULL,
    "success" BOOLEAN NOT NULL
);

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
ALTER TABLE "fw_test"."flyway_schema_history" ADD CONSTRAINT "flyway_schema_history_pk" PRIMARY KEY ("installed_rank");

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
CREATE INDEX "flyway_schema_history_s_idx" ON "fw_test"."flyway_schema_history" ("success");

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
/*NO LOAD BALANCE*/
SELECT "installed_rank","version","description","type","script","checksum","installed_on","installed_by","execution_time","success" FROM "fw_test"."flyway_schema_history" WHERE "installed_rank" > $1 ORDER BY "installed_rank";

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
INSERT INTO "fw_test"."flyway_schema_history" ("installed_rank", "version", "description", "type", "script", "checksum", "installed_by", "execution_time", "success") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
create table fw_a(id int primary key, t text);

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
insert into fw_a values(1,'x;y');

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
create function fw_f() returns int language sql as $$ select 1; $$;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
alter table fw_a add column b int not null default 3;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
create index fw_i on fw_a(b);

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT EXISTS (
    SELECT c.oid FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_depend d ON d.objid = c.oid AND d.deptype = 'e'
    WHERE  n.nspname = $1 AND d.objid IS NULL AND c.relkind IN ('r', 'v', 'S', 't')
  UNION ALL
    SELECT t.oid FROM pg_catalog.pg_type t
    JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    LEFT JOIN pg_catalog.pg_depend d ON d.objid = t.oid AND d.deptype = 'e'
    WHERE n.nspname = $2 AND d.objid IS NULL AND t.typcategory NOT IN ('A', 'C')
  UNION ALL
    SELECT p.oid FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    LEFT JOIN pg_catalog.pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
    WHERE n.nspname = $3 AND d.objid IS NULL
);

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
select b from fw_test.fw_a;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT relname FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm' AND n.nspname = $1;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT relname FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_depend dep ON dep.objid = c.oid AND dep.deptype = 'e' WHERE c.relkind = 'v' AND  n.nspname = $1 AND dep.objid IS NULL;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT t.table_name FROM information_schema.tables t LEFT JOIN pg_depend dep ON dep.objid = (quote_ident(t.table_schema)||'.'||quote_ident(t.table_name))::regclass::oid AND dep.deptype = 'e' WHERE table_schema=$1 AND table_type='BASE TABLE' AND dep.objid IS NULL AND NOT (SELECT EXISTS (SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhrelid = (quote_ident(t.table_schema)||'.'||quote_ident(t.table_name))::regclass::oid));

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
DROP TABLE "fw_test"."flyway_schema_history" CASCADE;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
DROP TABLE "fw_test"."fw_a" CASCADE;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
select typname, typcategory from pg_catalog.pg_type t left join pg_depend dep on dep.objid = t.oid and dep.deptype = 'e' where (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)) and NOT EXISTS(SELECT 1 FROM pg_catalog.pg_type el WHERE el.oid = t.typelem AND el.typarray = t.oid) and t.typnamespace in (select oid from pg_catalog.pg_namespace where nspname = $1) and dep.objid is null and t.typtype != 'd';

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT proname, oidvectortypes(proargtypes) AS args, pg_proc.prokind = 'a' as agg, pg_proc.prokind = 'p' as proc FROM pg_proc INNER JOIN pg_namespace ns ON (pg_proc.pronamespace = ns.oid) LEFT JOIN pg_depend dep ON dep.objid = pg_proc.oid AND dep.deptype = 'e' WHERE ns.nspname = $1 AND dep.objid IS NULL;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
DROP FUNCTION IF EXISTS "fw_test"."fw_f"() CASCADE;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT t.typname FROM pg_catalog.pg_type t INNER JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = $1 and t.typtype = 'e';

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT t.typname as domain_name
FROM pg_catalog.pg_type t
       LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
       LEFT JOIN pg_depend dep ON dep.objid = t.oid AND dep.deptype = 'e'
WHERE t.typtype = 'd'
  AND n.nspname = $1
  AND dep.objid IS NULL;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT sequence_name FROM information_schema.sequences WHERE sequence_schema=$1;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT EXISTS ( 
SELECT 1 
FROM pg_tables 
WHERE tablename = 'pg_extension');

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
SELECT e.extname FROM pg_extension e LEFT JOIN pg_namespace n ON n.oid = e.extnamespace LEFT JOIN pg_roles r ON r.oid = e.extowner WHERE n.nspname=$1 AND r.rolname=$2;

-- extended: flyway/migrate two versions, info, validate, second run is a no-op, clean
DROP SCHEMA "fw_test" CASCADE;
