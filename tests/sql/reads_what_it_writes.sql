-- Statements that read the table they write see what was there when they began, however much they have written.

create table heap (a int, b text);
insert into heap select g, 'row ' || g from generate_series(1, 15000) g;
insert into heap select a + 15000, b from heap;
select count(*), sum(a) from heap;

begin;
create table keyed (a int primary key, b int);
create index on keyed (b);
insert into keyed select g, g from generate_series(1, 8000) g;
insert into keyed select a + 8000, b from keyed;
update keyed set b = b + 100000 where b > 0;
update keyed set a = a + 100000;
delete from keyed where a in (select a + 1 from keyed where a % 2 = 0);
select count(*), sum(a), sum(b) from keyed;
commit;

with copied as (insert into keyed select a + 80000, b from keyed returning a)
select count(*), max(a) from copied;

do $$
declare r record;
begin
    for r in select a from keyed order by a loop
        insert into heap values (-r.a, 'seen');
        if r.a % 100 = 0 then
            update keyed set b = -1 where a = r.a + 2;
        end if;
    end loop;
end $$;
select count(*), min(a) from heap;
select count(*) from keyed where b = -1;

drop table heap, keyed;
