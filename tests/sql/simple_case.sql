-- The operand of a simple CASE is computed once, and it is printed as it was written.
create sequence s;
select case nextval('s') when 2 then 'two' when 1 then 'one' else 'none' end, currval('s');
select case floor(random()*3)::int when 0 then 0 when 1 then 1 when 2 then 2 else 99 end as n from generate_series(1, 300) group by 1 order by 1;
select case nextval('s') when (select 2) then 'two' when (select 1 where false) then 'one' when 2.0 then 'x' else 'none' end, currval('s');
create table t (id int primary key, a text, b varchar(10), d date, n numeric, k "char", e text collate "C");
create view v as select case a when 'x' then 1 when b then 2 end as c1, case id when 1 then 'a' when 2.5 then 'b' else 'c' end c2,
 case d when '2020-01-01' then case n when 1 then 2 else case id when n then 3 end end when now() then 4 end c3,
 case (id, a) when (1, 'x') then true else false end c4, case when a = 'x' then 1 end c5,
 case b when 'x' then 1 when a then 2 end c6, case id + 1 when 3 then a::varchar else b end c7,
 case id when null then 1 end c8, case id is null when true then 1 when false then 2 end c9, case e when 'x' then 1 when 'y' collate "POSIX" then 2 end c10, case a collate "C" when 'y' collate "POSIX" then 2 end c11
 from t;
select pg_get_viewdef('v');
select pg_get_viewdef('v', true);
insert into t values (1, 'x', 'x', '2020-01-01', 1), (2, 'b', 'b', current_date, 2);
select c1,c2,c3,c4,c5,c6,c7,c8,c9 from v order by 1;
explain (costs off) select * from t where case a when 'x' then id when b then 2 end = 1;
explain (verbose, costs off) select case id when 1 then 'a' when n then 'b' else 'c' end, case 1 when id then 2 end, case b when 'x' then 1 end from t;
select case 1 when 1 then 'a' when 1/0 then 'b' end;
select case 1 when 2 then 1/0 else 3 end;
prepare p(int) as select case $1 when 0 then 0 else 10/$1 end;
execute p(0);
execute p(5);
prepare p2(int) as select case $1 + 0 when 0 then 0 else 10/$1 end from t;
execute p2(0);
execute p2(5);
prepare p3 as select case $1 when 'a' then 1 when 'b' then 2 end;
execute p3('b');
prepare p4 as select case $1 when 1 then 1 when 2.5 then 2 end;
execute p4(2);
select case 'a' when 1 then 2 end;
select case a when 1 then 2 end from t;
select case a when 'x' then 1 else 'q' end from t;
select case generate_series(1,2) when 1 then 1 end;
select case a when b then count(*) end from t group by a;
select case a when b then count(*) end from t group by a, b order by 1;
select case a when 'x' then count(*) end, case a when 'x' then 1 else 2 end from t group by a, case a when 'x' then 1 else 2 end order by 1;
select a from t group by a, case a when 'x' then 1 else 2 end order by case a when 'x' then 1 else 2 end, case a when 'y' then 1 end;
create index on t ((case a when 'x' then 1 else 2 end));
create index on t (id) where case a when 'x' then true end;
alter table t add check (case id when 7 then false else true end);
insert into t values (7);
alter table t alter column a type varchar(20);
drop view v;
alter table t alter column a type varchar(20);
create domain dd as int;
select case 1::dd when 1 then 2 end;
create view v2 as select case id::dd when 1 then 2 end, case array[id] when array[1] then 1 end, case a::name when 'x' then 1 when a then 2 end, case array[a::varchar] when array['x'] then 1 end from t;
select pg_get_viewdef('v2');
select case (select count(*) from t t2 where t2.id < t.id) when 0 then 'first' when (select 1) then 'second' end from t order by id;
select case coalesce(a, 'q') when (case b when 'x' then 'x' when 'b' then 'b' end) then 1 else 2 end from t;
select pg_get_constraintdef(oid) from pg_constraint where conrelid = 't'::regclass order by conname;
select pg_get_indexdef(indexrelid) from pg_index where indrelid = 't'::regclass order by indexrelid::regclass::text;
SELECT CASE WHEN true THEN ARRAY[1] ELSE ARRAY[timestamp '2024-01-01'] END;
SELECT CASE WHEN true THEN ARRAY[timestamp '2024-01-01'] ELSE ARRAY[1] END;
SELECT CASE WHEN true THEN ARRAY[timestamp '2024-01-01'] WHEN false THEN ARRAY[1] END;
SELECT CASE WHEN true THEN timestamp '2024-01-01' ELSE 1 END;
