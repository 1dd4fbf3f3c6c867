-- What drizzle sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
drop table if exists dz_t; drop schema if exists drizzle cascade;

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
CREATE SCHEMA IF NOT EXISTS "drizzle";

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
CREATE TABLE IF NOT EXISTS "drizzle"."__drizzle_migrations" (
				id SERIAL PRIMARY KEY,
				hash text NOT NULL,
				created_at bigint
			);

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
select id, hash, created_at from "drizzle"."__drizzle_migrations" order by created_at desc limit 1;

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
begin;

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
create table dz_t(id serial primary key, n text not null, j jsonb, w timestamp default now());

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
create index dz_i on dz_t(n);

-- extended: drizzle/insert returning, select join, transaction, prepared, migrate
insert into "drizzle"."__drizzle_migrations" ("hash", "created_at") values($1, $2);

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
commit;

-- extended: drizzle/insert returning, select join, transaction, prepared, migrate
insert into "dz_t" ("id", "n", "j", "w") values (default, $1, $2, default), (default, $3, default, default) returning "id", "n", "j", "w";

-- extended: drizzle/insert returning, select join, transaction, prepared, migrate
select count(*)::int from "dz_t" where "dz_t"."n" = $1;

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
begin isolation level repeatable read;

-- extended: drizzle/insert returning, select join, transaction, prepared, migrate
update "dz_t" set "n" = $1 where "dz_t"."id" = $2;

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
savepoint sp1;

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
rollback to savepoint sp1;

-- extended: drizzle/insert returning, select join, transaction, prepared, migrate
select "id", "n", "j", "w" from "dz_t" where "dz_t"."n" = $1;

-- extended: drizzle/insert returning, select join, transaction, prepared, migrate
insert into "dz_t" ("id", "n", "j", "w") values ($1, $2, default, default) on conflict ("id") do update set "n" = $3;

-- simple: drizzle/insert returning, select join, transaction, prepared, migrate
drop table dz_t; drop schema drizzle cascade;
