-- What ruby-activerecord sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SET client_min_messages TO 'warning';

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SET search_path TO ar;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SET standard_conforming_strings = on;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SET intervalstyle = iso_8601;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SET SESSION timezone TO 'UTC';

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT t.oid, t.typname
FROM pg_type as t
WHERE t.typname IN ('int2', 'int4', 'int8', 'oid', 'float4', 'float8', 'numeric', 'bool', 'timestamp', 'timestamptz');

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT t.oid, t.typname, t.typelem, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype
FROM pg_type as t
LEFT JOIN pg_range as r ON oid = rngtypid
WHERE
  t.typname IN ('int2', 'int4', 'int8', 'oid', 'float4', 'float8', 'text', 'varchar', 'char', 'name', 'bpchar', 'bool', 'bit', 'varbit', 'timestamptz', 'date', 'money', 'bytea', 'point', 'hstore', 'json', 'jsonb', 'cidr', 'inet', 'uuid', 'xml', 'tsvector', 'macaddr', 'citext', 'ltree', 'line', 'lseg', 'box', 'path', 'polygon', 'circle', 'time', 'timestamp', 'numeric', 'interval')
  OR t.typtype IN ('r', 'e', 'd')
  OR t.typinput = 'array_in(cstring,oid,integer)'::regprocedure
  OR t.typelem != 0;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SHOW TIME ZONE;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT 1;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
drop schema if exists ar cascade;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
create schema ar;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT 'decimal(12,2)'::regtype::oid;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
CREATE TABLE "custs" ("id" bigserial primary key, "name" character varying(50) NOT NULL, "bal" decimal(12,2) DEFAULT 0.0, "j" jsonb, "tags" text[] DEFAULT '{}', "u" uuid, "b" bytea, "d" date, "w" timestamp(6), "act" boolean DEFAULT TRUE, "ip" inet, "r" int4range, "iv" interval, "created_at" timestamp(6) NOT NULL, "updated_at" timestamp(6) NOT NULL);

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SHOW max_identifier_length;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
CREATE UNIQUE INDEX "index_custs_on_name" ON "custs" ("name");

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
COMMENT ON TABLE "custs" IS 'cc';

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
CREATE TABLE "ords" ("id" bigserial primary key, "cust_id" bigint, "qty" integer, CONSTRAINT "fk_rails_0deff3cf03"
FOREIGN KEY ("cust_id")
  REFERENCES "custs" ("id")
 ON DELETE CASCADE);

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
CREATE INDEX "index_ords_on_cust_id" ON "ords" ("cust_id");

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
CREATE INDEX "custs_low" ON "custs" (lower(name)) WHERE act;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
ALTER TABLE "ords" ADD "x" bigint DEFAULT 5 NOT NULL;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
ALTER TABLE "ords" RENAME COLUMN "x" TO "y";

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT distinct i.relname, d.indisunique, d.indkey, pg_get_indexdef(d.indexrelid), t.oid,
                pg_catalog.obj_description(i.oid, 'pg_class') AS comment
FROM pg_class t
INNER JOIN pg_index d ON t.oid = d.indrelid
INNER JOIN pg_class i ON d.indexrelid = i.oid
LEFT JOIN pg_namespace n ON n.oid = i.relnamespace
WHERE i.relkind IN ('i', 'I')
  AND d.indisprimary = 'f'
  AND t.relname = 'ords'
  AND n.nspname = ANY (current_schemas(false))
ORDER BY i.relname;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT a.attnum, a.attname
FROM pg_attribute a
WHERE a.attrelid = 32456
AND a.attnum IN (2);

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
ALTER TABLE "ords" ALTER COLUMN "y" TYPE character varying;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
ALTER TABLE "ords" DROP COLUMN "y";

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
ALTER TABLE "custs" ADD CONSTRAINT bal_ck CHECK (bal > -100);

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT c.relname FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ANY (current_schemas(false)) AND c.relname = 'ar_internal_metadata' AND c.relkind IN ('r','p');

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
CREATE TABLE "ar_internal_metadata" ("key" character varying NOT NULL PRIMARY KEY, "value" character varying, "created_at" timestamp(6) NOT NULL, "updated_at" timestamp(6) NOT NULL);

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT a.attname, format_type(a.atttypid, a.atttypmod),
       pg_get_expr(d.adbin, d.adrelid), a.attnotnull, a.atttypid, a.atttypmod,
       c.collname, col_description(a.attrelid, a.attnum) AS comment
  FROM pg_attribute a
  LEFT JOIN pg_attrdef d ON a.attrelid = d.adrelid AND a.attnum = d.adnum
  LEFT JOIN pg_type t ON a.atttypid = t.oid
  LEFT JOIN pg_collation c ON a.attcollation = c.oid AND a.attcollation <> t.typcollation
 WHERE a.attrelid = '"ar_internal_metadata"'::regclass
   AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY a.attnum;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT "ar_internal_metadata".* FROM "ar_internal_metadata" WHERE "ar_internal_metadata"."key" = $1 LIMIT $2;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT c.relname FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ANY (current_schemas(false)) AND c.relkind IN ('r','v','m','p','f');

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
BEGIN;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
INSERT INTO "ar_internal_metadata" ("key", "value", "created_at", "updated_at") VALUES ($1, $2, $3, $4) RETURNING "key";

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
COMMIT;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT a.attname
  FROM (
         SELECT indrelid, indkey, generate_subscripts(indkey, 1) idx
           FROM pg_index
          WHERE indrelid = '"custs"'::regclass
            AND indisprimary
       ) i
  JOIN pg_attribute a
    ON a.attrelid = i.indrelid
   AND a.attnum = i.indkey[i.idx]
 ORDER BY i.idx;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
INSERT INTO "custs" ("name", "bal", "j", "tags", "u", "b", "d", "w", "ip", "r", "iv", "created_at", "updated_at") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING "id";

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
INSERT INTO "ords" ("cust_id", "qty") VALUES ($1, $2) RETURNING "id";

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT "custs".* FROM "custs" WHERE "custs"."id" = $1 LIMIT $2;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT "custs".* FROM "custs" WHERE "custs"."name" = $1 ORDER BY "custs"."id" ASC LIMIT $2;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT "ords".* FROM "ords" WHERE "ords"."cust_id" = $1;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
INSERT INTO "custs" ("name", "created_at", "updated_at") VALUES ($1, $2, $3) RETURNING "id";

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
INSERT INTO "custs" ("name", "bal", "created_at", "updated_at") VALUES ($1, $2, $3, $4) RETURNING "id";

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT "custs"."name" FROM "custs" WHERE (bal > 5) ORDER BY "custs"."name" ASC LIMIT $1 OFFSET $2;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT SUM("custs"."bal") AS sum_bal, "custs"."act" AS custs_act FROM "custs" GROUP BY "custs"."act";

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT COUNT(*) FROM "custs" INNER JOIN "ords" ON "ords"."cust_id" = "custs"."id";

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
INSERT INTO "custs" ("name","bal","created_at","updated_at") VALUES ('a', 9.0, '2026-11-21 04:18:10.297583', '2026-11-21 04:18:10.297585') ON CONFLICT ("name") DO UPDATE SET "bal"=excluded."bal","created_at"=excluded."created_at","updated_at"=excluded."updated_at" RETURNING "id";

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT "custs".* FROM "custs" WHERE "custs"."name" = $1 LIMIT $2;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
ROLLBACK;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT "custs".* FROM "custs" WHERE "custs"."name" = $1 LIMIT $2 FOR UPDATE;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
UPDATE "custs" SET "bal" = $1, "updated_at" = $2 WHERE "custs"."id" = $3;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SAVEPOINT active_record_1;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
DELETE FROM "custs";

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
ROLLBACK TO SAVEPOINT active_record_1;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT COUNT(*) FROM "custs";

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT "custs".* FROM "custs" ORDER BY "custs"."id" ASC LIMIT $1;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT "custs".* FROM "custs" WHERE "custs"."id" > $1 ORDER BY "custs"."id" ASC LIMIT $2;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT extname FROM pg_extension;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT pg_catalog.obj_description(c.oid, 'pg_class')
FROM pg_catalog.pg_class c
  LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = 'custs'
  AND c.relkind IN ('r','p')
  AND n.nspname = ANY (current_schemas(false));

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT conname, pg_get_constraintdef(c.oid) AS constraintdef, c.convalidated AS valid
            FROM pg_constraint c
            JOIN pg_class t ON c.conrelid = t.oid
            WHERE c.contype = 'c'
              AND t.relname = 'custs';

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT t2.oid::regclass::text AS to_table, a1.attname AS column, a2.attname AS primary_key, c.conname AS name, c.confupdtype AS on_update, c.confdeltype AS on_delete, c.convalidated AS valid
FROM pg_constraint c
JOIN pg_class t1 ON c.conrelid = t1.oid
JOIN pg_class t2 ON c.confrelid = t2.oid
JOIN pg_attribute a1 ON a1.attnum = c.conkey[1] AND a1.attrelid = t1.oid
JOIN pg_attribute a2 ON a2.attnum = c.confkey[1] AND a2.attrelid = t2.oid
JOIN pg_namespace t3 ON c.connamespace = t3.oid
WHERE c.contype = 'f'
  AND t1.relname = 'custs'
  AND t3.nspname = ANY (current_schemas(false))
ORDER BY c.conname;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT "custs".* FROM "custs" WHERE "custs"."id" = $1;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
EXPLAIN SELECT "custs".* FROM "custs" WHERE "custs"."id" = $1;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
CREATE TABLE "mig" ("id" bigserial primary key, "z" character varying);

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
DROP TABLE "mig";

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
drop schema ar cascade;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
DEALLOCATE a1;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
SELECT t.oid, t.typname, t.typelem, t.typdelim, ti.proname AS typinput
				FROM pg_type as t
				JOIN pg_proc as ti ON ti.oid = t.typinput;

-- extended: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
select $1::int+1 as a;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
create temp table cp(a int);

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
copy cp from stdin;

-- simple: ruby/pg and ActiveRecord: schema definition, types, associations, schema dump, locking, migrations
select count(*) from cp;
