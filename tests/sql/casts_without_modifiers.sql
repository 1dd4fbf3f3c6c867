-- A cast to a type without a modifier takes the modifier away: from the columns of views and tables, and in print.
CREATE TABLE given (n numeric(18, 3), c char(16), v varchar(5), t timestamp(3), i interval(2), a numeric(6, 2)[]);
INSERT INTO given VALUES (1.5, 'c', 'v', '2026-11-26 01:02:03.4567', '1 day 00:00:01.2345', ARRAY[1.5]);
CREATE VIEW seen AS SELECT n::numeric AS n, c::bpchar AS c, v::varchar AS v, v::text AS x, t::timestamp AS t, i::interval AS i,
    a::numeric[] AS a, n AS own, n::numeric(18, 3) AS same, n::numeric(10, 2) AS other, v::varchar(10) AS longer, n::int AS whole FROM given;
CREATE TABLE made AS SELECT * FROM seen;
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid IN ('seen'::regclass, 'made'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum;
SELECT pg_get_viewdef('seen', true);
SELECT pg_get_viewdef('seen');
SELECT * FROM made;
-- An index on the column is one on what it is cast to.
CREATE INDEX ON given ((n::numeric));
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'given'::regclass;
