-- Arrays whose elements are of a domain over arrays: such elements nest in no array of the domain's own kind.
create domain da as int[] check (value[1] > 0);
create table tda (x da[]);
select array['{1,2}'::da], pg_typeof(array['{1,2}'::da]);
select array['{1,2}'::da, '{3}'::da], array_dims(array['{1,2}'::da, '{3}'::da]), array[array['{1,2}'::da], array['{3}'::da]];
select array['{1,2}'::da, '{3,4}'::int[]], pg_typeof(array['{1,2}'::da, '{3,4}'::int[]]);
select array['{1,2}', '{3}']::da[], array['{1,2}'::da]::da[], array[array[1,2]]::da[];
insert into tda values (array['{1,2}'::da]);
select array(select x[1] from tda), pg_typeof(array(select x[1] from tda));
select array_agg(x[1]), pg_typeof(array_agg(x[1])) from tda;
select array['{1,2}'::da] = array['{1,2}'::da], array['{1,2}'::da] < array['{1,3}'::da];
select '{1,2}'::da = any (array['{1,2}'::da]), '{1,2}'::da || '{3}'::da, array['{1,2}'::da] || '{3}'::da;
select unnest(array['{1,2}'::da]), x[1][1], x[1:1] from tda;
update tda set x[2] = '{5,6}';
update tda set x[3] = '{-5,6}';
update tda set x[1:1] = array['{7}'::da];
select * from tda;
do $$ declare y da[] := array['{1,2}'::da]; z da; begin y[2] := '{8}'; z := y[2]; z[1] := 4; y := y || z; raise notice '% % %', y, z, y[1]; foreach z in array y loop raise notice '%', z; end loop; y[1] := '{0}'; end $$;
