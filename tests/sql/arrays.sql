-- Arrays: literals and NULL beside them, rows as their elements.
SELECT '{a}'::text[] || '{b}', array[1] || '{2,3}', array[1] || NULL, array['a'] || NULL, '{0}' || array[1], NULL || array[1];
SELECT array['a', 'b'] <@ '{a,b,c}', '{a}' @> array['a'], '{a}' && array['a'], array[1] = '{1}', array[1, 2] @> NULL;
SELECT array[1] || '2';
SELECT array[1] || 'x';
CREATE TABLE posts (id int PRIMARY KEY, tags text[]);
INSERT INTO posts VALUES (1, '{a}'), (2, '{}'), (3, NULL);
UPDATE posts SET tags = tags || '{b}' WHERE id = 1;
UPDATE posts SET tags = tags || NULL WHERE id = 2;
PREPARE added AS UPDATE posts SET tags = tags || $1 WHERE tags <@ $2 RETURNING id, tags;
EXECUTE added('{c,d}', '{a,b}');
SELECT id, tags, tags <@ '{a,b,c,d}', '{a,b}' <@ tags FROM posts ORDER BY id;
SELECT array[row(1, 2)], array[row(1, 2)]::text, pg_typeof(array[row(1, 'a')]);
SELECT array[row(1, 2), NULL], array[array[row(1)]], array_length(array[row(1, 2)], 1), cardinality(array[row(1), row(2)]), array_dims(array[row(1, 2)]);
SELECT (1, 2) = ANY (array[(1, 2), (3, 4)]), (1, 5) = ANY (array[(1, 2), (3, 4)]), (1, 5) <> ALL (array[(1, 2), (3, 4)]);
SELECT unnest(array[row(1, 'a'), row(2, 'b c')]);
SELECT array[row(1, 2)] || row(3, 4), row(0, 0) || array[row(1, 2)], array_append(array[row(1, 2)], row(3, 4));
SELECT array[row(1, 2)] = array[row(1, 2)], array[row(1, 2)] < array[row(1, 3)], array[row(1, 2)] @> array[row(1, 2)];
SELECT (array[row(1, 2), row(3, 4)])[2], (array[row(1, 2), row(3, 4)])[2:2];
SELECT array_agg(row(a, b)), array_agg(v), array(SELECT row(id, tags[1]) FROM posts ORDER BY id) FROM (VALUES (1, 'x'), (2, 'y')) v(a, b);
SELECT array_position(array[row(1, 2), row(3, 4)], row(3, 4)), array_remove(array[row(1, 2), row(3, 4)], row(3, 4)), array_replace(array[row(1, 2)], row(1, 2), row(5, 6));
SELECT to_json(array[row(1, 2)]), array_to_json(array[row(1, 'a')]), jsonb_build_array(array[row(1, 2)]), array_to_string(array[row(1, 2)], ';');
SELECT DISTINCT array[row(g % 2)] AS r FROM generate_series(1, 4) g ORDER BY 1;
SELECT array[row(g % 2)] AS r, count(*) FROM generate_series(1, 4) g GROUP BY 1 ORDER BY 1;
SELECT '{}'::record[], array[row(1, 2)]::record[];
SELECT '{"(1,2)"}'::record[];
CREATE TABLE refused (a record[]);
WITH RECURSIVE graph(f, t) AS (VALUES (1, 2), (2, 3), (3, 1), (3, 4)), search(f, t, cycle, path) AS (SELECT f, t, false, array[row(f, t)] FROM graph UNION ALL SELECT g.f, g.t, row(g.f, g.t) = ANY (path), path || row(g.f, g.t) FROM graph g, search s WHERE g.f = s.t AND NOT cycle) SELECT * FROM search ORDER BY path, f, t;
SELECT array_fill(1, array[2, 2]), array_fill(1, array[2], array[3]);
SELECT array_fill(1, array[[1]]);
SELECT array_fill(1, array[2], array[[1]]);
SELECT array_fill(1, array[2], array[[1, 2]]);
-- An element that is an array makes one dimension more, NULL or not.
SELECT array[null::int[], null];
SELECT array[null::int[]], array[null, null::text[]];
SELECT array[null::int[], null]::text[], array_ndims(array[null::int[]]);
SELECT array[array[null]], array[array[]::int[], null];
SELECT array[a, b] FROM (VALUES (null::int[], null::int[]), ('{}', '{}'), (null, '{}')) AS v (a, b);
SELECT array['{1}', array[2]]::int[];
SELECT array[null, array[2]]::int[];
SELECT array[1, array[2]]::int[];
-- Slices without one of their bounds, of arrays that do not begin with 1; beside a slice a plain subscript n is 1:n.
SELECT a[:1][2:], a[:0], a[0:][:2], a[:][:], a[1][2:], a[1:][3], a[-5:0], a[2:] FROM (VALUES ('[0:1][2:3]={{1,2},{3,4}}'::int[])) AS v (a);
SELECT a[:3], a[3:], a[:], a[:1], a[1:2] FROM (VALUES ('[2:4]={1,2,3}'::int[]), ('{}'), (NULL), ('[-1:0]={7,8}')) AS v (a);
CREATE TABLE sliced (a int[], b int GENERATED ALWAYS AS (cardinality(a[:2])) STORED);
INSERT INTO sliced VALUES ('[0:2]={1,2,3}') RETURNING *;
CREATE VIEW slices AS SELECT a[1][2:] AS x, a[:2] AS y, a[1][2] AS z FROM sliced;
SELECT pg_get_viewdef('slices');
SELECT * FROM slices;
DROP TABLE sliced CASCADE;

-- Of arrays that are put together the inner bounds are the same.
SELECT '{{1,2},{3,4}}'::int[] || '[2:3]={5,6}'::int[];
SELECT '{{1,2}}'::int[] || '[1:1][0:1]={{3,4}}'::int[];
SELECT '[0:0][1:2]={{1,2}}'::int[] || '{{3,4}}'::int[], '{5,6}'::int[] || '[0:0][1:2]={{1,2}}'::int[];
-- What is where nothing may be.
SELECT '{{1,{2}},{2,3}}'::text[];
SELECT '{1,{2}}'::text[];
SELECT '{{1},2}'::text[];
SELECT '{{1},\2}'::text[];
-- No array has more bytes than a value may have.
select array_length(array_fill(repeat('x', 10000000), array[120]), 1);
-- An array is an anyarray, and stays what it is.
select '{1,2}'::int[]::anyarray, pg_typeof('{1,2}'::int[]::anyarray), array['a', 'b']::anyarray;
select 1::anyarray;
select '{1}'::anyarray;
select array_length('{1}', 1);
-- Elements as they stand, with spaces around, quoted, escaped, and longer than a glance.
select '{ a b , c	}'::text[], '{null, NULL ,"null", nUll,nulls}'::text[], '{ 1 ,-2,  3}'::int[], E'{a\\ ,\\"b\\", "c"}'::text[];
select array_length(('{' || repeat('x', 63) || ',' || repeat('y', 64) || ' , ' || repeat('z', 65) || '  }')::text[], 1), ('{' || repeat('x ', 40) || ',b}')::text[];
select '{äö ,ü,"é "}'::text[], '{a}b}'::text[];
select '{1, }'::int[];
select '{,1}'::int[];
select '{1,,2}'::int[];
select '{ }'::int[], '{"" , ""}'::text[];
select '{a"b}'::text[];
select '{"a"b}'::text[];
select '{a{b}'::text[];
select '{1 2}'::int[];
select '{1'::int[];
select '{1,2'::int[];
select ('{' || repeat('1', 80) || '}')::int[];
select '{ x ,y}'::int[];
set array_nulls = off;
select '{null,NULL }'::text[];
reset array_nulls;
select ('{1}'::int[])[date '2020-01-01'];
select ('{1}'::int[])['2020-01-01'::date];
select ('{1}'::int[])[cast('2020-01-01' as date)];
select ('{1}'::int[])[1:date '2020-01-01'];
