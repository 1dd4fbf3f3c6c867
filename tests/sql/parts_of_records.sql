-- Elements of fields of record variables, which have no type that would know them.
create type pair as (a int, arr int[]);
do $$ declare v record; begin select 1 as a, array[1, 2] as arr, '{"x": 1}'::jsonb as j into v; v.arr[1] := 5; v.j['x'] := '7'; v.arr[4] := v.arr[1] + 1; raise notice '% %', v, to_json(v); end $$;
do $$ declare v record; begin v := (1, array[1, 2])::pair; v.arr[2] := 9; v.a := 3; raise notice '% %', v, to_json(v); end $$;
do $$ declare v record; begin select null::int[] as arr, 'x' as t into v; v.arr[2:3] := '{4, 5}'; raise notice '%', to_json(v); end $$;
do $$ declare v record; begin select array[[1, 2], [3, 4]] as m into v; v.m[2][1] := 7; raise notice '%', v.m; end $$;
do $$ declare v record; begin select row(1, array[2])::pair as p into v; v.p.arr[1] := 8; v.p.a := 6; raise notice '%', to_json(v); end $$;
do $$ declare v record; begin select 1 as a into v; v.b[1] := 5; end $$;
do $$ declare v record; begin select 1 as a into v; v.a[1] := 5; end $$;
do $$ declare v record; begin for i in 1..3 loop if i = 1 then select array[0] as arr into v; else select 'other' as t, array[i] as arr into v; end if; v.arr[1] := v.arr[1] + 10 * i; raise notice '%', to_json(v); end loop; end $$;
create function filled(n int) returns json language plpgsql as $$ declare v record; begin select '{}'::int[] as arr, 0 as s into v; for i in 1..n loop v.arr[i] := i; v.s := v.s + v.arr[i]; end loop; return to_json(v); end $$;
select filled(3), filled(4);
create table t (a int, arr int[], p pair);
insert into t values (1, '{1,2}', (1, '{3}'));
do $$ declare v record; begin for v in select * from t loop v.arr[1] := 42; v.p.arr[2] := 4; raise notice '% %', v, v.p; end loop; end $$;
update t set p.arr[1] = 9, p.a = null returning *;
update t set p = null returning *;
update t set p.a = 2 returning *;
