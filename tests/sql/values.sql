-- Templates: to_char, to_number, to_date, to_timestamp.
SELECT to_char(1234.5, '9,999.99'), to_char(-12, 'S000'), to_char(12, 'FM99th'), to_char(0.1, '9.9'), to_char(485, 'RN');
SELECT to_char(x, '99,999.00PR') AS c FROM (VALUES (1), (-20), (123456)) v(x) ORDER BY x;
SELECT to_char(x, '9.99EEEE') FROM (VALUES (12345.678), (-0.00012)) v(x) ORDER BY x;
SELECT to_char(1, '9.9.9');
SELECT to_char(1, 'S9S');
SELECT to_char(1, '9EEEE9');
SELECT to_char(1, 'FM9EEEE');
SELECT to_char(99999999999, 'RN');
SELECT to_number('-$1,234.50', 'L9,999.99'), to_number('12<', '99PR'), to_number('', '9') IS NULL;
SELECT to_number('abc', '999');
SELECT to_number('12345', '9');
SELECT to_number('1', 'RN');
SELECT to_date('05 Dec 2000', 'DD Mon YYYY'), to_date('2000-366', 'YYYY-DDD'), to_date('20240209', 'YYYYMMDD');
SELECT to_timestamp('05 Dec 2000 03:04:05 PM', 'DD Mon YYYY HH12:MI:SS AM'), to_timestamp('2024-02-09 +05:30', 'YYYY-MM-DD TZH:TZM');
SELECT to_date('2024-02-30', 'YYYY-MM-DD');
SELECT to_date('2024', 'YYYYMM');
SELECT to_date('2024xx', 'YYYYMM');
SELECT to_date('2024 nope', 'YYYY Mon');
SELECT to_date('2024 5', 'IYYY MM');
SELECT to_date('2024 2023', 'YYYY YYYY');
SELECT to_timestamp('13:00', 'HH12:MI');
SELECT to_timestamp('12 UTC', 'HH24 TZ');
SELECT to_timestamp('12 +99', 'HH24 TZH');
SELECT to_date('5', 'DDD');
SELECT to_date('99999999999', 'YYYY');

-- ARRAY(SELECT ...) over arrays: one dimension more, all of the same sizes.
SELECT ARRAY(SELECT ARRAY[g, g + 1] FROM generate_series(1, 3) AS g);
SELECT ARRAY(SELECT '{}'::int[] WHERE false), ARRAY(SELECT '{{1},{2}}'::int[] FROM generate_series(1, 2));
SELECT ARRAY(SELECT x FROM (VALUES ('{1,2}'::int[]), ('{3}'::int[])) AS v (x));
SELECT ARRAY(SELECT x FROM (VALUES ('{1,2}'::int[]), (NULL)) AS v (x));
SELECT ARRAY(SELECT '{}'::text[] FROM generate_series(1, 2));
SELECT pg_typeof(ARRAY(SELECT '{a}'::text[]));
-- Escapes that PostgreSQL 15 does not know are the letters themselves.
SELECT E'\v', E'a\vb', length(E'\v\e\a'), E'\b\f\n\r\t' = chr(8) || chr(12) || chr(10) || chr(13) || chr(9);
