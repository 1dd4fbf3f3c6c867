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
