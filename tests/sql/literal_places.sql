-- Where errors point at literals that are given a type.
SELECT 1 WHERE bigint '5';
SELECT 1 WHERE '5'::bigint;
SELECT 1 WHERE CAST('5' AS bigint);
SELECT 1 WHERE CAST(NULL AS bigint);
SELECT 1 WHERE CAST(5 AS bigint);
SELECT 1 WHERE varchar(3) '5';
SELECT 1 WHERE timestamp(3) '2024-01-01';
SELECT 1 WHERE bigint '5' + 1;
SELECT 1 WHERE true AND date '2024-01-01';
SELECT ARRAY[4, date '2024-01-01'];
SELECT CASE WHEN true THEN 1 ELSE date '2024-01-01' END;
SELECT coalesce(1, date '2024-01-01'), greatest(date '2024-01-01', 2);
SELECT 1 IN (date '2024-01-01', 2);
SELECT 1 UNION SELECT date '2024-01-01';
VALUES (1), (date '2024-01-01');
SELECT sum(1) FILTER (WHERE timestamp '2024-01-01');
SELECT date '2024-01-01' + date '2024-01-01';
SELECT 1 LIMIT date '2024-01-01';
