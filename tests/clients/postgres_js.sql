-- What postgres.js sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- extended: postgres.js/tagged queries, types, arrays from pg_type, json, nested fragments, dynamic insert
select b.oid, b.typarray
      from pg_catalog.pg_type a
      left join pg_catalog.pg_type b on b.oid = a.typelem
      where a.typcategory = 'A'
      group by b.oid, b.typarray
      order by b.oid;

-- extended: postgres.js/tagged queries, types, arrays from pg_type, json, nested fragments, dynamic insert
drop table if exists pjs_t;

-- extended: postgres.js/tagged queries, types, arrays from pg_type, json, nested fragments, dynamic insert
create table pjs_t(a int,b text,c int[],d jsonb,e timestamptz,f bool);

-- extended: postgres.js/tagged queries, types, arrays from pg_type, json, nested fragments, dynamic insert
insert into pjs_t ("a","b","c","d","e","f")values($1,$2,$3,$4,$5,$6),($7,$8,$9,$10,$11,$12);

-- extended: postgres.js/tagged queries, types, arrays from pg_type, json, nested fragments, dynamic insert
select * from pjs_t where a in ($1,$2) order by a;

-- extended: postgres.js/tagged queries, types, arrays from pg_type, json, nested fragments, dynamic insert
update pjs_t set "b"=$1 where a=$2 returning b;

-- extended: postgres.js/tagged queries, types, arrays from pg_type, json, nested fragments, dynamic insert
select $1::int[] as x;

-- extended: postgres.js/tagged queries, types, arrays from pg_type, json, nested fragments, dynamic insert
drop table pjs_t;

-- simple: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
begin;

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
create temp table z(a int primary key);

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
insert into z values(1);

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
savepoint "s0";

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
rollback to "s0";

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
select count(*)::int n from z;

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
commit;

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
select g from generate_series(1,100) g;

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
listen "pjs_ch";

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
select pg_notify($1, $2);

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
unlisten "pjs_ch";

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
select * from nope_r;

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
create table if not exists pjs_c(a int);

-- simple: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
copy pjs_c from stdin;

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
select count(*)::int n from pjs_c;

-- extended: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
drop table pjs_c;

-- simple: postgres.js/begin, savepoint, cursor, copy, describe, listen, errors, pipelined burst
select 1; select 2;
