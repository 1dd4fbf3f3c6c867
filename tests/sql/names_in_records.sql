-- A record that a function gives has the names of its results, wherever it is asked for them.
create function two(inout a int, out b text) language plpgsql as $$ begin a := a * 2; b := repeat('x', a); end $$;
create function listed(n int, out number int, out name text) language sql as $$ select n, 'n' || n $$;
create function rows_of(n int) returns table (x int, y text) language sql as $$ select i, 'y' || i from generate_series(1, n) i $$;
create function rows_made(n int) returns table (x int, y text) language plpgsql as $$ begin for i in 1..n loop x := i; y := 'm' || i; return next; end loop; end $$;
create function unnamed(int, out int, out text) language sql as $$ select $1, 'u' $$;
select row_to_json(two(2)), to_jsonb(listed(3)), to_json(unnamed(1));
select row_to_json(rows_of(2)), row_to_json(rows_made(2));
select json_agg(r) from (select rows_of(2) r) s;
select json_build_object('k', listed(1)), json_build_array(two(1)), to_json(row(two(1))), to_json(array[two(1), two(2)]);
select json_agg(two(i) order by i) from generate_series(1, 2) i;
select to_json(coalesce(null, two(1))), to_json(case when true then listed(1) end);
select r, to_json(r) from (values (two(1)), (two(2))) v(r);
select (two(3)).b, two(3), (rows_of(1)).y;
select two(1) = two(1), two(1) = row(2, 'xx'::text), two(1) < listed(9), two(1) is not null;
select count(distinct r) from (select two(1) r union all select two(1) union all select row(2, 'xx'::text)) s;
prepare asked(int) as select to_json(two($1));
execute asked(1);
execute asked(2);
-- In record variables.
do $$ declare v record; begin v := two(3); raise notice '% %', v.a, v.b; v := listed(4); raise notice '% %', v.number, v.name; end $$;
do $$ declare v record; begin v := two(3); v.a := 5; v.b := v.b || v.a; raise notice '% %', v, to_json(v); end $$;
do $$ declare v record; begin select two(3) into v; raise notice '%', to_json(v); select * into v from two(3); raise notice '%', to_json(v); end $$;
do $$ declare v record; begin for v in select * from rows_of(2) loop raise notice '%', to_json(v); end loop; for v in select rows_made(1) r loop raise notice '%', v.r; end loop; end $$;
create function passed() returns record language plpgsql as $$ declare v record; begin v := two(2); return v; end $$;
select passed();
select * from passed() as (p int, q text);
select to_json(passed());
create procedure given(inout a int, inout b text) language plpgsql as $$ begin a := a + 1; b := b || a; end $$;
call given(1, 'x');
do $$ declare a int := 1; b text := 'y'; begin call given(a, b); raise notice '% %', a, b; end $$;
-- Polymorphic results of a set, in a select list.
create function with_number(a anyelement, out b anyelement, out c anyarray, out d int) returns setof record language sql as $$ select a, array[a, a], 1 $$;
select with_number(5);
select with_number(date '2024-02-29'), to_json(with_number('t'::text));
create function from_array(a anyarray, out b anyelement, out d int) returns setof record language sql as $$ select a[1], 2 $$;
select from_array(array['p', 'q']), from_array(array[1.5]);
create function common(a anycompatible, b anycompatible, out c anycompatible, out d anycompatiblearray) returns setof record language sql as $$ select a, array[a, b] $$;
select common(1, 2.5);
create type mood as enum ('sad', 'glad');
select with_number('glad'::mood);
-- Where nobody but the last statement says what a record is, its columns' names are those of the fields.
create function untold() returns record language sql as $$ select 1 as p, 'x'::text as q $$;
select to_json(untold()), untold();
select * from untold() as (r int, s text);
create function untold_rows() returns setof record language sql as $$ select i as p, 'x' || i as q from generate_series(1, 2) i $$;
select to_json(untold_rows());
do $$ declare v record; begin v := untold(); raise notice '%', v.q; end $$;
