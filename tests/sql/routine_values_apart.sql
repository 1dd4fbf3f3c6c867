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

-- Fields that a loop assigns: of the type of the value, of another one, of rows of other shapes, of none.
CREATE FUNCTION fields_in_turn() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE r record; s record;
BEGIN
  SELECT 1 AS a, 'x'::text AS b, 2.5::numeric(4,2) AS c INTO r;
  FOR i IN 1..4 LOOP
    r.a := i; r.b := 'row ' || i; r.c := i / 3.0;
    s := r; r.a := r.a + 10; r.b := NULL;
    RETURN NEXT r::text || s::text;
  END LOOP;
  FOR i IN 1..3 LOOP
    r.a := i * 1.6; r.b := i;
    RETURN NEXT r::text;
  END LOOP;
  FOR i IN 1..4 LOOP
    IF i % 2 = 0 THEN SELECT 'text'::text AS a, 0 AS z INTO r; ELSE SELECT 5::bigint AS z, 0 AS a INTO r; END IF;
    r.a := i; r.z := i + 1;
    RETURN NEXT r::text;
  END LOOP;
  FOR i IN 1..3 LOOP
    BEGIN r.none := i; EXCEPTION WHEN others THEN RETURN NEXT sqlerrm; END;
    BEGIN r.a := 'x' || i; RETURN NEXT r::text; EXCEPTION WHEN others THEN RETURN NEXT sqlerrm; END;
  END LOOP;
END $$;
SELECT fields_in_turn();
SELECT fields_in_turn();

-- Elements behind the last one: where the array lies, and where others have been given it; with gaps, bounds and dimensions of its own.
CREATE FUNCTION elements_in_turn() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE a int[]; b int[]; c bigint[]; d float8[]; e int[]; s text[];
BEGIN
  FOR i IN 1..6 LOOP
    a[i] := i; b := a; b[i + 1] := -i; c[i] := i; d[i] := i / 4.0::float8; s[i] := 's' || i;
    b[1] := 100; a[2] := 7;
    RETURN NEXT concat_ws(' ', a, b, c, d, s);
  END LOOP;
  FOR i IN 1..3 LOOP
    a[10 + 2 * i] := i; a[-i] := i;
    RETURN NEXT a::text;
  END LOOP;
  a := '[-2:0]={1,2,3}';
  FOR i IN 1..4 LOOP a[i] := i; c[array_upper(c, 1) + 1] := NULL; c[array_upper(c, 1) + 1] := i; END LOOP;
  RETURN NEXT a::text || c::text;
  a := '{}'; b := ARRAY[[1, 2], [3, 4]]; e := '[2147483646:2147483646]={1}';
  FOR i IN 1..2 LOOP
    a[i + 3] := i;
    BEGIN b[3] := i; EXCEPTION WHEN others THEN RETURN NEXT sqlerrm; END;
    BEGIN e[2147483645 + i + 1] := i; RETURN NEXT e::text; EXCEPTION WHEN others THEN RETURN NEXT sqlerrm; END;
    b[i][1] := 10 * i;
    RETURN NEXT a::text || b::text;
  END LOOP;
END $$;
SELECT elements_in_turn();
SELECT elements_in_turn();

-- A trigger that gives the row back that it has changed, another one, and none.
CREATE TABLE given_back (a int, b text, c numeric(6, 2) DEFAULT 1.5);
CREATE FUNCTION gives_back() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE other record;
BEGIN
  new.b := coalesce(new.b, 'none') || tg_op; new.c := new.a * 2.0; new.a := new.a + 1;
  IF new.a % 4 = 0 THEN RETURN NULL; END IF;
  IF new.a % 4 = 1 THEN other := new; other.b := 'other'; RETURN other; END IF;
  RETURN new;
END $$;
CREATE TRIGGER gives_back BEFORE INSERT OR UPDATE ON given_back FOR EACH ROW EXECUTE FUNCTION gives_back();
INSERT INTO given_back SELECT g, CASE WHEN g % 3 > 0 THEN 'b' || g END FROM generate_series(1, 12) g;
SELECT * FROM given_back ORDER BY a;
UPDATE given_back SET a = a * 3, b = a || b WHERE a > 5;
SELECT * FROM given_back ORDER BY a, b;
DROP TABLE given_back;
DROP FUNCTION gives_back();
DROP FUNCTION fields_in_turn();
DROP FUNCTION elements_in_turn();
