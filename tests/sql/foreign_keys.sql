-- Actions of foreign keys: chains, circles, diamonds, what they are refused for.
CREATE TABLE p (id int PRIMARY KEY, code int UNIQUE);
CREATE TABLE a (id int PRIMARY KEY, pid bigint REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE b (id int PRIMARY KEY, aid int REFERENCES a ON DELETE CASCADE, n int DEFAULT 1);
CREATE INDEX a_pid ON a (pid);
INSERT INTO p VALUES (1, 10), (2, 20), (3, 30);
INSERT INTO a VALUES (1, 1), (2, 1), (3, 2);
INSERT INTO b VALUES (1, 1), (2, 2), (3, 3);
DELETE FROM p WHERE id = 1;
SELECT * FROM a ORDER BY id;
SELECT * FROM b ORDER BY id;
UPDATE p SET id = id + 10 RETURNING *;
SELECT * FROM a ORDER BY id;
SELECT id FROM a WHERE pid = 12;
CREATE TABLE kept (aid int REFERENCES a ON DELETE RESTRICT);
INSERT INTO kept VALUES (3);
DELETE FROM p WHERE id = 12;
SELECT count(*) FROM a;
DROP TABLE kept;
CREATE TABLE sn (id int PRIMARY KEY, c int REFERENCES p (code) ON DELETE SET NULL ON UPDATE SET NULL, CHECK (c IS NOT NULL OR id > 1));
INSERT INTO sn VALUES (1, 20), (2, 30);
UPDATE p SET code = 31 WHERE code = 30;
SELECT * FROM sn ORDER BY id;
DELETE FROM p WHERE code = 20;
CREATE TABLE nn (c int NOT NULL REFERENCES p (code) ON DELETE SET NULL);
INSERT INTO nn VALUES (31);
DELETE FROM p WHERE code = 31;
DROP TABLE sn, nn;
CREATE TABLE sd (id int PRIMARY KEY, c int DEFAULT 20 REFERENCES p (code) ON DELETE SET DEFAULT ON UPDATE SET DEFAULT);
INSERT INTO sd VALUES (1, 31), (2, 20);
DELETE FROM p WHERE code = 31;
SELECT * FROM sd ORDER BY id;
UPDATE p SET code = 21 WHERE code = 20;
DELETE FROM p WHERE code = 20;
DROP TABLE sd;
CREATE TABLE tree (id int PRIMARY KEY, up int REFERENCES tree ON DELETE CASCADE ON UPDATE CASCADE);
INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 2), (4, 3), (5, NULL), (6, 6);
UPDATE tree SET id = 20 WHERE id = 2;
UPDATE tree SET id = 60 WHERE id = 6;
SELECT * FROM tree ORDER BY id;
DELETE FROM tree WHERE id IN (1, 60);
SELECT * FROM tree ORDER BY id;
CREATE TABLE x (id int PRIMARY KEY, y int);
CREATE TABLE y (id int PRIMARY KEY, x int REFERENCES x ON DELETE CASCADE);
ALTER TABLE x ADD FOREIGN KEY (y) REFERENCES y ON DELETE CASCADE;
INSERT INTO x VALUES (1, NULL), (2, NULL);
INSERT INTO y VALUES (1, 1), (2, 2);
UPDATE x SET y = 3 - id;
DELETE FROM x WHERE id = 1;
SELECT (SELECT count(*) FROM x) AS x, (SELECT count(*) FROM y) AS y;
CREATE TABLE tenant (id int PRIMARY KEY);
CREATE TABLE one (t int REFERENCES tenant ON DELETE CASCADE ON UPDATE CASCADE, id int, PRIMARY KEY (t, id));
CREATE TABLE two (t int REFERENCES tenant ON DELETE CASCADE ON UPDATE CASCADE, one int, id int, PRIMARY KEY (t, id), FOREIGN KEY (t, one) REFERENCES one ON UPDATE CASCADE);
INSERT INTO tenant VALUES (1), (2);
INSERT INTO one VALUES (1, 1), (2, 1);
INSERT INTO two VALUES (1, 1, 1), (1, 1, 2), (2, 1, 1);
UPDATE tenant SET id = 3 WHERE id = 1;
SELECT * FROM two ORDER BY t, id;
UPDATE tenant SET id = 3 WHERE id = 2;
DELETE FROM tenant WHERE id = 3;
SELECT * FROM two ORDER BY t, id;
SELECT * FROM one ORDER BY t, id;
CREATE TABLE self (id int PRIMARY KEY, up int REFERENCES self ON DELETE RESTRICT);
INSERT INTO self VALUES (1, NULL), (2, 1);
DELETE FROM self WHERE id = 1;
DELETE FROM self;
CREATE TABLE narrow (c smallint REFERENCES p ON UPDATE CASCADE);
INSERT INTO p VALUES (5, 50);
INSERT INTO narrow VALUES (5);
UPDATE p SET id = 70000 WHERE id = 5;
INSERT INTO p VALUES (5, 51) ON CONFLICT (id) DO UPDATE SET id = 6;
SELECT * FROM narrow;
BEGIN;
SAVEPOINT s;
DELETE FROM p WHERE id = 12;
SELECT count(*) FROM a;
ROLLBACK TO s;
SELECT count(*) FROM a;
COMMIT;
DROP TABLE a, b, p, tree, x, y, one, two, tenant, self, narrow CASCADE;

-- Parts of one statement: a child may come before its parent.
CREATE TABLE part_parent (id int PRIMARY KEY);
CREATE TABLE part_child (id int PRIMARY KEY, parent int REFERENCES part_parent);
WITH n AS (INSERT INTO part_parent VALUES (10)) INSERT INTO part_child VALUES (10, 10);
WITH c AS (INSERT INTO part_child VALUES (11, 11) RETURNING id), p AS (INSERT INTO part_parent SELECT 11 RETURNING id) SELECT c.id, p.id FROM c, p;
WITH c AS (INSERT INTO part_child VALUES (12, 12)) INSERT INTO part_parent VALUES (12);
WITH p AS (INSERT INTO part_parent VALUES (13)) UPDATE part_child SET parent = 13 WHERE id = 10 RETURNING *;
WITH p AS (INSERT INTO part_parent VALUES (14)) INSERT INTO part_child VALUES (10, 14) ON CONFLICT (id) DO UPDATE SET parent = excluded.parent RETURNING *;
WITH p AS (INSERT INTO part_parent VALUES (15)) INSERT INTO part_child VALUES (15, 16);
WITH p AS (DELETE FROM part_parent WHERE id = 14) UPDATE part_child SET parent = NULL WHERE parent = 14 RETURNING *;
WITH p AS (DELETE FROM part_parent WHERE id = 13) INSERT INTO part_child VALUES (20, 13);
WITH p AS (UPDATE part_parent SET id = 30 WHERE id = 13) INSERT INTO part_child VALUES (30, 30);
SELECT * FROM part_parent ORDER BY id;
SELECT * FROM part_child ORDER BY id;
-- ON DELETE SET NULL and SET DEFAULT of some columns.
create table tenants (id int primary key);
create table users (tenant int references tenants on delete cascade, id int not null, primary key (tenant, id));
create table posts (
    tenant int references tenants on delete cascade,
    id int,
    author int,
    editor int default 1,
    primary key (tenant, id),
    foreign key (tenant, author) references users on delete set null (author),
    constraint edited foreign key (tenant, editor) references users on delete set default (editor) on update cascade
);
insert into tenants values (1), (2);
insert into users values (1, 1), (1, 2), (1, 3), (2, 1), (2, 3);
insert into posts values (1, 10, 2, 3), (1, 11, 3, 2), (1, 12, 2, 2), (2, 10, 3, 1);
delete from users where tenant = 1 and id = 2;
select * from posts order by tenant, id;
delete from users where id = 3;
select * from posts order by tenant, id;
update users set id = 4 where tenant = 2;
select * from posts order by tenant, id;
delete from users where id = 1;
select * from posts order by tenant, id;
select conname, pg_get_constraintdef(oid), confdelsetcols from pg_constraint where conrelid = 'posts'::regclass and contype = 'f' order by conname;
create table one (a int references tenants on delete set null (a), b int);
create table bad (a int, b int, foreign key (a) references tenants on delete set null (b));
create table bad (a int, b int, foreign key (a) references tenants on delete set null (c));
create table bad (a int, b int, foreign key (a) references tenants on update set null (a));
create table bad (a int, b int, foreign key (a) references tenants on delete cascade (a));
alter table one add foreign key (b) references tenants on delete set default (b);
insert into one values (1, 2);
delete from tenants where id = 1;
select * from one;
drop table one, posts, users, tenants;
