-- What sequelize sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SET client_min_messages TO warning;SET TIME ZONE INTERVAL '+00:00' HOUR TO MINUTE;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
WITH ranges AS (  SELECT pg_range.rngtypid, pg_type.typname AS rngtypname,         pg_type.typarray AS rngtyparray, pg_range.rngsubtype    FROM pg_range LEFT OUTER JOIN pg_type ON pg_type.oid = pg_range.rngtypid)SELECT pg_type.typname, pg_type.typtype, pg_type.oid, pg_type.typarray,       ranges.rngtypname, ranges.rngtypid, ranges.rngtyparray  FROM pg_type LEFT OUTER JOIN ranges ON pg_type.oid = ranges.rngsubtype WHERE (pg_type.typtype IN('b', 'e'));

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT 1+1 AS result;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
DROP TABLE IF EXISTS "sq_bs" CASCADE;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
DROP TABLE IF EXISTS "sq_as" CASCADE;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
DROP TYPE IF EXISTS "public"."enum_sq_as_e";

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT DISTINCT tc.constraint_name as constraint_name, tc.constraint_schema as constraint_schema, tc.constraint_catalog as constraint_catalog, tc.table_name as table_name,tc.table_schema as table_schema,tc.table_catalog as table_catalog,tc.initially_deferred as initially_deferred,tc.is_deferrable as is_deferrable,kcu.column_name as column_name,ccu.table_schema  AS referenced_table_schema,ccu.table_catalog  AS referenced_table_catalog,ccu.table_name  AS referenced_table_name,ccu.column_name AS referenced_column_name FROM information_schema.table_constraints AS tc JOIN information_schema.key_column_usage AS kcu ON tc.constraint_name = kcu.constraint_name JOIN information_schema.constraint_column_usage AS ccu ON ccu.constraint_name = tc.constraint_name WHERE constraint_type = 'FOREIGN KEY' AND tc.table_name = 'sq_as' AND tc.table_catalog = 'postgres';

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT t.typname enum_name, array_agg(e.enumlabel ORDER BY enumsortorder) enum_value FROM pg_type t JOIN pg_enum e ON t.oid = e.enumtypid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = 'public' AND t.typname='enum_sq_as_e' GROUP BY 1;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
DROP TYPE IF EXISTS "public"."enum_sq_as_e"; DO 'BEGIN CREATE TYPE "public"."enum_sq_as_e" AS ENUM(''x'', ''y''); EXCEPTION WHEN duplicate_object THEN null; END';

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
CREATE TABLE IF NOT EXISTS "sq_as" ("id"   SERIAL , "n" VARCHAR(40) NOT NULL UNIQUE, "e" "public"."enum_sq_as_e", "j" JSONB, "t" INTEGER[], "d" DECIMAL(12,2), "u" UUID, "b" BYTEA, "w" TIMESTAMP WITH TIME ZONE, "r" int4range, "createdAt" TIMESTAMP WITH TIME ZONE NOT NULL, "updatedAt" TIMESTAMP WITH TIME ZONE NOT NULL, PRIMARY KEY ("id")); COMMENT ON TABLE "sq_as" IS 'cc';

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT i.relname AS name, ix.indisprimary AS primary, ix.indisunique AS unique, ix.indkey AS indkey, array_agg(a.attnum) as column_indexes, array_agg(a.attname) AS column_names, pg_get_indexdef(ix.indexrelid) AS definition FROM pg_class t, pg_class i, pg_index ix, pg_attribute a WHERE t.oid = ix.indrelid AND i.oid = ix.indexrelid AND a.attrelid = t.oid AND t.relkind = 'r' and t.relname = 'sq_as' GROUP BY i.relname, ix.indexrelid, ix.indisprimary, ix.indisunique, ix.indkey ORDER BY i.relname;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
CREATE INDEX "sq_as_d" ON "sq_as" ("d");

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
CREATE TABLE IF NOT EXISTS "sq_bs" ("id"   SERIAL , "q" INTEGER, "createdAt" TIMESTAMP WITH TIME ZONE NOT NULL, "updatedAt" TIMESTAMP WITH TIME ZONE NOT NULL, "sqAId" INTEGER REFERENCES "sq_as" ("id") ON DELETE CASCADE ON UPDATE CASCADE, PRIMARY KEY ("id"));

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_name = 'sq_as';

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT pk.constraint_type as "Constraint",c.column_name as "Field", c.column_default as "Default",c.is_nullable as "Null", (CASE WHEN c.udt_name = 'hstore' THEN c.udt_name ELSE c.data_type END) || (CASE WHEN c.character_maximum_length IS NOT NULL THEN '(' || c.character_maximum_length || ')' ELSE '' END) as "Type", (SELECT array_agg(e.enumlabel) FROM pg_catalog.pg_type t JOIN pg_catalog.pg_enum e ON t.oid=e.enumtypid WHERE t.typname=c.udt_name) AS "special", (SELECT pgd.description FROM pg_catalog.pg_statio_all_tables AS st INNER JOIN pg_catalog.pg_description pgd on (pgd.objoid=st.relid) WHERE c.ordinal_position=pgd.objsubid AND c.table_name=st.relname) AS "Comment" FROM information_schema.columns c LEFT JOIN (SELECT tc.table_schema, tc.table_name, cu.column_name, tc.constraint_type FROM information_schema.TABLE_CONSTRAINTS tc JOIN information_schema.KEY_COLUMN_USAGE  cu ON tc.table_schema=cu.table_schema and tc.table_name=cu.table_name and tc.constraint_name=cu.constraint_name and tc.constraint_type='PRIMARY KEY') pk ON pk.table_schema=c.table_schema AND pk.table_name=c.table_name AND pk.column_name=c.column_name WHERE c.table_name = 'sq_as' AND c.table_schema = 'public';

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "n" SET NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "n" DROP DEFAULT;ALTER TABLE "sq_as"  ADD UNIQUE ("n");ALTER TABLE "sq_as" ALTER COLUMN "n" TYPE VARCHAR(40);

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "e" DROP NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "e" DROP DEFAULT;DO 'BEGIN CREATE TYPE "public"."enum_sq_as_e" AS ENUM(''x'', ''y''); EXCEPTION WHEN duplicate_object THEN null; END';ALTER TABLE "sq_as" ALTER COLUMN "e" TYPE "public"."enum_sq_as_e" USING ("e"::"public"."enum_sq_as_e");

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "j" DROP NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "j" DROP DEFAULT;ALTER TABLE "sq_as" ALTER COLUMN "j" TYPE JSONB;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "t" DROP NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "t" DROP DEFAULT;ALTER TABLE "sq_as" ALTER COLUMN "t" TYPE INTEGER[];

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "d" DROP NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "d" DROP DEFAULT;ALTER TABLE "sq_as" ALTER COLUMN "d" TYPE DECIMAL(12,2);

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "u" DROP NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "u" DROP DEFAULT;ALTER TABLE "sq_as" ALTER COLUMN "u" TYPE UUID;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "b" DROP NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "b" DROP DEFAULT;ALTER TABLE "sq_as" ALTER COLUMN "b" TYPE BYTEA;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "w" DROP NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "w" DROP DEFAULT;ALTER TABLE "sq_as" ALTER COLUMN "w" TYPE TIMESTAMP WITH TIME ZONE;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "r" DROP NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "r" DROP DEFAULT;ALTER TABLE "sq_as" ALTER COLUMN "r" TYPE int4range;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "createdAt" SET NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "createdAt" DROP DEFAULT;ALTER TABLE "sq_as" ALTER COLUMN "createdAt" TYPE TIMESTAMP WITH TIME ZONE;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_as" ALTER COLUMN "updatedAt" SET NOT NULL;ALTER TABLE "sq_as" ALTER COLUMN "updatedAt" DROP DEFAULT;ALTER TABLE "sq_as" ALTER COLUMN "updatedAt" TYPE TIMESTAMP WITH TIME ZONE;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_bs" ALTER COLUMN "q" DROP NOT NULL;ALTER TABLE "sq_bs" ALTER COLUMN "q" DROP DEFAULT;ALTER TABLE "sq_bs" ALTER COLUMN "q" TYPE INTEGER;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_bs" ALTER COLUMN "createdAt" SET NOT NULL;ALTER TABLE "sq_bs" ALTER COLUMN "createdAt" DROP DEFAULT;ALTER TABLE "sq_bs" ALTER COLUMN "createdAt" TYPE TIMESTAMP WITH TIME ZONE;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_bs" ALTER COLUMN "updatedAt" SET NOT NULL;ALTER TABLE "sq_bs" ALTER COLUMN "updatedAt" DROP DEFAULT;ALTER TABLE "sq_bs" ALTER COLUMN "updatedAt" TYPE TIMESTAMP WITH TIME ZONE;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_bs" DROP CONSTRAINT "sq_bs_sqAId_fkey";

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
ALTER TABLE "sq_bs"  ADD FOREIGN KEY ("sqAId") REFERENCES "sq_as" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- extended: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
INSERT INTO "sq_as" ("id","n","e","j","t","d","u","b","w","r","createdAt","updatedAt") VALUES (DEFAULT,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11) RETURNING "id","n","e","j","t","d","u","b","w","r","createdAt","updatedAt";

-- extended: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
INSERT INTO "sq_bs" ("id","q","createdAt","updatedAt","sqAId") VALUES (DEFAULT,$1,$2,$3,$4) RETURNING "id","q","createdAt","updatedAt","sqAId";

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT "sq_a"."id", "sq_a"."n", "sq_a"."e", "sq_a"."j", "sq_a"."t", "sq_a"."d", "sq_a"."u", "sq_a"."b", "sq_a"."w", "sq_a"."r", "sq_a"."createdAt", "sq_a"."updatedAt", "sq_bs"."id" AS "sq_bs.id", "sq_bs"."q" AS "sq_bs.q", "sq_bs"."createdAt" AS "sq_bs.createdAt", "sq_bs"."updatedAt" AS "sq_bs.updatedAt", "sq_bs"."sqAId" AS "sq_bs.sqAId" FROM "sq_as" AS "sq_a" LEFT OUTER JOIN "sq_bs" AS "sq_bs" ON "sq_a"."id" = "sq_bs"."sqAId" WHERE "sq_a"."n" = 'p';

-- extended: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
INSERT INTO "sq_as" ("n","d","createdAt","updatedAt") VALUES ($1,$2,$3,$4) ON CONFLICT ("n") DO UPDATE SET "n"=EXCLUDED."n","d"=EXCLUDED."d","updatedAt"=EXCLUDED."updatedAt" RETURNING "id","n","e","j","t","d","u","b","w","r","createdAt","updatedAt";

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
INSERT INTO "sq_as" ("id","n","createdAt","updatedAt") VALUES (DEFAULT,'z1','2026-11-21 04:10:30.906 +00:00','2026-11-21 04:10:30.906 +00:00'),(DEFAULT,'z2','2026-11-21 04:10:30.906 +00:00','2026-11-21 04:10:30.906 +00:00') RETURNING "id","n","e","j","t","d","u","b","w","r","createdAt","updatedAt";

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT count(*) AS "count" FROM "sq_as" AS "sq_a";

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT "id", "n", "e", "j", "t", "d", "u", "b", "w", "r", "createdAt", "updatedAt" FROM "sq_as" AS "sq_a" ORDER BY "sq_a"."id" DESC LIMIT 1 OFFSET 1;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
UPDATE "sq_as" SET "d"="d"+ 1,"updatedAt"='2026-11-21 04:10:30.949 +00:00' WHERE "n" = 'p' RETURNING *;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT "id", "n", "e", "j", "t", "d", "u", "b", "w", "r", "createdAt", "updatedAt" FROM "sq_as" AS "sq_a" WHERE CAST(("sq_a"."j"#>>'{k}') AS DOUBLE PRECISION) = 1 LIMIT 1;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
START TRANSACTION;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;

-- extended: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
UPDATE "sq_as" SET "d"=$1,"updatedAt"=$2 WHERE "n" = $3;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
COMMIT;

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type LIKE '%TABLE' AND table_name != 'spatial_ref_sys';

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
DROP TABLE IF EXISTS "sq_bs";

-- simple: sequelize/sync, sync alter, CRUD, associations, transaction, showAllTables, describeTable
DROP TABLE IF EXISTS "sq_as";
