-- What compiling and running PL/pgSQL checks
create table acc(id int primary key, bal int);
insert into acc values (1,100),(2,200);
-- diagnostics
do $$ declare n int; c text; begin
 update acc set bal = bal + 1; get diagnostics n = row_count, c = pg_context; raise notice '% %', n, c; end $$;
create function ctx() returns text language plpgsql as $$ declare s text; begin get current diagnostics s = pg_context; return s; end $$;
create function ctx2() returns text language plpgsql as $$ begin return ctx(); end $$;
select ctx2();
do $$ declare a text; b text; c text; d text; e text; f text; g text; begin
 raise exception 'x' using errcode='22012', detail='det', hint='hin', column='col', constraint='con', datatype='dt', table='tab', schema='sch';
exception when others then
 get stacked diagnostics a = column_name, b = constraint_name, c = pg_datatype_name, d= table_name, e = schema_name, f= pg_exception_context, g = returned_sqlstate;
 raise notice '% % % % % % %', a,b,c,d,e,f,g; end $$;
do $$ begin get stacked diagnostics; end $$;
do $$ declare a text; begin get stacked diagnostics a = message_text; end $$;
do $$ declare a text; begin get diagnostics a = message_text; end $$;
-- void
create function v1() returns void language plpgsql as $$ begin return 1; end $$;
create function v2() returns void language plpgsql as $$ begin return; end $$;
select v2();
create function v3() returns int language plpgsql as $$ begin return; end $$;
create function v4(out a int) language plpgsql as $$ begin return 1; end $$;
create procedure v5() language plpgsql as $$ begin return 1; end $$;
create function v6() returns setof int language plpgsql as $$ begin return 1; end $$;
create function v7() returns int language plpgsql as $$ begin return next 1; end $$;
create function v8() returns int language plpgsql as $$ begin return query select 1; end $$;
create function v9() returns int language plpgsql as $$ begin end $$;
select v9();
create function v10(out a int, out b int) language plpgsql as $$ begin a := 1; return next; end $$;
create function v11(out a int) returns setof int language plpgsql as $$ begin return next 1; end $$;
-- settings
set plpgsql.variable_conflict = use_column;
create or replace function vc(id int) returns int language plpgsql as $$ declare r int; begin select bal into r from acc where id = id limit 1; return r; end $$;
select vc(2);
set plpgsql.variable_conflict = use_variable;
create or replace function vc(id int) returns int language plpgsql as $$ declare r int; begin select bal into r from acc where acc.id = id limit 1; return r; end $$;
select vc(2);
set plpgsql.variable_conflict = error;
create or replace function vc(id int) returns int language plpgsql as $$ declare r int; begin select bal into r from acc where id = id limit 1; return r; end $$;
select vc(2);
reset plpgsql.variable_conflict;
set plpgsql.print_strict_params to true;
create function ps(k int) returns int language plpgsql as $$ declare x int; begin select bal into strict x from acc where id = k or k = 0; return x; end $$;
select ps(5); select ps(0);
reset plpgsql.print_strict_params;
create function ps2(k int) returns int language plpgsql as $$
#print_strict_params on
declare x int; begin select bal into strict x from acc where id = k; return x; end $$;
select ps2(77);
do $$
#print_strict_params on
declare x int; begin execute 'select 1 where $1 = 3' into strict x using 4; end $$;
set plpgsql.check_asserts = off;
do $$ begin assert false; raise notice 'passed'; end $$;
reset plpgsql.check_asserts;
do $$ begin assert 1 = 0, 'not ' || 'so'; end $$;
do $$ begin assert null; end $$;
-- conflicts, shadows
do $$ <<outer>> declare a int := 1; begin declare a int := 2; begin raise notice '% %', a, outer.a; end; end $$;
do $$ <<b>> begin for i in 1..3 loop continue when i = 2; exit b when i = 3; raise notice '%', i; end loop; end b $$;
do $$ begin for i in reverse 10..1 by 3 loop raise notice '%', i; end loop; end $$;
do $$ begin for i in 1..3 by 0 loop null; end loop; end $$;
do $$ declare x text; begin foreach x slice 1 in array array['a'] loop null; end loop; end $$;
do $$ declare x int[]; begin foreach x slice 1 in array array[[1,2],[3,4]] loop raise notice '%', x; end loop; end $$;
do $$ declare x int; begin foreach x in array null::int[] loop null; end loop; end $$;
do $$ begin case 3 when 1,2 then raise notice 'a'; when 3 then raise notice 'b'; end case; end $$;
do $$ begin case 4 when 1 then null; end case; end $$;
do $$ declare a constant int := 1; begin a := 2; end $$;
do $$ declare a int not null := 1; begin a := null; end $$;
do $$ declare a int not null; begin a := null; end $$;
-- errors nested
create function bad(i int) returns int language plpgsql as $$ begin return 1 / i; end $$;
create function badder(i int) returns int language plpgsql as $$ declare x int; begin x := bad(i) + 1; return x; end $$;
create function baddest(i int) returns int language sql as $$ select badder(i) $$;
do $$ begin perform badder(0); exception when division_by_zero then raise notice 'caught %', sqlerrm; raise; end $$;
do $$ begin begin raise exception 'inner'; exception when others then raise exception 'outer: %', sqlerrm; end; end $$;
do $$ begin raise no_data_found; end $$;
do $$ begin raise sqlstate 'U1234' using message = 'custom'; end $$;
do $$ begin raise notice '%', 1, 2; end $$;
do $$ begin raise notice 'a % b %', 1; end $$;
do $$ begin raise 'x' using message = 'y'; end $$;
do $$ begin raise; end $$;
do $$ begin raise warning using message = 'w', hint = 'h'; end $$;
do $$ begin raise exception null; end $$;
do $$ declare r record; begin raise notice '%', r.x; end $$;
do $$ declare r record; begin select 1 as a into r; raise notice '%', r.b; end $$;
do $$ begin execute 'select 1; select 2'; end $$;
do $$ begin execute null; end $$;
do $$ declare a int; begin execute 'select $1 + $2' into a using 1, 2; raise notice '%', a; end $$;
do $$ begin commit; raise notice 'ok'; rollback; end $$;
begin; do $$ begin commit; end $$; rollback;
do $$ begin begin commit; exception when others then raise notice '%', sqlerrm; end; end $$;
do $$ begin savepoint a; end $$;
do $$ begin select 1; end $$;
do $$ begin insert into acc values (9, 9) returning id; end $$;
do $$ declare a int; begin insert into acc values (9, 9) returning bal into strict a; raise notice '%', a; end $$;
do $$ declare a int; begin update acc set bal = 0 returning id into a; end $$;
do $$ declare a acc; begin select * into a from acc where id = 1; raise notice '%', a; a.bal := a.bal * 2; update acc set bal = a.bal where id = a.id; end $$;
do $$ declare a acc%rowtype; b acc.bal%type := 4; begin a := row(7, 8); raise notice '% %', a, b; a := row(1,2,3); end $$;
do $$ declare a acc; begin a := (1,'x'); end $$;
do $$ declare x numeric(3,1) := 12345; begin end $$;
do $$ begin perform nofunction(1); end $$;
do $$ begin x := 1; end $$;
do $$ begin if 1 then null; end if; end $$;
do $$ begin if 'x' then null; end if; end $$;
do $$ begin while true loop exit; end loop end $$;
do $$ begin loop; end $$;
do $$ begin null end $$;
do $$ declare begin end; $$;
do $$ declare a nosuchtype; begin end $$;
do $$ declare a int; a text; begin end $$;
do $$ declare x int[]; begin foreach x in array array[1,2] loop null; end loop; end $$;
do $$ declare a int; begin execute 'create temp table made (a int); insert into made values ($1); select a + 1 from made' into a using 4; raise notice '%', a; end $$;
