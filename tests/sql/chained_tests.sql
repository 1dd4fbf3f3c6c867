-- Tests and ranges behind one another: those that end in a word or a parenthesis chain, those that end in an operand do not.
SELECT 1 IS NULL IS FALSE, NULL IS NULL IS TRUE IS NOT NULL, true IS TRUE IS NULL, 1 IS NULL = true;
SELECT NOT 1 IS NULL IS NULL, 1 ISNULL NOTNULL, 1 IS NOT NULL ISNULL, NULL::bool IS UNKNOWN IS NOT FALSE;
SELECT 1 IN (1) IN (true), 1 NOT IN (1, 2) IN (SELECT true), 1 IN (1) = true, 1 IN (1) IS NULL;
SELECT 1 = ANY (ARRAY[1]) = true, 1 < ALL (ARRAY[2, 3]) = ANY (ARRAY[false]), 'a' LIKE ANY (ARRAY['a']) LIKE 'b';
SELECT 1 = 1 IS NULL = false, 1 + 1 IS NULL IS NULL AND 2 > 1 IS TRUE;
SELECT true IS DISTINCT FROM false IS NULL;
SELECT 1 IS DISTINCT FROM 2 IS DISTINCT FROM true;
SELECT 1 IS NULL IS DISTINCT FROM false;
SELECT 1 = 1 = true;
SELECT 1 < 2 < 3;
SELECT 'a' LIKE 'a' LIKE 'a';
SELECT 1 BETWEEN 0 AND 2 BETWEEN 3 AND 4;
SELECT 1 BETWEEN 0 AND 2 IN (true);
SELECT 1 IN (1) BETWEEN false AND true;
CREATE TABLE tested (a int, CHECK (a IS NULL IS NOT NULL));
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'tested_a_check';
DROP TABLE tested;
