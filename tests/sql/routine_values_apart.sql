-- Variables that were given each other's values are changed apart: arrays, numbers, rows, jsonb, bytes and texts.
create type pr as (a int, n numeric);
do $$ declare a int[] := array[1,2,3]; b int[]; n numeric := 1.5; m numeric; c numeric := 1.5; r pr := row(1, 2.5); q pr; t text := 'x'; u text;
begin
  b := a; a[1] := 100; raise notice '% %', a, b;
  b := a; b[2] := 7; raise notice '% %', a, b;
  m := n; n := n + 1; raise notice '% %', n, m;
  m := n; n := 9.9; m := m * 2; raise notice '% % %', n, m, c;
  for i in 1..5 loop n := 1.5; n := n + i; m := n; n := 0; raise notice '% %', n, m; end loop;
  q := r; r.n := 7.25; raise notice '% %', r, q;
  q := r; q.a := 5; r := q; q.n := 0.1; raise notice '% %', r, q;
  u := t; t := t || 'y'; u := u || 'z'; t := t || u; raise notice '% %', t, u;
  for i in 1..3 loop u := t; t := t || i; raise notice '% %', t, u; end loop;
  a := case when true then b else a end; b[1] := -1; raise notice '% %', a, b;
  a := coalesce(null, b); a[3] := 55; raise notice '% %', a, b;
end $$;
create function addn(x numeric, y numeric) returns numeric language plpgsql as $$ declare z numeric := x; begin x := x + y; return x * 100 + z; end $$;
create function arr(x int[]) returns int[] language plpgsql as $$ begin x[1] := x[1] + 1; return x; end $$;
do $$ declare n numeric := 3.25; k numeric; a int[] := '{1,2}'; b int[]; begin
 for i in 1..4 loop k := addn(n, 0.75); n := n + 0.25; b := arr(a); a := arr(b); raise notice '% % % %', n, k, a, b; end loop; end $$;
do $$ declare j jsonb := '{"a":1}'; k jsonb; y bytea := '\x0102'; z bytea; begin k := j; j := '{"b":2}'; z := y; y := '\x0909'; raise notice '% % % %', j, k, y, z; j := k; k := '{}'; raise notice '% %', j, k; end $$;
