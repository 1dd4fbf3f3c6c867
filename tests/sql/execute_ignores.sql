-- What EXECUTE gives to a statement without parameters is not looked at; one with parameters wants as many.
PREPARE none AS SELECT 1 AS one;
PREPARE single(int) AS SELECT $1 AS given;
EXECUTE none(1);
EXECUTE none(1 / 0, nothing);
CREATE TABLE made AS EXECUTE none(5);
EXPLAIN (COSTS OFF) EXECUTE none(3);
EXECUTE single;
EXECUTE single(1, 2);
CREATE TABLE refused AS EXECUTE single;
DO $$ BEGIN EXECUTE 'EXECUTE none(7)'; END $$;
TABLE made;
DEALLOCATE ALL;
DROP TABLE made;
