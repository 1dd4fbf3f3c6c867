-- Online backups: pg_backup_start and pg_backup_stop, and what they refuse.
SELECT pg_backup_stop();
SELECT pg_backup_stop(false);
SELECT pg_backup_start(repeat('x', 1025), true);
SELECT pg_backup_start(NULL), pg_backup_stop(NULL);
SELECT pg_backup_start('one', fast => true) IS NOT NULL AS started;
SELECT pg_backup_start('two', true);
BEGIN;
SELECT pg_backup_start('three', true);
ROLLBACK;
-- It goes on beyond the transaction.
SELECT lsn IS NOT NULL AS has_lsn, regexp_replace(labelfile, '[0-9A-F]+/[0-9A-F]+|[0-9A-F]{24}|[0-9]{4}-.*', '#', 'gn') AS label, spcmapfile FROM pg_backup_stop(false);
SELECT pg_backup_stop();
BEGIN;
SELECT pg_backup_start('four') > '0/0' AS started;
ROLLBACK;
SELECT lsn > '0/0' AS stopped FROM pg_backup_stop(wait_for_archive => false);
CREATE ROLE backup_nobody;
SET ROLE backup_nobody;
SELECT pg_backup_start('five', true);
SELECT pg_backup_stop();
RESET ROLE;
DROP ROLE backup_nobody;
