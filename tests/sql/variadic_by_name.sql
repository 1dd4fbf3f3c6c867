-- A function with VARIADIC takes named arguments where the array itself is given, in its place.
create function v(a int, b int default 2, variadic c int[] default '{}') returns text language sql as $$ select a || ' ' || b || ' ' || c::text $$;
select v(1), v(1, 2), v(1, 2, 3, 4);
select v(1, 2, variadic array[9]);
select v(1, 2, variadic c => array[9]);
select v(a => 1, b => 3, variadic c => array[9]);
select v(b => 3, a => 1, variadic c => array[9]);
select v(a => 1);
select v(1, b => 3);
select v(1, 2, c => array[9]);
select v(1, variadic c => array[9]);
select v(variadic c => array[9], a => 1);
create function w(a int, b int[]) returns text language sql as $$ select a || ' ' || b::text $$;
select w(b => array[1], a => 2);
select w(a => 2, variadic b => array[1]);
select format(formatstr => '%s', variadic => 'x');
select concat(variadic array[1, 2]);
