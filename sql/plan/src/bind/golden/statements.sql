select a, b, up from t
select * from t
select t.* from t
select x.a from t as x
select t.a from t as x
select a as "A b", a + 1, a::text, upper(b), count(*) from t group by a, b
select 1, 'x', 1.5, null, true, 2147483648, 9223372036854775808, -9223372036854775808, -2147483648
select 1 + 2147483648, 1 + 1.5, 1.5 + 1::float8, 2 ^ 3, 7 / 2, 7 % 2::bigint
select case when a > 1 then 1 else 2.5 end, coalesce(null, a), nullif(a, 1), greatest(1, 2.5), least('a', b) from t
select current_date, current_timestamp, current_user, localtime
select a between 1 and 2, a in (1, 2), b like 'x%', b ilike 'y', b similar to 'z', a is null, a is distinct from 2 from t
select array[1, 2], array[1, 2.5], array['a', null], (array[1, 2])[1], array[[1], [2]]
select exists (select 1), (select 2), array(select a from t), a = any (select 1), a = any (array[1, 2]) from t
select extract(year from current_date), substring('abc' from 2), position('a' in 'b'), trim(both 'x' from 'y'), overlay('a' placing 'b' from 1)
select timestamp '2000-01-01' at time zone 'UTC', now() - interval '1 day', date '2000-01-01' + 1, date '2000-01-02' - date '2000-01-01'
select 'pg_class'::regclass, 't'::regclass::oid, 1::oid, 'a'::name, 'x'::char(3), 'x'::varchar(5), 1.5::numeric(10, 2)
select sum(a), avg(a), min(b), max(a), count(distinct a), string_agg(b, ','), array_agg(a), bool_and(a > 1) from t
select row_number() over (order by a), lag(a) over (partition by b order by a), sum(a) over w from t window w as (order by a)
select a from t order by 1
select a from t order by b desc nulls last limit 1 offset 2
select distinct a from t order by a
select distinct on (a) a, b from t order by a, b
select a from t union select 1.5
select 'x' union all select b from t
select a from t intersect select 1 order by a
values (1, 'x'), (2.5, null)
with x as (select a from t) select * from x
with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select n from r
with d as (delete from t returning a) select * from d
select * from t join t s on t.a = s.up
select * from t join t s using (a)
select * from t natural join t s
select * from t left join lateral (select t.a + 1 as c) q on true
select * from generate_series(1, 3)
select * from generate_series(1, 3) as g(n)
select * from generate_series(1, 3) with ordinality as g(n, o)
select * from unnest(array[1, 2]) u
select g from generate_series(1, 2) g
select a from t for update
select a from t where a = $1
select a from t where b = $1 and a > $2
select $1
select $1 + 1
select $1 || 'x'
select $1::int, $2::text
select a from t limit $1
insert into t (a, b) values ($1, $2)
insert into t values (1, 'x', 1)
insert into t (a) select a + 1 from t
insert into t (a) values (default)
insert into t default values
insert into t (a, b) values (1, 'x') on conflict (a) do update set b = excluded.b where t.a > 1 returning a, b
insert into t (a) values (1) on conflict do nothing
update t set b = 'y', up = a + 1 where a = 1 returning *
update t set (b, up) = ('x', 1)
update t set (b, up) = (select 'x', 1)
update t set b = s.b from t s where s.a = t.a
update t set b = default
delete from t where a = 1
delete from t using t s where s.a = t.a returning t.a
select from t
select
select a as x from t order by x
select a + 1 as x from t group by x
select a + 1 as x from t group by 1 having count(*) > 1
select count(*) filter (where a > 1) from t
select (a, b) from t
select row(a, b) = row(1, 'x') from t
select not a = 1 from t
select a::int8 + 1, a::int2 from t
select b || 1, 1 || 'x' from t
select '1' + 1, '1'::int + '2'
select a = '1' from t
select pg_typeof(a) from t
select format_type(1043, 14), current_schemas(false), array_position(array[1, 2], 2)
select oid, relname from pg_class
select oid::regclass from pg_class where relname = 't'
select n.nspname, c.relname from pg_catalog.pg_class c left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
select ctid, xmin, tableoid from t
select public.t.a from public.t
select abs(-1), abs(-1.5), round(1.5), round(1.234, 2), length('x'), lower('X'), mod(5, 2)
select nope
select nope from t
select t.nope from t
select nope.a from t
select a from nope
select a from nope.t
select a from public.nope
select a, a from t, t
select a from t, t s
select nofunc(1)
select upper(1)
select upper(1, 2)
select 1 + true
select 'a' + 'b'
select a + b from t
select -b from t
select a from t where a
select a from t where b = 1
select a from t where count(*) > 1
select a, count(*) from t
select b from t group by a
select b from t group by up
select sum(sum(a)) from t
select a from t having a > 1
select a from t order by 2
select a from t group by 2
select a from t order by nope
select a from t union select b from t
select a, b from t union select a from t
select case when 1 then 2 end
select case when true then 1 else 'x' end
select case when true then 1 else true end
select coalesce(1, 'x')
select coalesce(1, true)
select array[1, 'x']
select array[1, true]
select (select 1, 2)
select a in (select 1, 2) from t
select 1 in ('x')
select 'x'::int
select 'x'::nope
select cast(true as timestamp)
select a::bool, 1::bool, 1::float8::bool from t
select '2000-13-01'::date
select t.a from t join t s on s.a
select * from t join t s using (nope)
select *
select a.* from t
select a from t limit 'x'
select rank() from t
select sum(a) over nope from t
select a from t where row_number() over () = 1
insert into t (nope) values (1)
insert into t (a, a) values (1, 2)
insert into t (a) values (1, 2)
insert into t (a, b) values (1)
insert into t values (1, 2, 3, 4)
insert into t (a) values ('x')
insert into t (a) values (true)
insert into t (b) values (1)
insert into nope values (1)
insert into t (a) values (1) on conflict do update set b = 'x'
insert into t (a) values (1) returning nope
update t set nope = 1
update t set a = true
update t set a = 1, a = 2
update t set (a, b) = (1)
update nope set a = 1
delete from nope
delete from t where nope
select a from t for update of nope
select distinct a from t order by b
select distinct on (a) a from t order by b
select count(*) from t for update
with x as (select 1) select * from y
with x as (select 1), x as (select 2) select 1
select * from generate_series(1, 2, 3, 4)
select * from (select 1, 2) x(a, b, c)
select * from t x(a, b, c, d)
values (1), (1, 2)
values (default)
select default
select $1 = $2
select a from t group by rollup (a)
select a, b, count(*) from t group by grouping sets ((a, b), (a), ())
select sum(distinct a order by b) from t
select 1 is true
select null is true, 'true' is true
select 'x' like 1
select a[1] from t
select (a).x from t
select generate_series(1, 2)
select a from t where generate_series(1, 2) = 1
select interval '1 day' * 2, '1 day' * 2
select 5 = any ('{1,2}')
select 5 = any (5)
select 1 where 1 = all (array[1])
select (1, 2) = (1, 2), (1, 2) < (1, 3), (1, 2) in ((1, 2))
select (1, 2) = (1, 2, 3)
select 'a' collate "C", 'b' collate nope
select 'a' < 'b' collate "C"
select cast('x' as varchar(2)), 'abc'::bpchar
