-- What knex sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
select version();

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
drop table if exists "kx_b";

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
drop table if exists "kx_a";

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
create table "kx_a" ("id" serial primary key, "n" varchar(40) not null, "d" decimal(12, 2) default '0', "j" jsonb, "e" text check ("e" in ('a', 'b')), "created_at" timestamptz not null default CURRENT_TIMESTAMP, "updated_at" timestamptz not null default CURRENT_TIMESTAMP, "u" uuid, "tags" text[]);

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
comment on table "kx_a" is 'c';

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
alter table "kx_a" add constraint "kx_a_n_unique" unique ("n");

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
create table "kx_b" ("id" bigserial primary key, "a_id" integer);

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
alter table "kx_b" add constraint "kx_b_a_id_foreign" foreign key ("a_id") references "kx_a" ("id") on delete CASCADE;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
create index "kx_b_a_id_index" on "kx_b" ("a_id");

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
select * from information_schema.tables where table_name = $1 and table_schema = current_schema();

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
select * from information_schema.columns where table_name = $1 and column_name = $2 and table_schema = current_schema();

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
alter table "kx_a" add column "x" text;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
alter table "kx_a" alter column "n" drop default;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
alter table "kx_a" alter column "n" drop not null;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
alter table "kx_a" alter column "n" type varchar(80) using ("n"::varchar(80));

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
alter table "kx_a" alter column "n" set not null;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
alter table "kx_a" rename "x" to "y";

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
alter table "kx_a" drop column "y";

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
insert into "kx_a" ("e", "j", "n", "tags") values ($1, $2, $3, $4), (DEFAULT, DEFAULT, $5, DEFAULT) returning "id", "n";

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
insert into "kx_b" ("a_id") values ($1);

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
select "a"."n", count("b"."id") as "c" from "kx_a" as "a" left join "kx_b" as "b" on "a"."id" = "b"."a_id" group by "a"."n" order by "a"."n" asc limit $1;

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
insert into "kx_a" ("d", "n") values ($1, $2) on conflict ("n") do update set "d" = excluded."d", "n" = excluded."n";

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
select * from "kx_a" where "n" = $1 limit $2;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
BEGIN;

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
update "kx_a" set "d" = $1 where "n" = $2;

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
update "kx_a" set "d" = "d" + $1;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
COMMIT;

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
select * from information_schema.columns where table_name = $1 and table_catalog = current_database() and table_schema = current_schema();

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
drop table "kx_b";

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
drop table "kx_a";

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
create table "knex_migrations" ("id" serial primary key, "name" varchar(255), "batch" integer, "migration_time" timestamptz);

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
create table "knex_migrations_lock" ("index" serial primary key, "is_locked" integer);

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
select * from "knex_migrations_lock";

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
insert into "knex_migrations_lock" ("is_locked") values ($1);

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
select "name" from "knex_migrations" order by "id" asc;

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
update "knex_migrations_lock" set "is_locked" = $1 where "is_locked" = $2;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
select max("batch") as "max_batch" from "knex_migrations";

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
create table "kx_m" ("id" serial primary key);

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
insert into "knex_migrations" ("batch", "migration_time", "name") values ($1, $2, $3);

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
update "knex_migrations_lock" set "is_locked" = $1;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
select * from "knex_migrations" where "batch" = (select max("batch") from "knex_migrations") order by "id" desc;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
drop table "kx_m";

-- extended: knex/schema builder, migrations, query builder, transaction, columnInfo
delete from "knex_migrations" where "name" = $1;

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
drop table "knex_migrations";

-- simple: knex/schema builder, migrations, query builder, transaction, columnInfo
drop table "knex_migrations_lock";
