-- Triggers with the rows that a statement has changed, and those of TRUNCATE.
create table d (id int primary key, gone int, n int default 0, b text);
alter table d drop column gone;
create table audit (what text, c bigint, s bigint);
create function trans() returns trigger language plpgsql as $$
declare r record; begin
 if tg_op = 'INSERT' then for r in select * from newt order by id loop raise notice 'new %', r; end loop;
   insert into audit select 'insert', count(*), sum(n) from newt;
 elsif tg_op = 'UPDATE' then for r in select o.n as o, w.n as w, w.b from oldt o join newt as w using (id) order by w.id loop raise notice 'both %', r; end loop;
 else raise notice 'deleted %', (select array_agg(id order by id) from oldt); end if; return null; end $$;
create trigger ti after insert on d referencing new table as newt for each statement execute function trans();
create trigger tu after update on d referencing old table as oldt new table as newt for each statement execute function trans();
create trigger td after delete on d referencing old table as oldt for each statement execute function trans();
insert into d (id, n, b) values (5, 1, 'five'), (6, 2, 'six');
insert into d (id, n, b) select 7, 3, 'seven' where false;
update d set n = n + 1;
update d set n = n + 1 where false;
insert into d (id, n) values (5, 9), (8, 8) on conflict (id) do update set n = excluded.n;
copy d from stdin;
20	1	twenty
21	2	twenty-one
\.
alter table d add column extra int default 4;
insert into d (id) values (30);
delete from d where id > 5;
select * from audit;
select pg_get_triggerdef(oid) from pg_trigger where tgrelid = 'd'::regclass order by 1;
create function each() returns trigger language plpgsql as $$ begin raise notice '% of %', new.id, (select count(*) from everything); return null; end $$;
create trigger te after insert on d referencing new table as everything for each row execute function each();
insert into d (id) values (40), (41);
create trigger bad before insert on d referencing new table as x for each statement execute function each();
create trigger bad after insert or update on d referencing new table as x for each statement execute function each();
create trigger bad after insert on d referencing old table as x for each statement execute function each();
create trigger bad after update of n on d referencing old table as x for each statement execute function each();
create trigger bad after update on d referencing old table as x new table as x for each statement execute function each();
create trigger bad after update on d referencing old row as x for each row execute function each();
select * from newt;
-- TRUNCATE
create table e (id int primary key, d int references d);
create function tr() returns trigger language plpgsql as $$ begin raise notice '% % % % %', tg_when, tg_level, tg_op, tg_table_name, (select count(*) from d); return null; end $$;
create trigger tb before truncate on d execute function tr();
create trigger ta after truncate on d execute function tr();
create trigger tc after truncate on e for each statement execute function tr();
truncate d;
truncate d cascade;
alter table d disable trigger tb;
truncate d, e;
create function stop() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
create trigger tz before truncate on e execute function stop();
insert into d (id) values (1);
truncate d, e;
select count(*) from d;
drop table d, e;
