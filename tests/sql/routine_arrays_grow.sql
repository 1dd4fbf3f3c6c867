-- What is appended to a variable's array: elements of all kinds, NULLs, bounds, arrays that are shared, emptied or of two dimensions, and errors.
do $$
declare
    a int[]; e int[] := '{}'; t text[] := array['x']; b bigint[] := '{1}'; l int[] := '[5:6]={1,2}'; d int[] := '{{1,2},{3,4}}'; n numeric[] := '{1.50}';
    c int[]; r record; h int[] := '[2147483645:2147483646]={1,2}';
begin
    a := a || 1;
    e := e || 1;
    for i in 2..5 loop
        a := a || i;
        e := array_append(e, i * 10);
        c := e;
        t := t || ('k' || i);
        b := b || i;
        l := l || i;
        n := n || (i / 4.0);
    end loop;
    e := e || null::int;
    t := t || null::text;
    t := t || repeat('long', 3);
    c := c || 99;
    raise notice '% % % % % % %', a, e, c, t, b, l, n;
    a := a || a[1];
    a := a || array_length(a, 1);
    a := a || a;
    a := 0 || a;
    raise notice '%', a;
    begin
        d := d || 5;
    exception when others then raise notice '% %', sqlstate, sqlerrm;
    end;
    begin
        h := h || 3;
    exception when others then raise notice '% %', sqlstate, sqlerrm;
    end;
    raise notice '% %', d, h;
    a := null;
    a := a || 7;
    a := a || 8;
    raise notice '%', a;
end $$;

create function collected(n int) returns int[] language plpgsql as $$
declare a int[] := '{}'; b text[] := '{}';
begin
    for i in 1..n loop
        a := a || i;
        if i % 3 = 0 then
            b := b || array_length(a, 1)::text;
        end if;
    end loop;
    return a || array_length(b, 1);
end $$;
select collected(10), collected(0), collected(3);
select array_length(collected(20000), 1), (collected(20000))[19999];

create domain few as int[] check (array_length(value, 1) < 4);
do $$
declare a few := '{1}'; x int[] not null := '{1}';
begin
    a := a || 2;
    x := x || 3;
    a := a || 3;
    raise notice '% %', a, x;
    a := a || 4;
end $$;
drop function collected;
drop domain few;
