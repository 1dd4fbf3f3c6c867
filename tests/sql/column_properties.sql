-- What a column's definition says that only the catalog tells: compression, storage, statistics, options, dimensions.
-- PostgreSQL 15.20 keeps a number of its own among the options, which differs from run to run.
CREATE TABLE props (a text COMPRESSION pglz, b int[][], c int[3][4], d int, e text);
SELECT attname, attcompression, attndims FROM pg_attribute WHERE attrelid = 'props'::regclass AND attnum > 0 ORDER BY attnum;
ALTER TABLE props ALTER a SET STORAGE external, ALTER a SET STATISTICS 20, ALTER d SET (n_distinct = 5, n_distinct_inherited = 0.5);
ALTER TABLE props ALTER b SET COMPRESSION lz4, ALTER e SET STORAGE MAIN;
ALTER TABLE props ALTER a SET COMPRESSION default;
ALTER TABLE props ALTER a SET COMPRESSION nosuch;
ALTER TABLE props ALTER d SET COMPRESSION pglz;
ALTER TABLE props ALTER d SET STORAGE plain;
ALTER TABLE props ALTER d SET STORAGE main;
ALTER TABLE props ALTER d SET STORAGE nosuch;
ALTER TABLE props ALTER nosuch SET STORAGE main;
ALTER TABLE props ALTER ctid SET STORAGE main;
ALTER TABLE props ALTER nosuch SET STATISTICS 5;
ALTER TABLE props ALTER ctid SET STATISTICS 5;
ALTER TABLE props ALTER e SET STATISTICS -2;
ALTER TABLE props ALTER e SET STATISTICS 20000;
ALTER TABLE props ALTER d SET (n_distinct = -2);
ALTER TABLE props ALTER d SET (n_distinct = 'x');
ALTER TABLE props ALTER d SET (nosuch = 2);
ALTER TABLE props ALTER ctid SET (n_distinct = 2);
ALTER TABLE props ALTER nosuch SET (n_distinct = 2);
SELECT attname, attstorage, attcompression, attstattarget,
  (SELECT array_agg(o) FROM unnest(attoptions) o WHERE o NOT LIKE 'pg_attver=%') AS attoptions FROM pg_attribute WHERE attrelid = 'props'::regclass AND attnum > 0 ORDER BY attnum;
CREATE INDEX props_index ON props (a, (e || 'x')) INCLUDE (d);
CREATE TABLE props_like (LIKE props);
CREATE TABLE props_storage (LIKE props INCLUDING STORAGE);
CREATE TABLE props_all (LIKE props INCLUDING ALL);
CREATE TABLE props_as AS SELECT * FROM props;
CREATE VIEW props_view AS SELECT * FROM props;
SELECT attrelid::regclass, attname, attndims, attstorage, attcompression, attstattarget,
  (SELECT array_agg(o) FROM unnest(attoptions) o WHERE o NOT LIKE 'pg_attver=%') AS attoptions FROM pg_attribute
  WHERE attrelid IN ('props_like'::regclass, 'props_storage'::regclass, 'props_all'::regclass, 'props_as'::regclass, 'props_view'::regclass, 'props_index'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum;
ALTER TABLE props ALTER d RESET (n_distinct);
ALTER TABLE props ALTER a SET STATISTICS -1;
ALTER TABLE props ALTER e TYPE varchar(10), ALTER c TYPE bigint[][][];
ALTER TABLE props ADD f text COMPRESSION lz4, ADD g text[][];
SELECT attname, attndims, attstorage, attcompression, attstattarget,
  (SELECT array_agg(o) FROM unnest(attoptions) o WHERE o NOT LIKE 'pg_attver=%') AS attoptions FROM pg_attribute WHERE attrelid = 'props'::regclass AND attnum > 0 ORDER BY attnum;
ALTER TABLE props_view ALTER a SET STORAGE main;
ALTER VIEW props_view ALTER a SET STATISTICS 5;
DROP VIEW props_view;
DROP TABLE props, props_like, props_storage, props_all, props_as;
