-- What client_min_messages hides is hidden while rows are sent, too.
create function tells() returns integer language plpgsql as $$
begin
  raise debug 'a detail';
  raise notice 'a notice';
  raise warning 'a warning';
  return 1;
end $$;
select tells();
set client_min_messages = warning;
select tells() from generate_series(1, 2);
set client_min_messages = error;
select tells();
create table told as select tells() as a;
insert into told select tells();
reset client_min_messages;
select tells() from told;
