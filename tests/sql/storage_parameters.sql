-- Storage parameters are checked by their own kinds, in their own spaces.
CREATE TABLE stored (i int, t text) WITH (vacuum_index_cleanup = auto, toast.vacuum_index_cleanup = off);
ALTER TABLE stored SET (vacuum_index_cleanup = on);
ALTER TABLE stored SET (vacuum_index_cleanup = false);
ALTER TABLE stored SET (vacuum_index_cleanup = sometimes);
ALTER TABLE stored SET (nowhere.fillfactor = 20);
ALTER TABLE stored SET (toast.unknown = 20);
ALTER TABLE stored SET (unknown = 20);
CREATE INDEX ON stored (i) WITH (nowhere.fillfactor = 20);
