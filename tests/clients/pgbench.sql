-- What pgbench sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
drop table if exists pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
create table pgbench_history(tid int,bid int,aid    int,delta int,mtime timestamp,filler char(22));

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
create table pgbench_tellers(tid int not null,bid int,tbalance int,filler char(84)) with (fillfactor=100);

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
create table pgbench_accounts(aid    int not null,bid int,abalance int,filler char(84)) with (fillfactor=100);

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
create table pgbench_branches(bid int not null,bbalance int,filler char(88)) with (fillfactor=100);

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
begin;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
truncate table pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
insert into pgbench_branches(bid,bbalance) values(1,0);

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
insert into pgbench_tellers(tid,bid,tbalance) values (1,1,0);

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
copy pgbench_accounts from stdin with (freeze on);

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
commit;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
vacuum analyze pgbench_branches;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
vacuum analyze pgbench_tellers;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
vacuum analyze pgbench_accounts;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
vacuum analyze pgbench_history;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
alter table pgbench_branches add primary key (bid);

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
alter table pgbench_tellers add primary key (tid);

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
alter table pgbench_accounts add primary key (aid);

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
select count(*) from pgbench_accounts;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
select count(*) from pgbench_tellers;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
select count(*) from pgbench_branches;

-- simple: init/-I dtgvp -s 2 (client-side generation by COPY)
select count(*) from pg_index where indrelid='pgbench_accounts'::regclass and indisprimary;

-- simple: init/-I dtGvpf (server-side generation, foreign keys)
insert into pgbench_branches(bid,bbalance) select bid, 0 from generate_series(1, 1) as bid;

-- simple: init/-I dtGvpf (server-side generation, foreign keys)
insert into pgbench_tellers(tid,bid,tbalance) select tid, (tid - 1) / 10 + 1, 0 from generate_series(1, 10) as tid;

-- simple: init/-I dtGvpf (server-side generation, foreign keys)
insert into pgbench_accounts(aid,bid,abalance,filler) select aid, (aid - 1) / 100000 + 1, 0, '' from generate_series(1, 100000) as aid;

-- simple: init/-I dtGvpf (server-side generation, foreign keys)
alter table pgbench_tellers add constraint pgbench_tellers_bid_fkey foreign key (bid) references pgbench_branches;

-- simple: init/-I dtGvpf (server-side generation, foreign keys)
alter table pgbench_accounts add constraint pgbench_accounts_bid_fkey foreign key (bid) references pgbench_branches;

-- simple: init/-I dtGvpf (server-side generation, foreign keys)
alter table pgbench_history add constraint pgbench_history_bid_fkey foreign key (bid) references pgbench_branches;

-- simple: init/-I dtGvpf (server-side generation, foreign keys)
alter table pgbench_history add constraint pgbench_history_tid_fkey foreign key (tid) references pgbench_tellers;

-- simple: init/-I dtGvpf (server-side generation, foreign keys)
alter table pgbench_history add constraint pgbench_history_aid_fkey foreign key (aid) references pgbench_accounts;

-- simple: init/-I dtGvpf (server-side generation, foreign keys)
select count(*) from pg_constraint where contype='f' and conrelid::regclass::text like 'pgbench%';

-- simple: init/--unlogged-tables --fillfactor 90 --index-tablespace pg_default --tablespace pg_default
create unlogged table pgbench_history(tid int,bid int,aid    int,delta int,mtime timestamp,filler char(22)) tablespace "pg_default";

-- simple: init/--unlogged-tables --fillfactor 90 --index-tablespace pg_default --tablespace pg_default
create unlogged table pgbench_tellers(tid int not null,bid int,tbalance int,filler char(84)) with (fillfactor=90) tablespace "pg_default";

-- simple: init/--unlogged-tables --fillfactor 90 --index-tablespace pg_default --tablespace pg_default
create unlogged table pgbench_accounts(aid    int not null,bid int,abalance int,filler char(84)) with (fillfactor=90) tablespace "pg_default";

-- simple: init/--unlogged-tables --fillfactor 90 --index-tablespace pg_default --tablespace pg_default
create unlogged table pgbench_branches(bid int not null,bbalance int,filler char(88)) with (fillfactor=90) tablespace "pg_default";

-- simple: init/--unlogged-tables --fillfactor 90 --index-tablespace pg_default --tablespace pg_default
alter table pgbench_branches add primary key (bid) using index tablespace "pg_default";

-- simple: init/--unlogged-tables --fillfactor 90 --index-tablespace pg_default --tablespace pg_default
alter table pgbench_tellers add primary key (tid) using index tablespace "pg_default";

-- simple: init/--unlogged-tables --fillfactor 90 --index-tablespace pg_default --tablespace pg_default
alter table pgbench_accounts add primary key (aid) using index tablespace "pg_default";

-- simple: init/--unlogged-tables --fillfactor 90 --index-tablespace pg_default --tablespace pg_default
select relpersistence,reloptions::text from pg_class where relname='pgbench_accounts';

-- simple: init/--partitions 4 --partition-method range, then run
create table pgbench_accounts(aid    int not null,bid int,abalance int,filler char(84)) partition by range (aid);

-- simple: init/--partitions 4 --partition-method range, then run
create table pgbench_accounts_1
  partition of pgbench_accounts
  for values from (minvalue) to (25001) with (fillfactor=100);

-- simple: init/--partitions 4 --partition-method range, then run
create table pgbench_accounts_2
  partition of pgbench_accounts
  for values from (25001) to (50001) with (fillfactor=100);

-- simple: init/--partitions 4 --partition-method range, then run
create table pgbench_accounts_3
  partition of pgbench_accounts
  for values from (50001) to (75001) with (fillfactor=100);

-- simple: init/--partitions 4 --partition-method range, then run
create table pgbench_accounts_4
  partition of pgbench_accounts
  for values from (75001) to (maxvalue) with (fillfactor=100);

-- simple: init/--partitions 4 --partition-method range, then run
copy pgbench_accounts from stdin;

-- simple: init/--partitions 4 --partition-method range, then run
select count(*) from pg_inherits where inhparent='pgbench_accounts'::regclass;

-- simple: init/--partitions 4 --partition-method range, then run
select o.n, p.partstrat, pg_catalog.count(i.inhparent) from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on (n.oid = c.relnamespace) cross join lateral (select pg_catalog.array_position(pg_catalog.current_schemas(true), n.nspname)) as o(n) left join pg_catalog.pg_partitioned_table as p on (p.partrelid = c.oid) left join pg_catalog.pg_inherits as i on (c.oid = i.inhparent) where c.relname = 'pgbench_accounts' and o.n is not null group by 1, 2 order by 1 asc limit 1;

-- simple: init/--partitions 4 --partition-method range, then run
vacuum pgbench_branches;

-- simple: init/--partitions 4 --partition-method range, then run
vacuum pgbench_tellers;

-- simple: init/--partitions 4 --partition-method range, then run
truncate pgbench_history;

-- simple: init/--partitions 4 --partition-method range, then run
UPDATE pgbench_accounts SET abalance = abalance + -4958 WHERE aid = 85662;

-- simple: init/--partitions 4 --partition-method range, then run
SELECT abalance FROM pgbench_accounts WHERE aid = 85662;

-- simple: init/--partitions 4 --partition-method range, then run
UPDATE pgbench_tellers SET tbalance = tbalance + -4958 WHERE tid = 9;

-- simple: init/--partitions 4 --partition-method range, then run
UPDATE pgbench_branches SET bbalance = bbalance + -4958 WHERE bid = 1;

-- simple: init/--partitions 4 --partition-method range, then run
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (7, 1, 93617, -2769, CURRENT_TIMESTAMP);

-- simple: init/--partitions 4 --partition-method range, then run
select (select sum(abalance) from pgbench_accounts),(select sum(tbalance) from pgbench_tellers),(select sum(bbalance) from pgbench_branches),(select coalesce(sum(delta),0) from pgbench_history);

-- simple: init/--partitions 4 --partition-method hash, then run
create table pgbench_accounts(aid    int not null,bid int,abalance int,filler char(84)) partition by hash (aid);

-- simple: init/--partitions 4 --partition-method hash, then run
create table pgbench_accounts_1
  partition of pgbench_accounts
  for values with (modulus 4, remainder 0) with (fillfactor=100);

-- simple: init/--partitions 4 --partition-method hash, then run
create table pgbench_accounts_2
  partition of pgbench_accounts
  for values with (modulus 4, remainder 1) with (fillfactor=100);

-- simple: init/--partitions 4 --partition-method hash, then run
create table pgbench_accounts_3
  partition of pgbench_accounts
  for values with (modulus 4, remainder 2) with (fillfactor=100);

-- simple: init/--partitions 4 --partition-method hash, then run
create table pgbench_accounts_4
  partition of pgbench_accounts
  for values with (modulus 4, remainder 3) with (fillfactor=100);

-- simple: run/tpcb balances agree
select count(*) from pgbench_history;

-- extended: pipeline/\startpipeline \endpipeline -M extended
select 1;

-- simple: pipeline/\gset, \aset, \if, expressions, \sleep
select count(*) as n, 7 as m from pgbench_branches;

-- simple: pipeline/\gset, \aset, \if, expressions, \sleep
select 1 + 16;

-- simple: pipeline/\gset, \aset, \if, expressions, \sleep
select 1 as x ; select 2 as y;

-- simple: retry/--max-tries with repeatable read: all succeed, balances agree
drop table if exists pgbench_rt; create table pgbench_rt(id int primary key, v int); insert into pgbench_rt select g,0 from generate_series(1,2) g;

-- simple: retry/--max-tries with repeatable read: all succeed, balances agree
begin isolation level repeatable read;

-- simple: retry/--max-tries with repeatable read: all succeed, balances agree
select v from pgbench_rt where id=2;

-- simple: retry/--max-tries with repeatable read: all succeed, balances agree
update pgbench_rt set v=v+1 where id=2;

-- simple: retry/--max-tries with repeatable read: all succeed, balances agree
ROLLBACK;

-- simple: retry/--max-tries with repeatable read: all succeed, balances agree
select sum(v) from pgbench_rt;

-- simple: retry/deadlocks are retried
update pgbench_rt set v=v+1 where id=3-1;

-- simple: clean/drop tables
drop table if exists pgbench_rt;

-- simple: clean/drop tables
select count(*) from pg_class where relname like 'pgbench%';
