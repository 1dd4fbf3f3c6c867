-- What pgbouncer sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
select 1;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
DISCARD ALL;

-- extended: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
select $1::int+1;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
begin;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
commit;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
SET application_name='pgbench';

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
drop table if exists pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
create table pgbench_history(tid int,bid int,aid    int,delta int,mtime timestamp,filler char(22));

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
create table pgbench_tellers(tid int not null,bid int,tbalance int,filler char(84)) with (fillfactor=100);

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
create table pgbench_accounts(aid    int not null,bid int,abalance int,filler char(84)) with (fillfactor=100);

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
create table pgbench_branches(bid int not null,bbalance int,filler char(88)) with (fillfactor=100);

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
truncate table pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
insert into pgbench_branches(bid,bbalance) values(1,0);

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
insert into pgbench_tellers(tid,bid,tbalance) values (1,1,0);

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
copy pgbench_accounts from stdin with (freeze on);

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
vacuum analyze pgbench_branches;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
vacuum analyze pgbench_tellers;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
vacuum analyze pgbench_accounts;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
vacuum analyze pgbench_history;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
alter table pgbench_branches add primary key (bid);

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
alter table pgbench_tellers add primary key (tid);

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
alter table pgbench_accounts add primary key (aid);

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
select count(*) from pgbench_branches;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
select o.n, p.partstrat, pg_catalog.count(i.inhparent) from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on (n.oid = c.relnamespace) cross join lateral (select pg_catalog.array_position(pg_catalog.current_schemas(true), n.nspname)) as o(n) left join pg_catalog.pg_partitioned_table as p on (p.partrelid = c.oid) left join pg_catalog.pg_inherits as i on (c.oid = i.inhparent) where c.relname = 'pgbench_accounts' and o.n is not null group by 1, 2 order by 1 asc limit 1;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
UPDATE pgbench_accounts SET abalance = abalance + 4970 WHERE aid = 73387;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
SELECT abalance FROM pgbench_accounts WHERE aid = 73387;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
UPDATE pgbench_tellers SET tbalance = tbalance + 4970 WHERE tid = 3;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
UPDATE pgbench_branches SET bbalance = bbalance + 4970 WHERE bid = 1;

-- simple: pgbouncer/in front of the server, transaction pooling, prepared and simple clients
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (3, 1, 73387, 4970, CURRENT_TIMESTAMP);
