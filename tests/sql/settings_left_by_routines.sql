-- What a routine with settings of its own leaves of what it sets: SET stays, SET LOCAL of its own settings ends with it.
set work_mem = '3MB';
create function local_own() returns text language plpgsql set work_mem = '1MB' as $$ begin set local work_mem = '2MB'; return current_setting('work_mem'); end $$;
select local_own(), current_setting('work_mem');
create function set_own() returns text language plpgsql set work_mem = '1MB' as $$ begin set work_mem = '2MB'; return current_setting('work_mem'); end $$;
select set_own(), current_setting('work_mem');
show work_mem;
-- Others than its own: as without settings.
create function of_others() returns text language plpgsql set work_mem = '1MB' as $$ begin set a.one = 'set'; set local a.two = 'local'; perform set_config('a.three', 'set', false), set_config('a.four', 'local', true); return current_setting('work_mem'); end $$;
begin;
set local work_mem = '7MB';
select of_others();
select current_setting('work_mem'), current_setting('a.one'), current_setting('a.two'), current_setting('a.three'), current_setting('a.four');
commit;
select current_setting('work_mem'), current_setting('a.one'), current_setting('a.two'), current_setting('a.three'), current_setting('a.four');
-- Both, one behind the other.
create function set_and_local() returns text language plpgsql set work_mem = '1MB' as $$ begin set work_mem = '2MB'; set local work_mem = '4MB'; return current_setting('work_mem'); end $$;
begin;
set local work_mem = '7MB';
select set_and_local();
show work_mem;
commit;
show work_mem;
set work_mem = '3MB';
create function reset_own() returns text language plpgsql set work_mem = '1MB' as $$ begin reset work_mem; return current_setting('work_mem'); end $$;
select reset_own();
show work_mem;
set work_mem = '3MB';
-- What fails takes back what it has set.
create function caught() returns text language plpgsql set work_mem = '1MB' as $$ begin begin set work_mem = '8MB'; raise exception 'taken back'; exception when others then null; end; set a.one = 'behind'; return current_setting('work_mem'); end $$;
select caught(), current_setting('work_mem'), current_setting('a.one');
create function may_fail(int) returns text language plpgsql set work_mem = '1MB' as $$ begin set work_mem = '8MB'; set a.one = 'failed?'; perform 1 / $1; return 'done'; end $$;
select may_fail(0);
select current_setting('work_mem'), current_setting('a.one');
begin;
savepoint before;
select may_fail(1);
select current_setting('work_mem'), current_setting('a.one');
rollback to before;
select current_setting('work_mem'), current_setting('a.one');
select may_fail(1);
rollback;
select current_setting('work_mem'), current_setting('a.one');
-- One that calls another one, SQL, and procedures.
create function around() returns text language plpgsql set work_mem = '1MB' as $$ begin set work_mem = '9MB'; return set_own() || current_setting('work_mem'); end $$;
select around();
show work_mem;
create function who(text) returns text language sql security definer set search_path = pg_catalog as $$ select set_config('a.user', $1, false) $$;
select who('ada');
select current_setting('a.user'), current_setting('search_path');
create procedure elsewhere() language plpgsql set search_path = pg_catalog as $$ begin set search_path = pg_catalog, public; set datestyle = 'German'; end $$;
call elsewhere();
select current_setting('search_path'), current_setting('datestyle'), date '2024-02-01';
reset all;
