INSERT INTO s.t VALUES (5, 50, 'five', 5)
INSERT INTO s.t (id) VALUES (5)
INSERT INTO s.t (id, a) VALUES (5, 50)
INSERT INTO s.t (id, b) VALUES (5, 'five')
INSERT INTO s.t (id, a, s) VALUES (5, 50, 1)
INSERT INTO s.t (id, a, s) VALUES (5, 50, 1) RETURNING id
INSERT INTO s.t (id, a, s) VALUES (5, 50, 1) RETURNING b
INSERT INTO s.t (id, a, s) VALUES (5, 50, 1) RETURNING *
INSERT INTO s.t (id, a, s) VALUES (5, 50, 1) RETURNING 1
INSERT INTO s.t DEFAULT VALUES
INSERT INTO s.t (id, s) SELECT 7, 1
INSERT INTO s.t (id, s) SELECT id + 10, 1 FROM s.t
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT DO NOTHING
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT (id) DO NOTHING
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT ON CONSTRAINT t_pkey DO NOTHING
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET a = 5
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET b = 'x'
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET a = excluded.a
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET a = excluded.c
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET a = t.a
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET a = t.c
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET a = 5 WHERE t.b = 'one'
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET a = 5 WHERE t.a = 1
INSERT INTO s.t (id, a, s) VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET a = 5 WHERE excluded.c = 1
INSERT INTO s.parent VALUES (5, 5)
INSERT INTO s.parent VALUES (1, 5) ON CONFLICT (id) WHERE a > 0 DO NOTHING
INSERT INTO s.parent VALUES (1, 5) ON CONFLICT (a) DO NOTHING
INSERT INTO s.child VALUES (5, 1)
INSERT INTO s.child VALUES (5, 99)
INSERT INTO s.identity (a) VALUES (1)
INSERT INTO s.identity OVERRIDING SYSTEM VALUE VALUES (100, 1)
INSERT INTO s.v VALUES (5, 50, 'five')
INSERT INTO s.v (id, a) VALUES (5, 50)
INSERT INTO s.v (id, a) VALUES (5, 50) RETURNING id
INSERT INTO s.v (id, a) VALUES (5, 50) RETURNING *
INSERT INTO s.v (id, a) VALUES (1, 50) ON CONFLICT (id) DO UPDATE SET a = 3
INSERT INTO s.v_invoker (id, a) VALUES (5, 50)
INSERT INTO s.v_barrier (id, a) VALUES (5, 50)
INSERT INTO s.v_over (id, a) VALUES (5, 50)
INSERT INTO s.v_denied (id) VALUES (5)
INSERT INTO s.mv VALUES (1, 1)
INSERT INTO s.sq VALUES (1)
INSERT INTO hidden.t VALUES (5, 5)
INSERT INTO public.p VALUES (1, 1)
UPDATE s.t SET a = 1
UPDATE s.t SET a = a
UPDATE s.t SET b = 'x'
UPDATE s.t SET a = 1, b = 'x'
UPDATE s.t SET a = 1 WHERE id = 1
UPDATE s.t SET a = 1 WHERE b = 'one'
UPDATE s.t SET a = 1 RETURNING id
UPDATE s.t SET a = 1 RETURNING *
UPDATE s.t SET a = 1 RETURNING 1
UPDATE s.t SET (a, id) = (1, 7) WHERE false
UPDATE s.t SET (a, b) = (SELECT 1, 'x')
UPDATE s.t SET a = x.a FROM s.parent x WHERE x.id = t.id
UPDATE s.t SET a = DEFAULT
UPDATE s.t SET s = DEFAULT
UPDATE s.parent SET id = 7 WHERE id = 1
UPDATE s.parent SET id = 7
UPDATE s.parent SET a = 7 WHERE id = 1
UPDATE s.child SET parent = 2
UPDATE s.v SET a = 1
UPDATE s.v SET a = 1 WHERE id = 1
UPDATE s.v SET b = 'x'
UPDATE s.v SET a = 1 RETURNING *
UPDATE s.v_invoker SET a = 1
UPDATE s.v_invoker SET a = 1 WHERE id = 1
UPDATE s.v_barrier SET a = 1
UPDATE s.v_over SET a = 1
UPDATE s.v_denied SET id = 7
UPDATE s.mv SET a = 1
UPDATE hidden.t SET a = 1
UPDATE public.p SET a = 1
DELETE FROM s.t
DELETE FROM s.t WHERE id = 1
DELETE FROM s.t WHERE b = 'one'
DELETE FROM s.t RETURNING id
DELETE FROM s.t RETURNING *
DELETE FROM s.t USING s.parent WHERE parent.id = t.id
DELETE FROM s.parent
DELETE FROM s.parent WHERE id = 1
DELETE FROM s.child
DELETE FROM s.v
DELETE FROM s.v WHERE id = 1
DELETE FROM s.v_invoker
DELETE FROM s.v_invoker WHERE id = 1
DELETE FROM s.v_barrier
DELETE FROM s.v_over
DELETE FROM s.v_denied
DELETE FROM s.mv
DELETE FROM hidden.t
MERGE INTO s.t USING s.parent x ON x.id = t.id WHEN MATCHED THEN UPDATE SET a = 1
MERGE INTO s.t USING s.parent x ON x.id = t.id WHEN MATCHED THEN DELETE
MERGE INTO s.t USING s.parent x ON x.id = t.id WHEN MATCHED THEN DO NOTHING
MERGE INTO s.t USING (VALUES (9)) x (id) ON x.id = t.id WHEN NOT MATCHED THEN INSERT (id, s) VALUES (9, 1)
MERGE INTO s.t USING (VALUES (9)) x (id) ON x.id = t.id WHEN NOT MATCHED THEN INSERT (id, a, s) VALUES (9, 1, 1) WHEN MATCHED THEN UPDATE SET a = 1
MERGE INTO s.t USING (VALUES (9)) x (id) ON x.id = t.id WHEN MATCHED AND t.b = 'x' THEN DELETE
MERGE INTO s.t USING (VALUES (9)) x (id) ON false WHEN MATCHED THEN UPDATE SET a = 1
TRUNCATE s.t
TRUNCATE s.t RESTART IDENTITY
TRUNCATE s.parent
TRUNCATE s.parent CASCADE
TRUNCATE s.parent, s.child
TRUNCATE s.child
TRUNCATE s.identity RESTART IDENTITY
TRUNCATE s.v
TRUNCATE s.mv
TRUNCATE s.sq
TRUNCATE hidden.t
TRUNCATE public.p
TRUNCATE pg_class
TRUNCATE s.t, s.child
COPY s.t FROM STDIN
COPY s.t (id, a) FROM STDIN
COPY s.t (id, b) FROM STDIN
COPY s.child FROM STDIN
COPY s.v FROM STDIN
COPY hidden.t FROM STDIN
SELECT nextval('s.sq')
SELECT currval('s.sq')
SELECT lastval()
SELECT setval('s.sq', 5)
SELECT nextval('s.t_s_seq')
SELECT setval('s.t_s_seq', 5)
SELECT nextval('s.identity_id_seq')
SELECT pg_sequence_last_value('s.sq')
SELECT pg_sequence_last_value('s.t_s_seq')
SELECT pg_get_serial_sequence('s.t', 's')
SELECT pg_sequence_parameters('s.sq')
SELECT lo_create(0)
WITH x AS (INSERT INTO s.t (id, s) VALUES (77, 1) RETURNING 1) SELECT 1
WITH x AS (DELETE FROM s.t) SELECT 1
WITH x AS (UPDATE s.t SET a = 1) SELECT 1
EXPLAIN ANALYZE DELETE FROM s.child
SELECT * INTO s.made FROM s.t
SELECT * INTO TEMP made FROM s.t
CREATE TABLE s.made AS SELECT * FROM s.t
CREATE TABLE s.made AS SELECT 1 AS a
CREATE TABLE empty.made AS SELECT id FROM s.t
CREATE TABLE empty.made AS SELECT 1 AS a WITH NO DATA
CREATE TEMP TABLE made AS SELECT 1 AS a
