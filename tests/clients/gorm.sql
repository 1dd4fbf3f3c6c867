-- What gorm sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: gorm/AutoMigrate twice, Migrator introspection
-- ping;

-- simple: gorm/AutoMigrate twice, Migrator introspection
DROP TABLE IF EXISTS "tags" CASCADE;

-- simple: gorm/AutoMigrate twice, Migrator introspection
DROP TABLE IF EXISTS "custs" CASCADE;

-- simple: gorm/AutoMigrate twice, Migrator introspection
DROP TABLE IF EXISTS "ords" CASCADE;

-- simple: gorm/AutoMigrate twice, Migrator introspection
DROP TABLE IF EXISTS "ord_tags" CASCADE;

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT count(*) FROM information_schema.tables WHERE table_schema = CURRENT_SCHEMA() AND table_name = $1 AND table_type = $2;

-- simple: gorm/AutoMigrate twice, Migrator introspection
CREATE TABLE "custs" ("id" bigserial,"name" varchar(50) NOT NULL,"bal" numeric(12,2) DEFAULT 0,"at" timestamptz,"act" boolean DEFAULT true,"data" bytea,"opt" bigint,"deleted_at" timestamptz,PRIMARY KEY ("id"),CONSTRAINT "gm_bal" CHECK (bal > -100));

-- simple: gorm/AutoMigrate twice, Migrator introspection
CREATE INDEX IF NOT EXISTS "idx_custs_deleted_at" ON "custs" ("deleted_at");

-- simple: gorm/AutoMigrate twice, Migrator introspection
CREATE INDEX IF NOT EXISTS "idx_custs_act" ON "custs" ("act");

-- simple: gorm/AutoMigrate twice, Migrator introspection
CREATE UNIQUE INDEX IF NOT EXISTS "gm_cust_name" ON "custs" ("name");

-- simple: gorm/AutoMigrate twice, Migrator introspection
COMMENT ON COLUMN "custs"."name" IS 'nm';

-- simple: gorm/AutoMigrate twice, Migrator introspection
CREATE TABLE "ords" ("id" bigserial,"cust_id" bigint,"qty" bigint,PRIMARY KEY ("id"),CONSTRAINT "fk_custs_ords" FOREIGN KEY ("cust_id") REFERENCES "custs"("id"));

-- simple: gorm/AutoMigrate twice, Migrator introspection
CREATE TABLE "tags" ("id" bigserial,"name" text,PRIMARY KEY ("id"));

-- simple: gorm/AutoMigrate twice, Migrator introspection
CREATE TABLE "ord_tags" ("ord_id" bigint,"tag_id" bigint,PRIMARY KEY ("ord_id","tag_id"),CONSTRAINT "fk_ord_tags_ord" FOREIGN KEY ("ord_id") REFERENCES "ords"("id"),CONSTRAINT "fk_ord_tags_tag" FOREIGN KEY ("tag_id") REFERENCES "tags"("id"));

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT CURRENT_DATABASE();

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT c.column_name, c.is_nullable = 'YES', c.udt_name, c.character_maximum_length, c.numeric_precision, c.numeric_precision_radix, c.numeric_scale, c.datetime_precision, 8 * typlen, c.column_default, pd.description, c.identity_increment FROM information_schema.columns AS c JOIN pg_type AS pgt ON c.udt_name = pgt.typname LEFT JOIN pg_catalog.pg_description as pd ON pd.objsubid = c.ordinal_position AND pd.objoid = (SELECT oid FROM pg_catalog.pg_class WHERE relname = c.table_name AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = c.table_schema)) where table_catalog = $1 AND table_schema = CURRENT_SCHEMA() AND table_name = $2;

-- simple: gorm/AutoMigrate twice, Migrator introspection
SELECT * FROM "custs" LIMIT  '1';

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT constraint_name FROM information_schema.table_constraints tc JOIN information_schema.constraint_column_usage AS ccu USING (constraint_schema, constraint_catalog, table_name, constraint_name) JOIN information_schema.columns AS c ON c.table_schema = tc.constraint_schema AND tc.table_name = c.table_name AND ccu.column_name = c.column_name WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND c.table_catalog = $1 AND c.table_schema = CURRENT_SCHEMA() AND c.table_name = $2 AND constraint_type = $3;

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT c.column_name, constraint_name, constraint_type FROM information_schema.table_constraints tc JOIN information_schema.constraint_column_usage AS ccu USING (constraint_schema, constraint_catalog, table_name, constraint_name) JOIN information_schema.columns AS c ON c.table_schema = tc.constraint_schema AND tc.table_name = c.table_name AND ccu.column_name = c.column_name WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND c.table_catalog = $1 AND c.table_schema = CURRENT_SCHEMA() AND c.table_name = $2;

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT a.attname as column_name, format_type(a.atttypid, a.atttypmod) AS data_type
		FROM pg_attribute a JOIN pg_class b ON a.attrelid = b.oid AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = CURRENT_SCHEMA())
		WHERE a.attnum > 0 -- hide internal columns
		AND NOT a.attisdropped -- hide deleted columns
		AND b.relname = $1;

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT description FROM pg_catalog.pg_description WHERE objsubid = (SELECT ordinal_position FROM information_schema.columns WHERE table_schema = CURRENT_SCHEMA() AND table_name = $1 AND column_name = $2) AND objoid = (SELECT oid FROM pg_catalog.pg_class WHERE relname = $3 AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = CURRENT_SCHEMA()));

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT count(*) FROM INFORMATION_SCHEMA.table_constraints WHERE table_schema = CURRENT_SCHEMA() AND table_name = $1 AND constraint_name = $2;

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT count(*) FROM pg_indexes WHERE tablename = $1 AND indexname = $2 AND schemaname = CURRENT_SCHEMA();

-- simple: gorm/AutoMigrate twice, Migrator introspection
SELECT * FROM "ords" LIMIT  '1';

-- simple: gorm/AutoMigrate twice, Migrator introspection
SELECT * FROM "tags" LIMIT  '1';

-- simple: gorm/AutoMigrate twice, Migrator introspection
SELECT * FROM "ord_tags" LIMIT  '1';

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT count(*) FROM INFORMATION_SCHEMA.columns WHERE table_schema = CURRENT_SCHEMA() AND table_name = $1 AND column_name = $2;

-- extended: gorm/AutoMigrate twice, Migrator introspection
SELECT
	ct.relname AS table_name,
	ci.relname AS index_name,
	i.indisunique AS non_unique,
	i.indisprimary AS primary,
	a.attname AS column_name
FROM
	pg_index i
	LEFT JOIN pg_class ct ON ct.oid = i.indrelid
	LEFT JOIN pg_class ci ON ci.oid = i.indexrelid
	LEFT JOIN pg_attribute a ON a.attrelid = ct.oid
	LEFT JOIN pg_constraint con ON con.conindid = i.indexrelid
WHERE
	a.attnum = ANY(i.indkey)
	AND con.oid IS NULL
	AND ct.relkind = 'r'
	AND ct.relname = $1;

-- simple: gorm/CRUD, associations, transaction, upsert, locking, soft delete
begin;

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
INSERT INTO "custs" ("name","bal","at","act","data","opt","deleted_at") VALUES ($1,$2,$3,$4,$5,$6,$7) RETURNING "id";

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
INSERT INTO "ords" ("cust_id","qty") VALUES ($1,$2) ON CONFLICT ("id") DO UPDATE SET "cust_id"="excluded"."cust_id" RETURNING "id";

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
INSERT INTO "tags" ("name") VALUES ($1) ON CONFLICT DO NOTHING RETURNING "id";

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
INSERT INTO "ord_tags" ("ord_id","tag_id") VALUES ($1,$2) ON CONFLICT DO NOTHING;

-- simple: gorm/CRUD, associations, transaction, upsert, locking, soft delete
commit;

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
SELECT * FROM "custs" WHERE name = $1 AND "custs"."deleted_at" IS NULL ORDER BY "custs"."id" LIMIT $2;

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
SELECT * FROM "ords" WHERE "ords"."cust_id" = $1;

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
SELECT * FROM "ord_tags" WHERE "ord_tags"."ord_id" = $1;

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
SELECT * FROM "tags" WHERE "tags"."id" = $1;

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
INSERT INTO "custs" ("name","bal","at","act","data","opt","deleted_at") VALUES ($1,$2,$3,$4,$5,$6,$7) ON CONFLICT ("name") DO UPDATE SET "bal"="excluded"."bal" RETURNING "id";

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
SELECT * FROM "custs" WHERE name='a' AND "custs"."deleted_at" IS NULL ORDER BY "custs"."id" LIMIT $1 FOR UPDATE;

-- simple: gorm/CRUD, associations, transaction, upsert, locking, soft delete
SAVEPOINT s;

-- simple: gorm/CRUD, associations, transaction, upsert, locking, soft delete
update custs set bal=50;

-- simple: gorm/CRUD, associations, transaction, upsert, locking, soft delete
ROLLBACK TO SAVEPOINT s;

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
UPDATE "custs" SET "bal"=bal + $1 WHERE "custs"."deleted_at" IS NULL AND "id" = $2;

-- simple: gorm/CRUD, associations, transaction, upsert, locking, soft delete
rollback;

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
UPDATE "custs" SET "deleted_at"=$1 WHERE name='b' AND "custs"."deleted_at" IS NULL;

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
SELECT count(*) FROM "custs" WHERE "custs"."deleted_at" IS NULL;

-- extended: gorm/CRUD, associations, transaction, upsert, locking, soft delete
SELECT act, sum(bal) as s FROM "custs" WHERE "custs"."deleted_at" IS NULL GROUP BY "act" HAVING count(*)>1 ORDER BY act LIMIT $1;
