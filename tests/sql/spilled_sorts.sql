-- Sorts of more than work_mem: runs in temporary files, merged. All types that have an order, both directions, NULLs at
-- either end, duplicates, many columns, and what stands around a sort. Orders are shown by a digest of what they give.
SET work_mem = '64kB';

CREATE TYPE spilled_mood AS ENUM ('low', 'middle', 'high');
CREATE TYPE spilled_pair AS (a int, b text);

CREATE TABLE spilled AS
SELECT n AS id,
       CASE WHEN n % 97 <> 0 THEN (m % 1000)::int2 END AS i2,
       CASE WHEN n % 97 <> 0 THEN m::int4 - 4000 END AS i4,
       CASE WHEN n % 97 <> 0 THEN m::int8 * 1000000007 END AS i8,
       CASE WHEN n % 97 <> 0 THEN m::numeric / 7 END AS nu,
       CASE WHEN n % 97 <> 0 THEN CASE WHEN n % 89 = 0 THEN 'NaN' ELSE (m - 4000) / 8::float4 END END AS f4,
       CASE WHEN n % 97 <> 0 THEN CASE WHEN n % 89 = 0 THEN '-Infinity' ELSE (m - 4000) / 16::float8 END END AS f8,
       CASE WHEN n % 97 <> 0 THEN 'text ' || m END AS te,
       CASE WHEN n % 97 <> 0 THEN ('c' || m % 50)::char(10) END AS ch,
       CASE WHEN n % 97 <> 0 THEN ('v' || m)::varchar(20) END AS vc,
       CASE WHEN n % 97 <> 0 THEN decode(md5(m::text), 'hex') END AS by,
       CASE WHEN n % 97 <> 0 THEN m % 3 = 0 END AS bo,
       CASE WHEN n % 97 <> 0 THEN date '2000-01-01' + m::int END AS da,
       CASE WHEN n % 97 <> 0 THEN time '00:00' + m * interval '7 seconds' END AS ti,
       CASE WHEN n % 97 <> 0 THEN (time '00:00' + m * interval '7 seconds')::text::timetz END AS tz,
       CASE WHEN n % 97 <> 0 THEN timestamp '1990-01-01' + m * interval '1 day 3 seconds' END AS ts,
       CASE WHEN n % 97 <> 0 THEN timestamptz '1990-01-01 00:00+00' + m * interval '13 hours' END AS tt,
       CASE WHEN n % 97 <> 0 THEN (m % 500) * interval '1 hour' - (m % 7) * interval '1 month' END AS iv,
       CASE WHEN n % 97 <> 0 THEN md5(m::text)::uuid END AS uu,
       CASE WHEN n % 97 <> 0 THEN inet '10.0.0.0' + m END AS ne,
       CASE WHEN n % 97 <> 0 THEN jsonb_build_object('k', m % 400, 'l', jsonb_build_array(m)) END AS jb,
       CASE WHEN n % 97 <> 0 THEN ARRAY[m % 10, m] END AS ar,
       CASE WHEN n % 97 <> 0 THEN ROW((m % 20)::int, 'r' || m)::spilled_pair END AS co,
       CASE WHEN n % 97 <> 0 THEN (ARRAY['low', 'middle', 'high']::spilled_mood[])[m % 3 + 1] END AS mo,
       CASE WHEN n % 97 <> 0 THEN ('n' || m % 77)::name END AS na,
       CASE WHEN n % 97 <> 0 THEN m::oid END AS oi
FROM (SELECT n, n::int8 * 7919 % 8009 AS m FROM generate_series(1, 9000) AS n) AS made;

SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT i2 AS x FROM spilled ORDER BY i2) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT i4 AS x FROM spilled ORDER BY i4 DESC) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT i8 AS x FROM spilled ORDER BY i8 NULLS FIRST) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT nu AS x FROM spilled ORDER BY nu DESC NULLS LAST) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT f4 AS x FROM spilled ORDER BY f4) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT f8 AS x FROM spilled ORDER BY f8 DESC) AS s;
SELECT md5(string_agg(coalesce(x, '-'), ',')) FROM (SELECT te AS x FROM spilled ORDER BY te) AS s;
SELECT md5(string_agg(coalesce(x, '-'), ',')) FROM (SELECT ch AS x FROM spilled ORDER BY ch NULLS FIRST) AS s;
SELECT md5(string_agg(coalesce(x, '-'), ',')) FROM (SELECT vc AS x FROM spilled ORDER BY vc DESC) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT by AS x FROM spilled ORDER BY by) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT bo AS x FROM spilled ORDER BY bo DESC) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT da AS x FROM spilled ORDER BY da NULLS FIRST) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT ti AS x FROM spilled ORDER BY ti DESC) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT tz AS x FROM spilled ORDER BY tz) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT ts AS x FROM spilled ORDER BY ts DESC NULLS LAST) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT tt AS x FROM spilled ORDER BY tt) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT iv AS x FROM spilled ORDER BY iv, id) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT uu AS x FROM spilled ORDER BY uu DESC) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT ne AS x FROM spilled ORDER BY ne) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT jb AS x FROM spilled ORDER BY jb) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT ar AS x FROM spilled ORDER BY ar DESC) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT co AS x FROM spilled ORDER BY co) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT mo AS x FROM spilled ORDER BY mo DESC) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT na AS x FROM spilled ORDER BY na) AS s;
SELECT md5(string_agg(coalesce(x::text, '-'), ',')) FROM (SELECT oi AS x FROM spilled ORDER BY oi DESC) AS s;

-- Several keys, expressions, and rows that carry more than the keys.
SELECT md5(string_agg(x, ',')) FROM (SELECT md5(s::text) AS x FROM spilled AS s ORDER BY i2 % 10 DESC NULLS LAST, lower(te), id) AS s;
SELECT id, te FROM spilled ORDER BY length(te), ch DESC, id DESC OFFSET 8990;
SELECT id FROM spilled ORDER BY i2, id OFFSET 4000 LIMIT 3;
SELECT id FROM spilled ORDER BY i2, id LIMIT 3;
-- A limit whose rows are more than memory takes, and one whose ties are wanted.
SELECT md5(string_agg(x::text, ',')) FROM (SELECT id AS x FROM spilled ORDER BY te, id LIMIT 7000) AS s;
SELECT count(*) FROM (SELECT id FROM spilled ORDER BY i2 DESC NULLS LAST FETCH FIRST 2000 ROWS WITH TIES) AS s;
-- Sorts that run again: in a subquery of each row, and under LATERAL.
SELECT a, (SELECT string_agg(te, ',') FROM (SELECT te FROM spilled WHERE i2 % 5 = a ORDER BY te DESC OFFSET 1400 LIMIT 4) AS s)
FROM generate_series(0, 4) AS a;
SELECT a, te FROM generate_series(1, 3) AS a,
    LATERAL (SELECT te FROM spilled ORDER BY i4 * (CASE a % 2 WHEN 0 THEN 1 ELSE -1 END) NULLS LAST, id OFFSET 20 LIMIT 2) AS l;
-- Rows that cannot be compared.
SELECT count(*) FROM (SELECT CASE WHEN n = 5000 THEN ROW(4999, 'x'::text) ELSE ROW(n, 1) END AS r FROM generate_series(1, 6000) AS n
    ORDER BY 1 OFFSET 0) AS s;
-- What has been made in order.
CREATE TABLE spilled_copy AS SELECT row_number() OVER () AS place, id FROM (SELECT id FROM spilled ORDER BY uu, id) AS s;
SELECT count(*) FROM (SELECT uu < lag(uu) OVER (ORDER BY place) AS wrong FROM spilled_copy JOIN spilled USING (id)) AS s WHERE wrong;
-- A limit of one's own: what fits, and what does not.
SET temp_file_limit = '10MB';
SELECT count(*) FROM (SELECT te FROM spilled ORDER BY te OFFSET 0) AS s;
SET temp_file_limit = '100kB';
SELECT te FROM spilled ORDER BY te, id OFFSET 8995;
SELECT te FROM spilled ORDER BY te, id LIMIT 2;
SET temp_file_limit = 0;
SELECT te FROM spilled ORDER BY te, id OFFSET 8995;
RESET temp_file_limit;
SELECT te FROM spilled ORDER BY te NULLS FIRST, id OFFSET 8995;
DROP TABLE spilled, spilled_copy;
DROP TYPE spilled_mood, spilled_pair;
