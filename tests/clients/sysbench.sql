-- What sysbench sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
DROP TABLE IF EXISTS sbtest1;

-- simple: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
CREATE TABLE sbtest1(
  id SERIAL,
  k INTEGER DEFAULT '0' NOT NULL,
  c CHAR(120) DEFAULT '' NOT NULL,
  pad CHAR(60) DEFAULT '' NOT NULL,
  PRIMARY KEY (id)
);

-- simple: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
CREATE INDEX k_1 ON sbtest1(k);

-- simple: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
BEGIN;

-- simple: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
COMMIT;

-- extended: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
SELECT c FROM sbtest1 WHERE id=$1;

-- extended: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
SELECT c FROM sbtest1 WHERE id BETWEEN $1 AND $2;

-- extended: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2;

-- extended: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
SELECT c FROM sbtest1 WHERE id BETWEEN $1 AND $2 ORDER BY c;

-- extended: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN $1 AND $2 ORDER BY c;

-- extended: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
UPDATE sbtest1 SET k=k+1 WHERE id=$1;

-- extended: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
UPDATE sbtest1 SET c=$1 WHERE id=$2;

-- extended: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
DELETE FROM sbtest1 WHERE id=$1;

-- extended: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
INSERT INTO sbtest1 (id, k, c, pad) VALUES ($1, $2, $3, $4);

-- simple: sysbench/oltp_read_write: prepare, run with and without server prepared statements, cleanup
ROLLBACK;

-- extended: sysbench/select_random_ranges: prepare, run with and without server prepared statements, cleanup
SELECT count(k)
          FROM sbtest1
          WHERE k BETWEEN $1 AND $2 OR k BETWEEN $3 AND $4 OR k BETWEEN $5 AND $6 OR k BETWEEN $7 AND $8 OR k BETWEEN $9 AND $10 OR k BETWEEN $11 AND $12 OR k BETWEEN $13 AND $14 OR k BETWEEN $15 AND $16 OR k BETWEEN $17 AND $18 OR k BETWEEN $19 AND $20;

-- simple: oltp_read_write prepare
CREATE TABLE sbtest2(
  id SERIAL,
  k INTEGER DEFAULT '0' NOT NULL,
  c CHAR(120) DEFAULT '' NOT NULL,
  pad CHAR(60) DEFAULT '' NOT NULL,
  PRIMARY KEY (id)
);

-- simple: oltp_read_write prepare
CREATE INDEX k_2 ON sbtest2(k);

-- extended: oltp_read_write run --db-ps-mode=auto
SELECT c FROM sbtest2 WHERE id=$1;

-- extended: oltp_read_write run --db-ps-mode=auto
SELECT c FROM sbtest2 WHERE id BETWEEN $1 AND $2;

-- extended: oltp_read_write run --db-ps-mode=auto
SELECT SUM(k) FROM sbtest2 WHERE id BETWEEN $1 AND $2;

-- extended: oltp_read_write run --db-ps-mode=auto
SELECT c FROM sbtest2 WHERE id BETWEEN $1 AND $2 ORDER BY c;

-- extended: oltp_read_write run --db-ps-mode=auto
SELECT DISTINCT c FROM sbtest2 WHERE id BETWEEN $1 AND $2 ORDER BY c;

-- extended: oltp_read_write run --db-ps-mode=auto
UPDATE sbtest2 SET k=k+1 WHERE id=$1;

-- extended: oltp_read_write run --db-ps-mode=auto
UPDATE sbtest2 SET c=$1 WHERE id=$2;

-- extended: oltp_read_write run --db-ps-mode=auto
DELETE FROM sbtest2 WHERE id=$1;

-- extended: oltp_read_write run --db-ps-mode=auto
INSERT INTO sbtest2 (id, k, c, pad) VALUES ($1, $2, $3, $4);

-- simple: oltp_read_write cleanup
DROP TABLE IF EXISTS sbtest2;

-- extended: select_random_points run --db-ps-mode=auto
SELECT id, k, c, pad
          FROM sbtest1
          WHERE k IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- simple: bulk_insert prepare
CREATE TABLE IF NOT EXISTS sbtest1 (
          id INTEGER NOT NULL,
          k INTEGER DEFAULT '0' NOT NULL,
          PRIMARY KEY (id));

-- simple: bulk_insert prepare
CREATE TABLE IF NOT EXISTS sbtest2 (
          id INTEGER NOT NULL,
          k INTEGER DEFAULT '0' NOT NULL,
          PRIMARY KEY (id));
