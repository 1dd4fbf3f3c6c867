-- What is counted of tables and indexes. PostgreSQL reads by key even where that is dearer, and hands its counts over at once.
SET client_min_messages = warning;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;
CREATE VIEW counted AS SELECT relname, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_tup_ins, n_tup_upd, n_tup_del, n_tup_hot_upd, n_live_tup, n_dead_tup, n_mod_since_analyze, n_ins_since_vacuum FROM pg_stat_user_tables ORDER BY relname;
CREATE VIEW indexes_counted AS SELECT relname, indexrelname, idx_scan, idx_tup_read, idx_tup_fetch FROM pg_stat_user_indexes ORDER BY indexrelname;
CREATE TABLE t (a int PRIMARY KEY, b int, k int);
CREATE INDEX t_k ON t (k);
INSERT INTO t SELECT g, g * 10, g % 3 FROM generate_series(1, 10) g;
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_live_tup, n_dead_tup, n_mod_since_analyze, n_ins_since_vacuum FROM counted;
SELECT pg_stat_reset();
TABLE counted;
-- Scans of keys.
SELECT b FROM t WHERE a = 3;
SELECT b FROM t WHERE a IN (3, 4, 99);
SELECT sum(b) FROM t WHERE k = 1;
SELECT sum(b) FROM t WHERE a > 5;
SELECT b FROM t WHERE a = 77;
SELECT b FROM t WHERE a = (SELECT NULL::int);
SELECT pg_stat_force_next_flush();
TABLE counted;
TABLE indexes_counted;
-- Scans of tables.
SET enable_indexscan = off;
SELECT count(*) FROM t;
SELECT a FROM t WHERE b > 0 LIMIT 2;
SELECT count(*) FROM t x, (VALUES (1), (2)) y WHERE x.b < 0;
SET enable_indexscan = on;
SELECT pg_stat_force_next_flush();
TABLE counted;
-- What a transaction has counted so far, and what is left of it when it rolls back.
BEGIN;
UPDATE t SET b = b + 1 WHERE a = 1;
UPDATE t SET k = 7 WHERE a = 2;
DELETE FROM t WHERE a = 3;
INSERT INTO t VALUES (100, 1, 1), (101, 1, 1);
SELECT relname, seq_scan, idx_scan, idx_tup_fetch, n_tup_ins, n_tup_upd, n_tup_del, n_tup_hot_upd FROM pg_stat_xact_user_tables;
ROLLBACK;
SELECT pg_stat_force_next_flush();
TABLE counted;
-- Savepoints.
BEGIN;
INSERT INTO t VALUES (101, 1, 1);
SAVEPOINT a;
INSERT INTO t VALUES (102, 1, 1);
DELETE FROM t WHERE a = 101;
ROLLBACK TO a;
INSERT INTO t VALUES (103, 1, 1);
RELEASE a;
UPDATE t SET a = 104 WHERE a = 103;
COMMIT;
SELECT pg_stat_force_next_flush();
TABLE counted;
BEGIN;
SAVEPOINT a;
INSERT INTO t VALUES (105, 1, 1);
SAVEPOINT b;
INSERT INTO t VALUES (106, 1, 1), (105, 1, 1);
ROLLBACK TO b;
INSERT INTO t VALUES (107, 1, 1);
ROLLBACK TO a;
COMMIT;
SELECT pg_stat_force_next_flush();
TABLE counted;
-- Keys that are there already, and ON CONFLICT.
INSERT INTO t VALUES (1, 1, 1);
UPDATE t SET a = 2 WHERE a = 1;
SELECT pg_stat_force_next_flush();
TABLE counted;
INSERT INTO t VALUES (1, 1, 1) ON CONFLICT DO NOTHING;
INSERT INTO t VALUES (1, 1, 1) ON CONFLICT (a) DO UPDATE SET b = 0;
INSERT INTO t VALUES (200, 1, 1) ON CONFLICT (a) DO UPDATE SET b = 0;
SELECT pg_stat_force_next_flush();
TABLE counted;
-- MERGE.
MERGE INTO t USING (VALUES (5, 1), (201, 2), (6, 0)) v (a, b) ON t.a = v.a WHEN MATCHED AND v.b = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET b = v.b WHEN NOT MATCHED THEN INSERT VALUES (v.a, v.b, 0);
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_tup_upd, n_tup_del, n_live_tup, n_dead_tup FROM counted;
-- The least and the greatest are read from the ends of a key.
SELECT pg_stat_reset();
SELECT min(k), max(k) FROM t;
SELECT min(a), max(a) FROM t WHERE a > 4;
SELECT pg_stat_force_next_flush();
SELECT indexrelname, idx_scan FROM indexes_counted;
-- Foreign keys look parents and children up.
CREATE TABLE c (x int REFERENCES t ON UPDATE CASCADE);
SELECT pg_stat_reset();
INSERT INTO c VALUES (1), (2), (NULL);
INSERT INTO c VALUES (77);
DELETE FROM t WHERE a = 1;
UPDATE t SET a = -2 WHERE a = 2;
SELECT pg_stat_force_next_flush();
SELECT relname, seq_scan, idx_scan, n_tup_ins, n_tup_upd, n_tup_del, n_dead_tup FROM counted;
-- COPY, and rows of a query into a new table.
CREATE TABLE d AS SELECT a, b, k FROM t;
INSERT INTO d SELECT * FROM d;
SELECT pg_stat_force_next_flush();
SELECT relname, n_tup_ins, n_live_tup, n_mod_since_analyze, n_ins_since_vacuum FROM counted WHERE relname = 'd';
-- TRUNCATE.
BEGIN;
INSERT INTO d VALUES (1, 2, 3);
TRUNCATE d;
INSERT INTO d VALUES (5, 6, 7), (6, 7, 8);
SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_user_tables WHERE relname = 'd';
COMMIT;
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_live_tup, n_dead_tup, n_mod_since_analyze, n_ins_since_vacuum FROM counted WHERE relname = 'd';
BEGIN;
INSERT INTO d VALUES (1, 2, 3);
TRUNCATE d;
INSERT INTO d VALUES (5, 6, 7), (6, 7, 8);
ROLLBACK;
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_live_tup, n_dead_tup, n_mod_since_analyze, n_ins_since_vacuum FROM counted WHERE relname = 'd';
-- VACUUM and ANALYZE.
CREATE VIEW maintained AS SELECT relname, vacuum_count, last_vacuum IS NOT NULL AS vacuumed, analyze_count, last_analyze IS NOT NULL AS analyzed, autovacuum_count, autoanalyze_count, last_autovacuum, n_live_tup, n_dead_tup, n_mod_since_analyze, n_ins_since_vacuum FROM pg_stat_user_tables WHERE relname = 'd';
DELETE FROM d WHERE a = 5;
SELECT pg_stat_force_next_flush();
TABLE maintained;
VACUUM d;
SELECT pg_stat_force_next_flush();
TABLE maintained;
ANALYZE d;
SELECT pg_stat_force_next_flush();
TABLE maintained;
VACUUM ANALYZE d;
INSERT INTO d VALUES (1, 1, 1);
SELECT pg_stat_force_next_flush();
TABLE maintained;
-- Whoever has looked sees the same to the end of the transaction, or until it looks anew.
BEGIN;
SELECT n_tup_ins FROM counted WHERE relname = 'd';
SELECT pg_stat_clear_snapshot();
SELECT n_tup_ins FROM counted WHERE relname = 'd';
COMMIT;
-- Resets.
SELECT pg_stat_reset_single_table_counters('d'::regclass);
TABLE maintained;
SELECT n_tup_ins > 0 FROM counted WHERE relname = 'c';
SELECT idx_scan > 0 FROM indexes_counted WHERE indexrelname = 't_pkey';
SELECT pg_stat_reset_single_table_counters('t_pkey'::regclass);
SELECT idx_scan FROM indexes_counted WHERE indexrelname = 't_pkey';
SELECT pg_stat_reset_single_table_counters(0);
SELECT pg_stat_reset();
TABLE counted;
TABLE indexes_counted;
SELECT pg_stat_get_numscans(0), pg_stat_get_tuples_inserted(NULL), pg_stat_get_xact_tuples_updated(0), pg_stat_get_last_analyze_time(0), pg_stat_get_analyze_count(0);
-- Databases.
SELECT stats_reset IS NOT NULL FROM pg_stat_database WHERE datname = current_database();
BEGIN;
INSERT INTO d VALUES (1, 1, 1), (2, 2, 2);
UPDATE d SET b = 2;
DELETE FROM d WHERE a = 1;
COMMIT;
SELECT pg_stat_force_next_flush();
SELECT tup_inserted, tup_updated, tup_deleted, xact_commit > 0 FROM pg_stat_database WHERE datname = current_database();
-- Temporary tables and materialized views.
CREATE TEMP TABLE tt (a int) ON COMMIT DELETE ROWS;
INSERT INTO tt VALUES (1);
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_live_tup FROM counted WHERE relname = 'tt';
CREATE MATERIALIZED VIEW m AS SELECT a FROM t;
REFRESH MATERIALIZED VIEW m;
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins > 0, n_live_tup, n_dead_tup FROM counted WHERE relname = 'm';
