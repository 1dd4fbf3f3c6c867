-- Ordered-set aggregates.
CREATE TABLE o (g int, f float8, i int, t text);
INSERT INTO o VALUES (1, 1.5, 1, 'a'), (1, 2.5, 2, 'b'), (1, 10, 3, 'b'), (2, 4, 4, 'c'), (2, NULL, NULL, NULL), (3, NULL, NULL, NULL);
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f), percentile_cont(0.25) WITHIN GROUP (ORDER BY i) FROM o;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY f), percentile_disc(0.75) WITHIN GROUP (ORDER BY t DESC) FROM o;
SELECT g, mode() WITHIN GROUP (ORDER BY t), percentile_cont(0.9) WITHIN GROUP (ORDER BY f DESC) FROM o GROUP BY g ORDER BY g;
SELECT percentile_cont(ARRAY[0, 0.5, NULL, 1]) WITHIN GROUP (ORDER BY f), percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY t) FROM o;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FILTER (WHERE g = 1) FROM o;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FROM o WHERE false;
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY f) FROM o;
SELECT percentile_cont(NULL) WITHIN GROUP (ORDER BY f) FROM o;
SELECT mode(i) FROM o;
CREATE VIEW ordered AS SELECT g, mode() WITHIN GROUP (ORDER BY t) AS m, percentile_disc(0.5) WITHIN GROUP (ORDER BY i DESC) AS p FROM o GROUP BY g;
SELECT * FROM ordered ORDER BY g;
SELECT pg_get_viewdef('ordered', true);
SELECT pg_terminate_backend(0, -1);
DROP VIEW ordered;
DROP TABLE o;
