-- GENERATED ALWAYS AS (...) STORED.
create table g (a int primary key, b int generated always as (a * 2) stored, c text generated always as ('n' || a) stored not null, d int default 5);
insert into g values (1), (2) returning *;
insert into g (a, d) values (3, 7) returning b, c;
insert into g (a, b) values (4, default) returning *;
insert into g (a, b) values (5, 1);
update g set a = 10 where a = 1 returning *;
update g set b = default where a = 2 returning *;
update g set b = 5 where a = 2;
insert into g values (2) on conflict (a) do update set a = 20 returning *;
select * from g order by a;
insert into g select x from generate_series(30, 32) x returning *;
create table chk (a int, b int generated always as (a + 1) stored check (b < 10));
insert into chk values (20);
insert into chk values (5);
update chk set a = 9;
create unique index on chk (b);
insert into chk values (5);
copy g (a, d) from stdin;
50	1
51	2
\.
select * from g where a >= 50 order by a;
copy (select * from g order by a) to stdout;
create table p (id int primary key);
create table c (id int, pid int references p on update cascade on delete set null, twice int generated always as (pid * 2) stored);
insert into p values (1), (2);
insert into c values (1, 1), (2, 2);
update p set id = 5 where id = 1;
delete from p where id = 2;
select * from c order by id;
create table e (a int, b int generated always as (nosuch) stored);
create table e (a int, b timestamptz generated always as (now()) stored);

-- What a stored expression may not be.
CREATE TABLE refused (a int CHECK (a));
CREATE TABLE refused (a int CHECK (max(a) > 1));
CREATE TABLE refused (a int CHECK ((SELECT true)));
CREATE TABLE refused (a int CHECK (a IN (SELECT 1)));
CREATE TABLE refused (a int DEFAULT true);
CREATE TABLE refused (a int DEFAULT (SELECT 1));
CREATE TABLE refused (a int, b bool GENERATED ALWAYS AS (max(a)) STORED);
CREATE TABLE refused (a int, b int GENERATED ALWAYS AS ((SELECT 1)) STORED);
CREATE TABLE refused (a int, b bool GENERATED ALWAYS AS (a) STORED);
CREATE TABLE refused (a int, b bool GENERATED ALWAYS AS (now() > '2000-01-01') STORED);
CREATE TABLE refused (a int, b int GENERATED ALWAYS AS ('abc') STORED);
CREATE TABLE refused (a int, b int GENERATED ALWAYS AS (row_number() OVER ()) STORED);
CREATE TABLE refused (a int, b int GENERATED ALWAYS AS (generate_series(1, 2)) STORED);
CREATE TABLE kept (a int CHECK ('true'), b bool GENERATED ALWAYS AS (a > 1) STORED);
INSERT INTO kept VALUES (1), (2) RETURNING *;
CREATE INDEX ON kept ((SELECT 1));
CREATE INDEX ON kept (a) WHERE (SELECT true);
ALTER TABLE kept ADD CHECK (a + 1);
DROP TABLE kept;
CREATE TABLE kept (a int);
ALTER TABLE kept ADD CHECK (nocol > 1);
ALTER TABLE kept ADD COLUMN z int DEFAULT max(1);
ALTER TABLE kept ADD COLUMN z int DEFAULT nofunc(1);
ALTER TABLE kept ADD COLUMN z int CHECK (max(z) > 1);
ALTER TABLE kept ALTER a SET DEFAULT max(1);
ALTER TABLE kept ALTER a SET DEFAULT true;
ALTER TABLE kept ALTER a TYPE text USING max(a)::text;
DROP TABLE kept;
