-- Whoever gives the array of a VARIADIC argument itself says so.
SELECT json_extract_path('{"a":1}'::json, '{a}'::text[]);
SELECT jsonb_delete('{"a":1}'::jsonb, '{a}'::text[]);
SELECT json_extract_path('{"a":1}'::json, VARIADIC '{a}'::text[]), json_extract_path('{"a":1}'::json, 'a'), jsonb_delete('{"a":1}'::jsonb, VARIADIC '{a}'), '{"a":1}'::jsonb - '{a}'::text[];
SELECT concat_ws(',', '{a,b}'::text[]), concat_ws(',', VARIADIC '{a,b}'::text[]), num_nulls(ARRAY[1, NULL]), num_nulls(VARIADIC ARRAY[1, NULL]), format('%s %s', VARIADIC ARRAY['a', 'b']);
SELECT num_nulls(VARIADIC NULL::text[]), num_nonnulls(VARIADIC NULL::text[]), num_nulls(NULL::text[]), num_nonnulls(NULL::text[]);
-- A NULL array; what is no array.
SELECT concat(VARIADIC NULL::int[]) IS NULL, concat_ws(',', VARIADIC NULL::int[]) IS NULL, num_nulls(VARIADIC NULL::int[]), num_nonnulls(VARIADIC NULL::text[]), jsonb_build_array(VARIADIC NULL::int[]);
SELECT format('%s', VARIADIC NULL::int[]);
SELECT concat_ws(',', VARIADIC 10);
SELECT concat(VARIADIC 'a');
SELECT num_nulls(VARIADIC 1);
SELECT concat(VARIADIC '1 2'::int2vector), num_nulls(VARIADIC '1 2'::oidvector);
-- VARIADIC stays in what is kept.
create table vk (a int, c jsonb, ar text[]);
insert into vk values (1, '{"a": {"b": 5}}', '{x,y}');
create view vk_view as select concat(variadic ar) as a, concat(ar) as b, concat_ws('-', variadic ar) as d, format('%s %s', variadic ar) as e,
  json_build_array(variadic ar) as h, jsonb_build_object(variadic ar) as i, concat(variadic array['1', '2']) as j, concat(a, ar) as k from vk;
select pg_get_viewdef('vk_view');
select * from vk_view;
create table vk_made (a text default concat(variadic array['1', '2']), b text default format('%s %s', variadic array['p', 'q']), c text default format('%s %s', 'p', 'q'));
select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 'vk_made'::regclass order by adnum;
insert into vk_made default values;
select * from vk_made;
drop view vk_view;
drop table vk, vk_made;
