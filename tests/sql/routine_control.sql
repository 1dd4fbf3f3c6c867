-- Control flow of bodies: loops, conditions, CASE, handlers, recursion, and where their errors are.
create function looped(n int) returns bigint language plpgsql as $$ declare s bigint := 0; begin for i in 1..n loop s := s + i % 7; end loop; return s; end $$;
select looped(1000), looped(0), looped(5);
create function whiled(n int) returns int language plpgsql as $$ declare i int := 0; j int := 0; begin while i < n loop if i % 2 = 0 then j := j + 1; else j := j - 1; end if; i := i + 1; end loop; return j; end $$;
select whiled(1001);
create function fib(n int) returns int language plpgsql as $$ begin if n < 2 then return n; end if; return fib(n - 1) + fib(n - 2); end $$;
select fib(15);
select fib(15);
create function texts(n int) returns text language plpgsql as $$ declare s text := ''; begin for i in 1..n loop s := s || chr(65 + i % 26); if length(s) > 100 then s := substr(s, 50); end if; end loop; return s; end $$;
select texts(1000);
create function sorted(size int) returns int[] language plpgsql as $$ declare a int[]; t int; x bigint := 42; begin
 for i in 1..size loop x := (x * 1103515245 + 12345) % 2147483648; a[i] := x % 1000000; end loop;
 for i in 1..size - 1 loop for j in 1..size - i loop if a[j] > a[j + 1] then t := a[j]; a[j] := a[j + 1]; a[j + 1] := t; end if; end loop; end loop; return a; end $$;
select sorted(30);
create function excepted(n int) returns int language plpgsql as $$ declare c int := 0; m text := ''; begin for i in 1..n loop
 begin if i % 10 = 0 then raise exception 'x%', i; end if; c := c + 1; exception when others then c := c + 100; m := m || sqlerrm || sqlstate; end; end loop; raise notice '%', m; return c; end $$;
select excepted(55);
-- errors with context in each tier
create function err(n int, d int) returns int language plpgsql as $$ declare x int := 1; y int[] := '{1,2}'; begin
 for i in 1..n loop
   if i = n then x := x / d; end if;
   x := x +
     1;
   while x > 100000 loop exit; end loop;
 end loop; return x; end $$;
select err(3, 0);
select err(1, 0);
select err(30, 0);
select err(3, 1);
create function ovf(n int) returns int language plpgsql as $$ declare x int := 2147483600; begin
 for i in 1..n loop x := x + 1; end loop; return x; end $$;
select ovf(10);
select ovf(100);
select ovf(1000);
create function nn(n int) returns int language plpgsql as $$ declare x int not null := 1; y int; begin
 for i in 1..n loop if i = n then x := y; else x := i; end if; end loop; return x; end $$;
select nn(0), nn(1);
select nn(5);
create domain pos as int check (value > 0);
create function dom(n int) returns pos language plpgsql as $$ declare x pos := 1; begin
 for i in 1..n loop x := 3 - i; end loop; return x; end $$;
select dom(2);
select dom(10);
create function bounds(a int, b int, c int) returns text language plpgsql as $$ declare s text := ''; begin
 for r in 1..2 loop for i in a..b by c loop s := s || i || ','; end loop; s := s || found; end loop; for i in reverse b..a by c loop s := s || i || ';'; end loop; return s; end $$;
select bounds(1,5,2);
select bounds(5,1,1);
select bounds(null,1,1);
select bounds(1,null,1);
select bounds(1,2,null);
select bounds(1,2,0);
select bounds(2147483640,2147483647,3);
select bounds(-2147483648,-2147483640,3);
create function cased(n int) returns text language plpgsql as $$ declare s text := ''; begin
 for i in 1..n loop case i % 4 when 0 then s := s || 'z'; when 1, 2 then s := s || 'o'; else s := s || 'e'; end case;
  case when i = 3 then s := s || '3'; when i > 4 then s := s || '>'; else null; end case; end loop; return s; end $$;
select cased(9);
create function nocase(n int) returns text language plpgsql as $$ declare s text := ''; begin
 for i in 1..n loop case i when 1 then s := s || 'z'; when 2 then s := s || 'y'; end case; end loop; return s; end $$;
select nocase(2);
select nocase(5);
create function nocase2(n int) returns text language plpgsql as $$ declare s text := ''; begin
 for i in 1..n loop case when i < 4 then s := s || 'z';  end case; end loop; return s; end $$;
select nocase2(2);
select nocase2(5);
create table t(a int primary key, b text);
insert into t select g, 'b'||g from generate_series(1,20) g;
create function rows(n int, how text) returns text language plpgsql as $$ declare s text := ''; r record; k int := 0; begin
 <<outer>> for i in 1..n loop
   for r in select a, b from t order by a loop
     k := k + 1;
     if how = 'exit' then exit when r.a = 3; end if;
     if how = 'continue' then continue when r.a % 2 = 0; end if;
     if how = 'exitouter' then exit outer when r.a = 4; end if;
     if how = 'contouter' then continue outer when r.a = 4; end if;
     if how = 'return' and r.a = 5 then return s || '!' || r.b; end if;
     begin
       if how = 'handler' and r.a = 2 then raise exception 'in %', r.a; end if;
       if how = 'exitin' then exit outer when r.a = 6; end if;
     exception when raise_exception then s := s || '{' || sqlerrm || '}'; if i = 2 then exit outer; end if; continue outer; end;
     s := s || r.a;
   end loop;
   s := s || '|' || found;
 end loop;
 return s || k || found; end $$;
select how, rows(3, how) from unnest('{none,exit,continue,exitouter,contouter,return,handler,exitin}'::text[]) how;
create function each(a int[]) returns text language plpgsql as $$ declare s text := ''; x int; begin
 <<l>> foreach x in array a loop for j in 1..3 loop continue l when x = 2; exit l when x = 5; s := s || x*j || ' '; end loop; end loop; return s || found; end $$;
select each('{1,2,3,4,5,6}'), each('{}');
create function lab() returns text language plpgsql as $$ declare s text := ''; begin
 <<b>> begin s := 'a'; for i in 1..5 loop exit b when i = 3; s := s || i; end loop; s := s || 'no'; end; 
 <<c>> declare s2 int := 4; begin begin exit c; exception when others then null; end; s := s || 'never'; end;
 return s || found; end $$;
select lab(), lab();
create function noret(n int) returns int language plpgsql as $$ begin if n > 0 then return n; end if; end $$;
select noret(1), noret(2);
select noret(0);
create function callnoret(n int) returns int language plpgsql as $$ declare r int; begin for i in reverse n..0 loop r := noret(i); end loop; return r; end $$;
select callnoret(0);
select callnoret(3);
create function ndeep(n int) returns int language plpgsql as $$ begin if n = 0 then return 1 / n; end if; return ndeep(n - 1) + 1; end $$;
select ndeep(3);
select ndeep(3);
create function strictf(a int) returns int strict language plpgsql as $$ begin return a + 1; end $$;
create function callstrict(n int) returns text language plpgsql as $$ declare x int; s text := ''; begin for i in 1..n loop x := strictf(case when i % 2 = 0 then i end); s := s || coalesce(x::text, 'null') || ' '; end loop; return s; end $$;
select callstrict(6);
create function conv(n int) returns bigint language plpgsql as $$ declare x numeric := 1.5; y int := n; z varchar(3) := 'abcdef'; begin for i in 1..3 loop x := x * 1.5; z := 'ab' || i || 'cd'; end loop; return x; end $$;
select conv(1);
create function conv2(n int) returns varchar language plpgsql as $$ declare x numeric(5,2); z char(5); begin for i in 1..n loop x := i / 3.0; z := 'a' || i; end loop; return '[' || x || z || ']'; end $$;
select conv2(5), length(conv2(3));
create function noten(a text, b text) returns boolean language plpgsql as $$ begin for i in 1..2 loop if not (a = b) then return true; end if; end loop; return null; end $$;
select noten('a','b'), noten('a','a'), noten(null,'a');
do $$ declare x int := 0; begin for i in 1..5 loop begin x := x + 1; if x = 3 then perform 1 / 0; end if; insert into t values (100 + i, 'x'); if x = 4 then raise unique_violation; end if; exception when division_by_zero then raise notice 'dz % %', x, sqlerrm; when unique_violation then raise notice 'uv'; end; end loop; end $$;
select * from t where a > 100;
do $$ declare a int[] := '{}'; begin for i in 1..5 loop a[i] := i; a[i+1] := i * 2; end loop; raise notice '%', a; a[10] := 1; a[-1] := 2; raise notice '%', a; end $$;
do $$ declare a int[] := '{{1,2},{3,4}}'; b int; begin for i in 1..3 loop b := a[1]; raise notice '% % %', b, a[1][2], a[2:2]; end loop; end $$;
do $$ declare a int8[] := '{1,2,3}'; f float8[] := '{1,2}'; t text[] := '{a,b}'; begin for i in 1..3 loop a[1] := a[1] + a[2]; f[2] := f[1] / 3 + f[2]; t[1] := t[1] || t[2]; t[i] := 'q'; a[2] := null; end loop; raise notice '% % %', a, f, t; end $$;
