-- What diesel sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
SET TIME ZONE 'UTC';

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
SET CLIENT_ENCODING TO 'UTF8';

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
drop table if exists ds_t;

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
create table ds_t(id int primary key, n varchar not null unique, b bytea, at timestamptz, j jsonb, u uuid, t text[], f float8, act bool not null);

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
INSERT INTO "ds_t" ("id", "n", "b", "at", "j", "u", "t", "f", "act") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING "ds_t"."id", "ds_t"."n", "ds_t"."b", "ds_t"."at", "ds_t"."j", "ds_t"."u", "ds_t"."t", "ds_t"."f", "ds_t"."act";

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
INSERT INTO "ds_t" ("id", "n", "b", "at", "j", "u", "t", "f", "act") VALUES ($1, $2, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $3), ($4, $5, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $6), ($7, $8, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $9), ($10, $11, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $12), ($13, $14, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $15), ($16, $17, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $18), ($19, $20, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $21), ($22, $23, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $24), ($25, $26, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $27), ($28, $29, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $30), ($31, $32, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $33), ($34, $35, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $36), ($37, $38, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $39), ($40, $41, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $42), ($43, $44, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $45), ($46, $47, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $48), ($49, $50, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $51), ($52, $53, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $54), ($55, $56, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $57), ($58, $59, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $60), ($61, $62, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $63), ($64, $65, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $66), ($67, $68, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $69), ($70, $71, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $72), ($73, $74, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $75), ($76, $77, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $78), ($79, $80, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $81), ($82, $83, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $84), ($85, $86, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $87), ($88, $89, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $90), ($91, $92, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $93), ($94, $95, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $96), ($97, $98, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $99), ($100, $101, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $102), ($103, $104, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $105), ($106, $107, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $108), ($109, $110, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $111), ($112, $113, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $114), ($115, $116, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $117), ($118, $119, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $120), ($121, $122, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $123), ($124, $125, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $126), ($127, $128, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $129), ($130, $131, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $132), ($133, $134, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $135), ($136, $137, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $138), ($139, $140, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $141), ($142, $143, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, $144);

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
SELECT "ds_t"."id" FROM "ds_t" WHERE (("ds_t"."act" = $1) AND ("ds_t"."n" LIKE $2)) ORDER BY "ds_t"."id" DESC LIMIT $3 OFFSET $4;

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
SELECT COUNT(*) FROM "ds_t" WHERE ("ds_t"."id" = ANY($1));

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
INSERT INTO "ds_t" ("id", "n", "b", "at", "j", "u", "t", "f", "act") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT ("id") DO UPDATE SET "n" = $10;

-- simple: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE;

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
UPDATE "ds_t" SET "f" = ("ds_t"."f" + $1) WHERE ("ds_t"."id" = $2);

-- simple: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
SAVEPOINT diesel_savepoint_1;

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
DELETE FROM "ds_t";

-- simple: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
ROLLBACK TO SAVEPOINT diesel_savepoint_1;

-- simple: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
COMMIT;

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
SELECT "ds_t"."f" FROM "ds_t" WHERE ("ds_t"."id" = $1) LIMIT $2 FOR UPDATE;

-- extended: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
drop table ds_t;

-- extended: diesel/embedded migrations run, revert
drop table if exists __diesel_schema_migrations, ds_m;

-- extended: diesel/embedded migrations run, revert
CREATE TABLE IF NOT EXISTS __diesel_schema_migrations (
       version VARCHAR(50) PRIMARY KEY NOT NULL,
       run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- extended: diesel/embedded migrations run, revert
SELECT "__diesel_schema_migrations"."version" FROM "__diesel_schema_migrations" ORDER BY "__diesel_schema_migrations"."version" DESC;

-- simple: diesel/embedded migrations run, revert
BEGIN;

-- simple: diesel/embedded migrations run, revert
create table ds_m(a int);

-- extended: diesel/embedded migrations run, revert
INSERT INTO "__diesel_schema_migrations" ("version") VALUES ($1);

-- simple: diesel/embedded migrations run, revert
alter table ds_m add b int;

-- simple: diesel/embedded migrations run, revert
alter table ds_m drop b;

-- extended: diesel/embedded migrations run, revert
DELETE FROM "__diesel_schema_migrations" WHERE ("__diesel_schema_migrations"."version" = $1);

-- simple: diesel/embedded migrations run, revert
drop table ds_m;

-- extended: diesel/embedded migrations run, revert
drop table __diesel_schema_migrations;

-- simple: diesel/insert, batch insert, query, update, upsert, returning, transaction, errors
UNLISTEN *;
