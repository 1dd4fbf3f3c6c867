-- What EXISTS and IN ask of the outer row alone is asked of it once, however many partners it may have.
create table sf_a (x int, y int);
create table sf_b (x int, z int);
insert into sf_a values (1, 1), (2, 0), (3, 1);
insert into sf_b values (1, 10), (1, 20), (2, 30), (3, 40), (3, 50);
create function sf_asks(int, bool) returns bool stable language plpgsql as $$ begin raise notice 'asked of %', $1; return $2; end $$;
select x from sf_a where exists (select 1 from sf_b where z > 5 and sf_a.x <= sf_b.x and sf_asks(sf_a.x, y = 1)) order by x;
select x from sf_a where x in (select x from sf_b where sf_asks(sf_a.x, y = 0)) order by x;
select x from sf_a where exists (select 1 from sf_b where sf_b.x = sf_a.x and not exists (select 1 from sf_b l where l.x = sf_a.y)) order by x;
select x from sf_a where exists (select 1 from sf_b where sf_b.x = sf_a.x and not exists (select 1 from sf_b l where l.x = sf_a.y and l.z = sf_b.z)) order by x;
select l.x, r.y from sf_a l, sf_a r where l.x = r.x and exists (select 1 from sf_b where sf_b.x = r.x and l.y = 1) order by 1;
select x from sf_a where exists (select 1 from sf_b where sf_a.x = 2) order by x;
select x from sf_a where not exists (select 1 from sf_b where sf_b.x = sf_a.x and sf_a.y = 1) order by x;
select x from sf_a where (x, y) in (select x, 1 from sf_b where sf_a.y is not null) order by x;
select x, exists (select 1 from sf_b where sf_b.x = sf_a.x and y = 0) from sf_a order by x;
delete from sf_a where exists (select 1 from sf_b where sf_b.x = sf_a.x and y = 0) returning x;
update sf_a set y = 5 where exists (select 1 from sf_b where sf_b.x = sf_a.x and sf_asks(sf_a.x, sf_a.x = 3)) returning *;
