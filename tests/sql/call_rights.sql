-- Who may CALL and EXECUTE: rights of functions in the arguments, of schemas, of the procedure; CONTEXT of what fails there.
create role cr_u;
create schema cr_s;
create function cr_f() returns int language plpgsql as $$ begin return 1; end $$;
create procedure cr_p(a int) language plpgsql as $$ begin raise notice '%', a; end $$;
create procedure cr_s.q(a int) language plpgsql as $$ begin raise notice '%', a; end $$;
revoke execute on function cr_f() from public;
call cr_p(cr_f());
set role cr_u;
call cr_p(cr_f());
call cr_s.q(1);
call cr_p(1);
reset role;
revoke execute on procedure cr_p(int) from public;
set role cr_u;
call cr_p(1);
reset role;
do $$ declare x int; begin
  for x in select unnest(array['1','a']) loop
  x := x;
  end loop;
  end $$;
do $$ declare x int; begin
  foreach x in array array['1','a'] loop
  x := x;
  end loop;
  end $$;
do $$ declare x int := 2; begin
  while 10 / x > 0 loop
  x := x - 1;
  end loop;
  end $$;
drop procedure cr_p;
drop procedure cr_s.q;
drop function cr_f;
drop schema cr_s;
drop role cr_u;
create role cr_u;
create schema cr_s;
create function cr_s.f() returns int language sql as 'select 1';
create function cr_f() returns int language plpgsql as $$ begin return 1; end $$;
create procedure cr_p(a int) language plpgsql as $$ begin raise notice '%', a; end $$;
prepare cr_q(int) as select $1;
execute cr_q(cr_f());
revoke execute on function cr_f() from public;
revoke execute on function lower(text) from public;
set role cr_u;
execute cr_q(cr_f());
execute cr_q(cr_s.f());
call cr_p(cr_s.f());
call cr_p(length(lower('A')));
do $$ begin call cr_p(cr_f()); end $$;
reset role;
grant execute on function lower(text) to public;
drop procedure cr_p;
drop function cr_s.f;
drop function cr_f;
drop schema cr_s;
drop role cr_u;
create role cr_u;
create procedure cr_p(a int) language plpgsql as $$ begin raise notice '%', a; end $$;
create procedure cr_e(a int) language plpgsql as $$ begin raise exception 'e%', a; end $$;
revoke execute on procedure cr_p(int) from public;
set role cr_u;
do $$ begin call cr_p(1); end $$;
do $$ begin call cr_e(1); end $$;
do $$ begin call cr_e(1/0); end $$;
do $$ declare i int := 0; begin call cr_e(1/i); end $$;
reset role;
drop procedure cr_p;
drop procedure cr_e;
drop role cr_u;
create procedure cr_e(a int) language plpgsql as $$ begin raise notice 'n%', a; end $$;
create procedure cr_o(inout a int) language plpgsql as $$ begin a := a + 1; commit; end $$;
do $$ begin call cr_e(1); end $$;
do $$ declare x int := 1; begin call cr_o(x); raise notice '%', x; end $$;
drop procedure cr_e;
drop procedure cr_o;
