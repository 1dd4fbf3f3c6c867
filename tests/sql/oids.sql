
-- smallint goes to the OID types by way of integer.
SELECT 1::int2::oid = 1::oid AS a, (-1)::int2::oid AS b, 1259::int2::regclass AS c;
CREATE TABLE by_oid (o oid PRIMARY KEY, v int);
INSERT INTO by_oid VALUES (1, 1), (2, 2);
INSERT INTO by_oid SELECT x, x FROM (VALUES (3::int2), (-4)) AS v (x);
SELECT * FROM by_oid WHERE o = 1::int2;
SELECT * FROM by_oid WHERE o IN (1::int2, 3::int2) ORDER BY o;
SELECT * FROM by_oid WHERE o = 4294967292;
SELECT b.o, b.v FROM by_oid b JOIN (VALUES (2::int2), (3)) AS v (x) ON b.o = v.x ORDER BY 1;
SELECT x::oid, x::regtype FROM (VALUES (23::int2), (NULL), (25)) AS v (x);
PREPARE by_small (int2) AS SELECT v FROM by_oid WHERE o = $1;
EXECUTE by_small (2);
SELECT array[23, 25]::int2[]::oid[], array[1259]::int2[]::regclass[];
UPDATE by_oid SET o = 7::int2 WHERE v = 1;
SELECT o FROM by_oid WHERE o = 7;
DROP TABLE by_oid;
