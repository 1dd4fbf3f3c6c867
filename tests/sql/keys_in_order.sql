-- Of several keys under the same conditions the one is read that gives the order, too.
CREATE TABLE jobs (id int PRIMARY KEY, priority int NOT NULL, state int NOT NULL, made int NOT NULL, note text);
INSERT INTO jobs SELECT g, g % 32, g % 8, 50000 - g, 'note ' || g FROM generate_series(1, 20000) g;
CREATE INDEX jobs_made ON jobs (state, made);
CREATE INDEX jobs_priority ON jobs (state, priority DESC, id);
ANALYZE jobs;
EXPLAIN (COSTS OFF) SELECT * FROM jobs WHERE state = 1 ORDER BY priority DESC, id LIMIT 10;
SELECT * FROM jobs WHERE state = 1 ORDER BY priority DESC, id LIMIT 10;
EXPLAIN (COSTS OFF) SELECT * FROM jobs WHERE state = 1 ORDER BY priority, id DESC LIMIT 10;
SELECT * FROM jobs WHERE state = 1 ORDER BY priority, id DESC LIMIT 10;
EXPLAIN (COSTS OFF) SELECT * FROM jobs WHERE state = 1 ORDER BY made LIMIT 10;
SELECT * FROM jobs WHERE state = 1 ORDER BY made LIMIT 10;
EXPLAIN (COSTS OFF) SELECT * FROM jobs WHERE state = 1 ORDER BY priority DESC, id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT id FROM jobs WHERE state = 1 ORDER BY priority DESC, id LIMIT 10 FOR UPDATE SKIP LOCKED;
UPDATE jobs SET note = 'taken' WHERE id = (SELECT id FROM jobs WHERE state = 2 ORDER BY priority DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *;
PREPARE next(int) AS SELECT id, priority FROM jobs WHERE state = $1 ORDER BY priority DESC, id LIMIT 3;
EXECUTE next(3);
EXECUTE next(9);
-- The order's first column has one value.
EXPLAIN (COSTS OFF) SELECT id FROM jobs WHERE state = 1 ORDER BY state, priority DESC, id LIMIT 10;
SELECT id FROM jobs WHERE state = 1 ORDER BY state, priority DESC, id LIMIT 10;
-- What else is asked.
EXPLAIN (COSTS OFF) SELECT * FROM jobs WHERE state = 1 AND note LIKE '%7' ORDER BY priority DESC, id LIMIT 10;
SELECT * FROM jobs WHERE state = 1 AND note LIKE '%7' ORDER BY priority DESC, id LIMIT 10;
SELECT * FROM jobs WHERE state = 1 AND made < 30100 ORDER BY priority DESC, id LIMIT 10;
SELECT id, priority FROM jobs WHERE state = 1 AND priority > 20 ORDER BY priority DESC, id LIMIT 4 OFFSET 3;
SELECT id, priority FROM jobs WHERE state IN (1, 2) ORDER BY priority DESC, id LIMIT 10;
SELECT id, priority FROM jobs WHERE state = 1 OR state = 3 ORDER BY priority DESC, id LIMIT 10;
-- Keys of some rows, of which what these all meet need not be asked.
CREATE TABLE queue (id int PRIMARY KEY, priority int NOT NULL, state text NOT NULL, made int NOT NULL, taken text);
INSERT INTO queue SELECT g, g % 32, CASE WHEN g % 4 = 0 THEN 'ready' ELSE 'done' END, 50000 - g, CASE WHEN g % 3 > 0 THEN 'by ' || g END FROM generate_series(1, 20000) g;
CREATE INDEX queue_made ON queue (made) WHERE state = 'ready';
CREATE INDEX queue_priority ON queue (priority DESC, id) WHERE state = 'ready';
CREATE INDEX queue_free ON queue (priority, made) WHERE taken IS NULL AND made > 100;
ANALYZE queue;
EXPLAIN (COSTS OFF) SELECT id, priority FROM queue WHERE state = 'ready' ORDER BY priority DESC, id LIMIT 10;
SELECT id, priority FROM queue WHERE state = 'ready' ORDER BY priority DESC, id LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id, priority FROM queue WHERE state = 'ready' AND priority = 4 ORDER BY id LIMIT 10;
SELECT id, priority FROM queue WHERE state = 'ready' AND priority = 4 ORDER BY id LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id, state FROM queue WHERE state = 'ready' ORDER BY made LIMIT 5;
SELECT id, state FROM queue WHERE state = 'ready' ORDER BY made LIMIT 5;
SELECT priority, made FROM queue WHERE taken IS NULL AND made > 100 AND priority = 5 ORDER BY made LIMIT 5;
EXPLAIN (COSTS OFF) SELECT priority, made FROM queue WHERE taken IS NULL AND made > 200 AND priority = 5 ORDER BY made LIMIT 5;
SELECT priority, made FROM queue WHERE taken IS NULL AND made > 49000 AND priority = 5 ORDER BY made LIMIT 5;
SELECT priority, made FROM queue WHERE made > 100 AND priority = 5 ORDER BY made LIMIT 5;
SELECT count(*) FROM queue WHERE state = 'ready' AND priority > 4;
WITH taken AS (UPDATE queue SET state = 'done' WHERE id IN (SELECT id FROM queue WHERE state = 'ready' ORDER BY priority DESC, id LIMIT 3) RETURNING id, priority, state) SELECT * FROM taken ORDER BY id;
SELECT id, priority FROM queue WHERE state = 'ready' ORDER BY priority DESC, id LIMIT 2;
DELETE FROM queue WHERE state = 'ready' AND priority = 4;
SELECT count(*) FROM queue WHERE state = 'ready' AND priority = 4;
-- The least and the greatest behind a condition.
SELECT max(made), min(made) FROM jobs WHERE state = 1;
SELECT min(priority), max(priority), min(made) FROM queue WHERE state = 'ready';
SELECT id FROM queue WHERE state = 'ready' AND priority > 3 ORDER BY priority, id LIMIT 3;
SELECT min(priority) FROM queue WHERE state = 'never';
-- Of another table than the one whose order rows come in.
SELECT max(q.made) FROM jobs j JOIN queue q ON q.id = j.id AND q.priority = j.made WHERE j.state = 1;
SELECT max(j.made) FROM unnest(ARRAY[8, 9, 17]) g JOIN jobs j ON j.id = g;
SELECT max(j.id), min(g) FROM unnest(ARRAY[8, 9, 17]) WITH ORDINALITY AS g(g, n) JOIN jobs j ON j.id = g.g AND j.state = g.n;
-- Few rows have it.
CREATE INDEX queue_odd ON queue (id) WHERE taken = 'by 7';
EXPLAIN (COSTS OFF) SELECT * FROM queue WHERE taken = 'by 7';
SELECT * FROM queue WHERE taken = 'by 7';
SELECT * FROM queue WHERE taken = 'by 8';
-- Which rows an index has, and are asked for, a parameter's value says.
PREPARE by_state(text) AS SELECT id, priority FROM queue WHERE state = $1 ORDER BY priority DESC, id LIMIT 3;
EXPLAIN (COSTS OFF) EXECUTE by_state('ready');
EXECUTE by_state('ready');
EXECUTE by_state('done');
EXECUTE by_state(NULL);
PREPARE by_states(text[]) AS SELECT count(*), min(id) FROM queue WHERE state = ANY ($1) AND priority >= 0;
EXECUTE by_states('{ready}');
EXECUTE by_states('{ready,done}');
EXECUTE by_states('{}');
PREPARE from_time(int) AS SELECT made FROM queue WHERE taken IS NULL AND made > $1 AND priority = 5 ORDER BY made LIMIT 2;
EXECUTE from_time(200);
EXECUTE from_time(49000);
EXECUTE from_time(20);
SET plan_cache_mode = force_generic_plan;
EXECUTE by_state('ready');
RESET plan_cache_mode;
DO $$ DECLARE s text; found int; BEGIN FOREACH s IN ARRAY ARRAY['ready', 'done', NULL, 'ready'] LOOP SELECT id INTO found FROM queue WHERE state = s ORDER BY priority DESC, id LIMIT 1; RAISE NOTICE '% %', s, found; END LOOP; END $$;
DEALLOCATE ALL;
DROP TABLE jobs, queue;
