-- What tortoise sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: tortoise/generate_schemas, CRUD, prefetch, transaction
drop table if exists tt_o, tt_c;

-- simple: tortoise/generate_schemas, CRUD, prefetch, transaction
SELECT pg_advisory_unlock_all();
CLOSE ALL;
UNLISTEN *;
RESET ALL;

-- simple: tortoise/generate_schemas, CRUD, prefetch, transaction
CREATE TABLE IF NOT EXISTS "tt_c" (
    "id" SERIAL NOT NULL PRIMARY KEY,
    "n" VARCHAR(50) NOT NULL UNIQUE,
    "d" DECIMAL(10,2) NOT NULL,
    "j" JSONB,
    "at" TIMESTAMPTZ NOT NULL
);
CREATE TABLE IF NOT EXISTS "tt_o" (
    "id" BIGSERIAL NOT NULL PRIMARY KEY,
    "q" INT NOT NULL,
    "c_id" INT NOT NULL REFERENCES "tt_c" ("id") ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS "idx_tt_o_q_d4cc5c" ON "tt_o" ("q");

-- extended: tortoise/generate_schemas, CRUD, prefetch, transaction
INSERT INTO "tt_c" ("n","d","j","at") VALUES ($1,$2,$3,$4) RETURNING "id";

-- simple: tortoise/generate_schemas, CRUD, prefetch, transaction
BEGIN;

-- extended: tortoise/generate_schemas, CRUD, prefetch, transaction
INSERT INTO "tt_o" ("q","c_id") VALUES ($1,$2) RETURNING "id";

-- simple: tortoise/generate_schemas, CRUD, prefetch, transaction
COMMIT;

-- extended: tortoise/generate_schemas, CRUD, prefetch, transaction
SELECT "at","d","n","j","id" FROM "tt_c" WHERE "n"=$1 LIMIT $2;

-- extended: tortoise/generate_schemas, CRUD, prefetch, transaction
SELECT "c_id","q","id" FROM "tt_o" WHERE "c_id" IN ($1);

-- extended: tortoise/generate_schemas, CRUD, prefetch, transaction
UPDATE "tt_c" SET "d"=$1 WHERE "n"=$2;

-- extended: tortoise/generate_schemas, CRUD, prefetch, transaction
SELECT "at","d","n","j","id" FROM "tt_c" WHERE "n"=$1 LIMIT $2 FOR UPDATE;

-- simple: tortoise/generate_schemas, CRUD, prefetch, transaction
drop table tt_o, tt_c;
