-- Variables whose types are dropped while a body runs: what cannot be read any more is an error, and the server goes on.
create function told(body text) returns text language plpgsql as $$ begin execute 'do $x$ ' || body || ' $x$'; return 'done'; exception when others then return sqlstate || ' ' || regexp_replace(sqlerrm, '[0-9]+', 'N', 'g'); end $$;
create domain d as int;
select told('declare x d := 1; begin drop domain d; x := 2; end');
select told('declare x d := 1; begin drop domain d; x := ''2''; end');
select told('declare x d[] := array[1]; begin drop domain d; x[2] := 5; end');
select told('declare x d[] := array[1]; begin drop domain d; x := ''{1,2}''; end');
create domain dd as d check (value > 0);
select told('declare x dd := 1; begin drop domain d cascade; x := 2; end');
create type c as (a int, b d);
select told('declare x c; begin x.a := 1; drop domain d cascade; x.a := 2; raise notice ''%'', x.a; end');
create table t (a int, b d);
select told('declare x t; begin select 1, 2 into x; drop table t; x.a := 2; raise notice ''%'', x.a; end');
select told('declare x d := 1; begin drop domain d; create domain d as text; x := ''3''; end');
select 1;
