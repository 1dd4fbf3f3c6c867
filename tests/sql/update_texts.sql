-- Updates that carry a row over and show texts of it; expressions over elements; numerics of a modifier.
CREATE TABLE papers AS
  SELECT i AS id, 'título ' || i AS title, CASE WHEN i % 3 = 0 THEN NULL ELSE 'ab' || i END AS short,
    ''::text AS nothing, repeat('é', i) AS accents, i::numeric(8, 2) AS price, 'behind ' || i AS behind, i AS counted
  FROM generate_series(1, 6) AS i;
ALTER TABLE papers ADD PRIMARY KEY (id);
UPDATE papers SET counted = counted + 1 WHERE id = 2 RETURNING title, short, nothing, accents, behind;
UPDATE papers SET counted = counted + 1 WHERE id = 3 RETURNING title, short, nothing, accents, price, behind, counted;
UPDATE papers SET title = title || '!', short = accents WHERE id = 4 RETURNING title, short, nothing, accents;
WITH changed AS (UPDATE papers SET price = price * 3 RETURNING id, title, short, accents, price) SELECT * FROM changed ORDER BY id;
-- Values that are elsewhere, and columns that came later, take the row as a whole.
UPDATE papers SET accents = (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 900) AS i) WHERE id = 5;
UPDATE papers SET counted = 50 WHERE id = 5 RETURNING title, short, nothing, length(accents), behind;
ALTER TABLE papers ADD COLUMN later text DEFAULT 'läter';
WITH changed AS (UPDATE papers SET counted = counted + 1 RETURNING id, title, short, nothing, length(accents), later) SELECT * FROM changed ORDER BY id;
WITH changed AS (UPDATE papers SET counted = counted + 1 RETURNING id, title, short, nothing, length(accents), later) SELECT * FROM changed ORDER BY id;
ALTER TABLE papers DROP COLUMN title;
WITH changed AS (UPDATE papers SET counted = counted + 1 RETURNING id, short, nothing, length(accents), behind, later) SELECT * FROM changed ORDER BY id;
SELECT id, short, nothing, length(accents), price, behind, counted, later FROM papers ORDER BY id;

CREATE FUNCTION of_papers(which int[], amounts int[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE a text; b text; c text; d numeric;
BEGIN
  FOR i IN 1 .. array_length(which, 1) LOOP
    UPDATE papers SET counted = CASE WHEN counted - amounts[i] >= 10 THEN counted - amounts[i]
        ELSE counted - amounts[i] + 91 END, price = price + amounts[i]
      WHERE id = which[i]
      RETURNING CASE which[i] WHEN 1 THEN short WHEN 2 THEN nothing WHEN 3 THEN behind ELSE later END, nothing, behind, price
      INTO a, b, c, d;
    RETURN NEXT concat_ws('/', which[i], FOUND, a, b, c, d);
  END LOOP;
  BEGIN
    UPDATE papers SET counted = 0 RETURNING short, nothing, behind INTO a, b, c;
  EXCEPTION WHEN too_many_rows THEN
    RETURN NEXT sqlerrm;
  END;
  RETURN NEXT (SELECT string_agg(counted::text, ',' ORDER BY id) FROM papers);
  BEGIN
    UPDATE papers SET price = 999999 + id WHERE id = 2 RETURNING price, short INTO d, a;
  EXCEPTION WHEN numeric_value_out_of_range THEN
    RETURN NEXT sqlerrm;
  END;
END $$;
SELECT of_papers(ARRAY[1, 2, 3, 4, 77], ARRAY[5, NULL, 7, 20000, 1]);

CREATE FUNCTION elements(a int[], b smallint[], c bigint[], d float8[], e text[], f int[], at int) RETURNS SETOF text
  LANGUAGE plpgsql AS $$
DECLARE shown text;
BEGIN
  SELECT concat_ws(',', a[at], b[at], c[at], d[at], e[at], f[at][1], f[at], a[at + 1], a[a[at]], a[b[at]]) INTO shown;
  RETURN NEXT shown;
  SELECT concat_ws(',', a[at] + b[at] * 2, c[at] % 3 - a[at], -a[at], a[at] = b[at], a[at] < c[at], a[at] / 2) INTO shown;
  RETURN NEXT shown;
  SELECT CASE a[at] WHEN 1 THEN 'one' WHEN b[at] THEN 'small' WHEN c[1] THEN 'wide' END INTO shown;
  RETURN NEXT shown;
  SELECT CASE WHEN a[at] IS NULL THEN 'null' WHEN a[at] > 2 THEN e[at] ELSE CASE b[at] WHEN 5 THEN 'five' ELSE 'other' END END
    INTO shown;
  RETURN NEXT shown;
END $$;
SELECT elements('{1,2,3}', '{4,5,6}', '{7,8,9}', '{1.5,2.5,3.5}', '{x,y,z}', '{{1,2},{3,4}}', 2);
SELECT elements('{1,NULL,3}', '{4,NULL,6}', '{7,8,9}', '{1.5,NULL}', '{x,y,z}', '{{1,2},{3,4}}', 2);
SELECT elements('[0:2]={1,2,3}', '[-1:1]={4,5,6}', '{7}', '{}', NULL, '{}', 0);
SELECT elements('{1,2,3}', '{4,5,6}', '{7,8,9}', '{1.5,2.5,3.5}', '{x,y,z}', '{{1,2},{3,4}}', NULL);
SELECT elements('{2147483647}', '{1}', '{1}', '{1}', '{x}', '{1}', 1);

SELECT v::numeric(5, 2) FROM unnest('{0, 1, 1.005, -1.005, 999.99, 12.3, 12.30000, -0.004, NaN}'::numeric[]) AS v;
SELECT 999.995::numeric(5, 2);
SELECT 1000::numeric(5, 2);
SELECT 'Infinity'::numeric(5, 2);
SELECT v::numeric(3, 5) FROM unnest('{0.00999, -0.001234567, 0}'::numeric[]) AS v;
SELECT 0.01::numeric(3, 5);
SELECT v::numeric(4, -2) FROM unnest('{123456, 49, 50, -987650}'::numeric[]) AS v;
SELECT 999950::numeric(4, -2);
SELECT v::numeric(40, 10) FROM unnest('{123456789012345678901234567890.12345678905, 0.00000000001}'::numeric[]) AS v;
SELECT v::numeric(12, 4) * 3::numeric(6, 2) FROM unnest('{1.1, 22222222.22225}'::numeric[]) AS v;
DROP FUNCTION of_papers, elements;
DROP TABLE papers;
