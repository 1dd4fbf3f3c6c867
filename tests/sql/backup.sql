-- Online backups: what pg_backup_start and pg_backup_stop refuse (tests/restore.rs takes some).
SELECT pg_backup_stop();
SELECT pg_backup_stop(false);
SELECT * FROM pg_backup_stop(wait_for_archive => true);
SELECT pg_backup_start(repeat('x', 1025), true);
SELECT pg_backup_start(NULL), pg_backup_stop(NULL);
CREATE ROLE backup_nobody;
SET ROLE backup_nobody;
SELECT pg_backup_start('five', true);
SELECT pg_backup_stop();
RESET ROLE;
DROP ROLE backup_nobody;
