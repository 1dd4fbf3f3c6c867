-- Aggregates of pairs: covariance, correlation, the least-squares line.
CREATE TABLE p (g int, y float8, x float8);
INSERT INTO p VALUES (1, 1, 2), (1, 2, 3.5), (1, 4, 7), (1, 3.25, -1), (1, NULL, 9), (1, 9, NULL), (2, 5, 5), (3, 1, 7), (3, 2, 7), (3, 3, 7), (4, 6, 1), (4, 6, 2), (5, NULL, 1), (6, 'NaN', 1), (6, 2, 3), (7, 'Infinity', 1), (7, 1, 2), (8, 1e300, 1), (8, 2, 1e-300);
SELECT g, regr_count(y, x), regr_avgx(y, x), regr_avgy(y, x) FROM p GROUP BY g ORDER BY g;
SELECT g, regr_sxx(y, x), regr_sxy(y, x), covar_pop(y, x), covar_samp(y, x) FROM p GROUP BY g ORDER BY g;
SELECT g, regr_syy(y, x) FROM p WHERE g <> 8 GROUP BY g ORDER BY g;
SELECT regr_syy(y, x) FROM p WHERE g = 8;
SELECT g, corr(y, x), regr_r2(y, x), regr_slope(y, x), regr_intercept(y, x) FROM p WHERE g <> 8 GROUP BY g ORDER BY g;
SELECT corr(y, x) FROM p WHERE g = 8;
SELECT regr_count(y, x), regr_slope(y, x), corr(y, x), covar_samp(y, x) FROM p WHERE false;
SELECT regr_count(DISTINCT y, x), corr(y, x) FILTER (WHERE x > 2), corr(g, g * 2) FROM p WHERE g < 5;
SELECT g, y, covar_pop(y, x) OVER (ORDER BY g ROWS 2 PRECEDING) FROM p WHERE g < 4 ORDER BY g, y;
SELECT corr(1::int, 2::numeric), regr_count(3::real, 4);
SELECT corr('a', 'b');
SELECT covar_pop(x) FROM p;
