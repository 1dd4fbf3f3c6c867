-- What pg8000 sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: pg8000/types by inference, arrays, json, NULL, bytea, dates
begin transaction;

-- extended: pg8000/types by inference, arrays, json, NULL, bytea, dates
select cast($1 as int4);

-- simple: pg8000/executemany, rowcount, copy in and out, error fields, notifications, autocommit, native run
create temp table p8(a int primary key,b text);

-- extended: pg8000/executemany, rowcount, copy in and out, error fields, notifications, autocommit, native run
insert into p8 values($1,$2);

-- simple: pg8000/executemany, rowcount, copy in and out, error fields, notifications, autocommit, native run
select count(*) from p8;

-- extended: pg8000/executemany, rowcount, copy in and out, error fields, notifications, autocommit, native run
copy p8 from stdin with (format csv);

-- extended: pg8000/executemany, rowcount, copy in and out, error fields, notifications, autocommit, native run
copy (select a,b from p8 where a>=100) to stdout;

-- extended: pg8000/executemany, rowcount, copy in and out, error fields, notifications, autocommit, native run
commit;

-- extended: pg8000/executemany, rowcount, copy in and out, error fields, notifications, autocommit, native run
rollback;

-- extended: pg8000/executemany, rowcount, copy in and out, error fields, notifications, autocommit, native run
select $1::int + 1;

-- simple: pg8000/executemany, rowcount, copy in and out, error fields, notifications, autocommit, native run
listen p8ch;

-- simple: pg8000/executemany, rowcount, copy in and out, error fields, notifications, autocommit, native run
notify p8ch,'z';
