-- Names of settings that a library has.
SET auto_explain.of_nobody = 'x';
SHOW auto_explain.of_nobody;
LOAD 'auto_explain';
SHOW auto_explain.of_nobody;
SET auto_explain.of_nobody = 'x';
SET LOCAL auto_explain.of_nobody = 'x';
SELECT set_config('auto_explain.of_nobody', 'x', false);
SET auto_explain.log_min_duration = -1;
SET auto_explanation.of_nobody = 'x';
SHOW auto_explanation.of_nobody;
-- The schema of a temporary table has no number where it is shown.
CREATE TEMPORARY TABLE passing (a int PRIMARY KEY, b text);
EXPLAIN (VERBOSE, COSTS OFF) SELECT b FROM passing;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO passing VALUES (1, 'x');
EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT b FROM passing;
