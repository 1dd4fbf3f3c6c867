-- What peewee sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
DROP TABLE IF EXISTS "pw_b";

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
DROP TABLE IF EXISTS "pw_a";

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
CREATE TABLE IF NOT EXISTS "pw_a" ("id" SERIAL NOT NULL PRIMARY KEY, "n" VARCHAR(255) NOT NULL, "d" NUMERIC(10, 2) NOT NULL, "t" TIMESTAMP NOT NULL, "b" BYTEA, "u" UUID);

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
CREATE UNIQUE INDEX IF NOT EXISTS "a_n" ON "pw_a" ("n");

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
CREATE TABLE IF NOT EXISTS "pw_b" ("id" SERIAL NOT NULL PRIMARY KEY, "a_id" INTEGER NOT NULL, "q" INTEGER NOT NULL, FOREIGN KEY ("a_id") REFERENCES "pw_a" ("id") ON DELETE CASCADE);

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
CREATE INDEX IF NOT EXISTS "b_a_id" ON "pw_b" ("a_id");

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
CREATE INDEX IF NOT EXISTS "b_q" ON "pw_b" ("q");

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
INSERT INTO "pw_a" ("n", "d", "t", "b") VALUES ('x', '1.50', '2026-11-21T04:17:49.478187'::timestamp, '\x0001'::bytea) RETURNING "pw_a"."id";

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
INSERT INTO "pw_b" ("a_id", "q") VALUES (1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7), (1, 8), (1, 9) RETURNING "pw_b"."id";

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
SELECT COUNT(1) FROM (SELECT 1 FROM "pw_b" AS "t1" WHERE ("t1"."a_id" = 1)) AS "_wrapped" LIMIT 1;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
SELECT "t1"."id", "t1"."n", "t1"."d", "t1"."t", "t1"."b", "t1"."u", SUM("t2"."q") AS "s" FROM "pw_a" AS "t1" INNER JOIN "pw_b" AS "t2" ON ("t2"."a_id" = "t1"."id") GROUP BY "t1"."id", "t1"."n", "t1"."d", "t1"."t", "t1"."b", "t1"."u" LIMIT 1 OFFSET 0;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
BEGIN;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
SAVEPOINT "s70108839571c4276b09b0c65c88cdab7";

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
INSERT INTO "pw_a" ("n", "d", "t") VALUES ('x', 1, '2026-11-21T04:17:49.488815'::timestamp) RETURNING "pw_a"."id";

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
ROLLBACK TO SAVEPOINT "s70108839571c4276b09b0c65c88cdab7";

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
UPDATE "pw_a" SET "d" = ("pw_a"."d" + 1);

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
COMMIT;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
INSERT INTO "pw_a" ("n", "d", "t") VALUES ('x', 9, '2026-11-21T04:17:49.495513'::timestamp) ON CONFLICT ("n") DO UPDATE SET "d" = 9 RETURNING "pw_a"."id";

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
SELECT "t1"."id", "t1"."n", "t1"."d", "t1"."t", "t1"."b", "t1"."u" FROM "pw_a" AS "t1" WHERE ("t1"."n" = 'x') LIMIT 1 OFFSET 0;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = COALESCE(NULL, current_schema()) ORDER BY tablename;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
SELECT c.column_name, c.is_nullable, c.data_type,
                c.column_default,
                pg_catalog.format_type(a.atttypid, a.atttypmod),
                c.is_identity
            FROM information_schema.columns AS c
            INNER JOIN pg_catalog.pg_namespace AS n
                ON (n.nspname = c.table_schema)
            INNER JOIN pg_catalog.pg_class AS t
                ON (t.relname = c.table_name AND t.relnamespace = n.oid)
            INNER JOIN pg_catalog.pg_attribute AS a
                ON (a.attrelid = t.oid AND a.attname = c.column_name)
            WHERE c.table_name = 'pw_b'
                AND c.table_schema = COALESCE(NULL, current_schema())
                AND NOT a.attisdropped
            ORDER BY c.ordinal_position;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
SELECT kc.column_name
            FROM information_schema.table_constraints AS tc
            INNER JOIN information_schema.key_column_usage AS kc ON (
                tc.table_name = kc.table_name AND
                tc.table_schema = kc.table_schema AND
                tc.constraint_name = kc.constraint_name)
            WHERE
                tc.constraint_type = 'PRIMARY KEY' AND
                tc.table_name = 'pw_b' AND
                tc.table_schema = COALESCE(NULL, current_schema())
            ORDER BY kc.ordinal_position;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
SELECT DISTINCT
                kcu.column_name, ccu.table_name, ccu.column_name,
                tc.constraint_name, rc.delete_rule, rc.update_rule
            FROM information_schema.table_constraints AS tc
            JOIN information_schema.key_column_usage AS kcu
                ON (tc.constraint_name = kcu.constraint_name AND
                    tc.constraint_schema = kcu.constraint_schema AND
                    tc.table_name = kcu.table_name AND
                    tc.table_schema = kcu.table_schema)
            JOIN information_schema.constraint_column_usage AS ccu
                ON (ccu.constraint_name = tc.constraint_name AND
                    ccu.constraint_schema = tc.constraint_schema)
            JOIN information_schema.referential_constraints AS rc
                ON (rc.constraint_name = tc.constraint_name AND
                    rc.constraint_schema = tc.constraint_schema)
            WHERE
                tc.constraint_type = 'FOREIGN KEY' AND
                tc.table_name = 'pw_b' AND
                tc.table_schema = COALESCE(NULL, current_schema());

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
SELECT
                i.relname, idxs.indexdef, idx.indisunique,
                ARRAY(
                    SELECT pg_get_indexdef(idx.indexrelid, k + 1, TRUE)
                    FROM generate_subscripts(idx.indkey, 1) AS k
                    ORDER BY k)
            FROM pg_catalog.pg_class AS t
            INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid
            INNER JOIN pg_catalog.pg_index AS idx ON t.oid = idx.indrelid
            INNER JOIN pg_catalog.pg_class AS i ON idx.indexrelid = i.oid
            INNER JOIN pg_catalog.pg_indexes AS idxs ON (
                idxs.tablename = t.relname
                AND idxs.indexname = i.relname
                AND idxs.schemaname = n.nspname)
            WHERE t.relname = 'pw_a' AND t.relkind = 'r'
                AND n.nspname = COALESCE(NULL, current_schema())
            ORDER BY idx.indisunique DESC, i.relname;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
select oid, typname, format_type(oid, NULL) from pg_type;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
SELECT a.attname, a.atttypid FROM pg_catalog.pg_attribute AS a INNER JOIN pg_catalog.pg_class AS t ON a.attrelid = t.oid INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid WHERE t.relname = 'pw_b' AND n.nspname = COALESCE(NULL, current_schema()) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
ALTER TABLE "pw_b" ADD COLUMN "z" TEXT;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
UPDATE "pw_b" SET "z" = '';

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
ALTER TABLE "pw_b" ALTER COLUMN "z" SET NOT NULL;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
ALTER TABLE "pw_b" RENAME COLUMN "z" TO "zz";

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
ALTER TABLE "pw_b" DROP COLUMN "zz" CASCADE;

-- simple: peewee/create_tables, CRUD, atomic nesting, upsert, introspection (pwiz)
CREATE INDEX "pw_b_q_a_id" ON "pw_b" ("q", "a_id");
