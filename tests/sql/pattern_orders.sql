-- ORDER BY USING the operators that compare texts byte by byte.
select x from (values ('b'),('a'),('C'),(null)) v(x) order by x using ~<~;
select x from (values ('b'),('a'),('C'),(null)) v(x) order by x using ~>~;
select x from (values ('b'),('a'),('C')) v(x) order by x using ~<=~;
select distinct x from (values ('b'::bpchar),('a'),('C')) v(x) order by 1 using ~<~;
select distinct on (x) x from (values ('b'::varchar),('a'),('C')) v(x) order by x using ~>~ nulls last;
select array_agg(x order by x using ~>~), string_agg(distinct x, ',' order by x using ~>~) from (values ('b'),('a'),('C')) v(x);
select row_number() over (order by x using ~<~), x from (values ('b'),('a'),('C')) v(x);
