-- A FROM item's whole row as one value: where an outer join has none, and in the texts of views.
CREATE TABLE one (a int);
CREATE TABLE two (b int, c text);
CREATE TABLE three (b int);
INSERT INTO one VALUES (1), (2);
INSERT INTO two VALUES (1, 'x'), (NULL, NULL);
INSERT INTO three VALUES (1);
SELECT row_to_json(two), count(two), two IS NULL FROM one LEFT JOIN two ON false GROUP BY two;
SELECT a, row_to_json(two), two FROM one LEFT JOIN two ON a = 1 ORDER BY a, b;
SELECT a, row_to_json(two), two FROM two RIGHT JOIN one ON a = 1 AND b = 1 ORDER BY a, b;
SELECT row_to_json(one), row_to_json(two), two FROM one FULL JOIN two ON a = b ORDER BY a, b;
SELECT a, row_to_json(s), s, s IS NULL, to_jsonb(s) FROM one LEFT JOIN (SELECT * FROM two WHERE b = 1) s ON a = 1 ORDER BY a;
SELECT a, (two).c, (two.*).b, two.* IS NULL, two = two, two IS DISTINCT FROM NULL FROM one LEFT JOIN two ON a = 1 ORDER BY a, b;
SELECT (SELECT row_to_json(two)), (SELECT three.b FROM three WHERE two IS NULL) FROM one LEFT JOIN two ON a = b ORDER BY a;
SELECT count(two), count(one), count(*) FROM one FULL JOIN two ON a = b;
SELECT a, row_to_json(v), row_to_json(three) FROM one LEFT JOIN (VALUES (1, 2)) v (x, y) ON a = x LEFT JOIN three ON three.b = v.x ORDER BY a;
SELECT a, row_to_json(w) FROM one LEFT JOIN LATERAL (SELECT a + 1 AS next, 'w' AS w2) w ON a = 2 ORDER BY a;
WITH t AS (SELECT b, c FROM two WHERE b = 1) SELECT a, row_to_json(t), count(t) OVER () FROM one LEFT JOIN t ON a = b ORDER BY a;
SELECT a, coalesce(two, ROW(0, 'none')::two) FROM one LEFT JOIN two ON a = b ORDER BY a;
SELECT a FROM one LEFT JOIN two ON a = b WHERE two IS NULL;
-- a join's row is made of its columns
SELECT row_to_json(x), count(x), x IS NULL FROM one LEFT JOIN (two JOIN three ON true) x ON false GROUP BY x;
SELECT row_to_json(x), count(x), x IS NULL FROM one LEFT JOIN (two JOIN three USING (b) AS x) ON false GROUP BY x;
