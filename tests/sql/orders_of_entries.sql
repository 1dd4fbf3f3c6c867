-- An index gives its rows in the order of its columns, and rows that are equal there in that of the primary key; what sorts a few rows
-- inside a query that is joined, too, goes by an index.
create table message (id int primary key, author int, room int, body text);
insert into message select g, g % 7, nullif(g % 5, 0), 'm' || g from generate_series(1, 500) g;
create index on message (author);
create index on message (room desc, author);
analyze message;

select id from message where author = 3 order by id desc limit 3;
select id, author from message where author = 3 and id < 100 order by id limit 3;
select author, id from message where author in (2, 5) order by author, id limit 4;
select author, id from message where author in (2, 5) order by author desc, id desc limit 4;
select author, id from message where author > 4 order by author, id limit 4;
select author, id from message where author > 4 order by author desc, id desc limit 4;
select author, id from message where author > 4 order by author, id desc limit 4;
select room, author, id from message order by room desc, author, id limit 4;
select room, author, id from message order by room, author desc, id desc limit 4;
select room, author, id from message where room = 4 and author = 2 order by id desc limit 3;
select room, author, id from message where room is null order by author, id limit 3;

create table pair (a int, b int, c int, primary key (a, b));
insert into pair select g % 10, g, g % 3 from generate_series(1, 300) g;
create index on pair (c);
create index on pair (b);
analyze pair;
select * from pair where c = 1 order by a, b limit 3;
select * from pair where c = 1 order by a desc, b desc limit 3;
select * from pair where c = 1 and a = 4 order by b desc limit 3;
select * from pair where b = 17 order by a;

select a.id, m.id, m.body from (values (1), (3), (9)) a (id)
    left join lateral (select * from message where author = a.id order by id desc limit 2) m on true order by 1, 2;
select x.a, l.a from pair x, lateral (select p.a, p.b from pair p where (p.a, p.b) > (x.a, x.b) order by p.a, p.b limit 1) l
    where x.c = 2 order by x.a, x.b limit 5;
select count(*), max(id) from (select id from message where author = 6 order by id limit 5) few;

-- Lists are asked row after row.
create table listed (a int, b bigint, t text, n numeric);
insert into listed select g, g, 'k' || g, g / 2.0 from generate_series(1, 40) g;
insert into listed values (null, null, null, null);
select count(*) from listed where a in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99);
select count(*) from listed where a not in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99);
select count(*) from listed where a not in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, null);
select a, a in (1, 2, 3, 4, 5, 6, 7, 8, 9, null) from listed where a between 8 and 11 or a is null order by a;
select count(*) from listed where b = any ('{1,2,3,4,5,6,7,8,9,10,11}'::int[]);
select count(*) from listed where t = any (array['k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8', 'k9', 'k10', null]);
select count(*) from listed where t <> all (array['k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8', 'k9', 'k10']);
select count(*) from listed where n in (0.5, 1, 1.50, 2.000, 2.5, 3, 3.5, 4, 4.5, 5.0, 77);
select count(*) from listed where a < any (array[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
select count(*) from listed where a <> any (array[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
select count(*) from listed where a = all (array[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
prepare of_list (int[]) as select count(*), sum(a) from listed where a = any ($1);
execute of_list ('{1,2,3,4,5,6,7,8,9,10,11,12}');
execute of_list ('{21,22,23,24,25,26,27,28,29,30,31,32}');
execute of_list ('{1,2,null,4,5,6,7,8,9,10,11,12}');
execute of_list (null);
do $$
declare s int[] := '{1,2,3,4,5,6,7,8,9,10}'; n int;
begin
    for i in 1..3 loop
        select count(*) into n from listed where a = any (s);
        raise notice 'round %: %', i, n;
        s := s || array[10 * i + 1, 10 * i + 2];
    end loop;
end $$;
drop table message, pair, listed;
