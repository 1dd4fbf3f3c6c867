-- Frames whose start moves on: what leaves is taken out of the state again, with PostgreSQL's scales, NULLs, infinities and FILTER.
create table step (i int primary key, n int, w bigint, d numeric, s interval, f float8, small smallint);
insert into step select g, nullif(g % 7, 3), g * 1000000007::bigint, (g % 11)::numeric / (1 + g % 4), make_interval(days => g % 5, secs => g), g / 8.0, g % 9
    from generate_series(1, 60) g;
insert into step values (61, 5, 1, 1.5000, '1 mon', 1, 1), (62, null, null, null, null, null, null), (63, 5, 2, 2, '1 d', 2, 2), (64, 6, 3, 'NaN', '2 d', 3, 3),
    (65, 7, 4, 0.1, '-1 d', 'NaN', 4), (66, 8, 5, 'Infinity', '0', 5, 5), (67, 8, 5, 4.25, '0', 'Infinity', 5), (68, 9, 6, 4, '1 s', 7, 6),
    (69, 9, 6, 3, '1 s', 7, 6), (70, 9, 6, 2, '1 s', 7, 6);

select i, count(*) over w, count(n) over w, sum(n) over w, avg(n) over w, sum(w) over w, sum(small) over w from step
    window w as (order by i rows between 3 preceding and 1 following) order by i;
select i, sum(d) over w, avg(d) over w, sum(s) over w, avg(s) over w, sum(f) over w from step
    window w as (order by i rows between 2 preceding and current row) order by i;
select i, sum(n) over w, avg(w) over w, sum(d) over w from step
    window w as (order by i range between 4 preceding and 2 preceding) order by i;
select i, sum(n) over w, count(n) over w, sum(d) over w, sum(s) over w from step
    window w as (partition by i % 3 order by i rows between 1 following and 3 following) order by i;
select n, i, sum(i) over w, count(*) over w from step window w as (order by n groups between 1 preceding and 1 following) order by n, i;
select i, sum(n) filter (where i % 2 = 0) over w, count(*) filter (where n > 3) over w, sum(d) filter (where i % 5 <> 0) over w from step
    window w as (order by i rows between 4 preceding and 2 following) order by i;
select i, sum(n) over w, sum(d) over w from step
    window w as (order by i rows between 2 preceding and 2 following exclude current row) order by i;
select i, sum(n) over w, count(*) over w from step window w as (order by i rows between current row and unbounded following) order by i desc limit 8;
select i, sum(n) over w, sum(d) over w from step window w as (order by i desc range between 6 preceding and 5 preceding) order by i limit 12;
select i, variance(n) over w, max(n) over w, string_agg(n::text, ',') over w from step
    window w as (order by i rows between 2 preceding and current row) order by i limit 12;
drop table step;
