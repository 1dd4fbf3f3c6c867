-- Columns of days and of local times that are compared with points in time are found by their keys.
CREATE TABLE happened (id int PRIMARY KEY, at timestamptz, local timestamp, day date);
INSERT INTO happened SELECT g, timestamptz '2024-01-01 00:00+00' + (g * 7919 % 20000) * interval '10 minutes', timestamp '2024-01-01 00:00' + (g * 7919 % 20000) * interval '10 minutes', date '2024-01-01' + g * 7919 % 150 FROM generate_series(1, 20000) g;
CREATE INDEX happened_at ON happened (at);
CREATE INDEX happened_local ON happened (local);
CREATE INDEX happened_day ON happened (day);
ANALYZE happened;
SELECT count(*), min(id) FROM happened WHERE local >= timestamptz '2024-05-01 10:00+00' AND local < timestamptz '2024-05-01 12:00+00';
SELECT count(*) FROM happened WHERE local = timestamptz '2024-05-01 10:00+00';
SELECT count(*) FROM happened WHERE timestamptz '2024-01-01 10:00+00' >= local;
SELECT count(*) FROM happened WHERE day > timestamptz '2024-05-28 10:00+00';
SELECT count(*) FROM happened WHERE day >= timestamp '2024-05-28 10:00' AND day <= timestamp '2024-05-29';
SELECT count(*) FROM happened WHERE day = timestamp '2024-05-28 10:00';
SELECT count(*) FROM happened WHERE day = timestamp '2024-05-28';
SELECT count(*) FROM happened WHERE local > timestamptz 'infinity';
SELECT count(*) FROM happened WHERE day <= timestamp '-infinity';
SELECT count(*) FROM happened WHERE local < timestamptz '4714-11-24 01:00+00 BC' OR local > timestamptz '294276-12-31 23:00+00';
SELECT count(*) FROM happened WHERE at > now() + interval '1 hour' OR local > now() + interval '1 hour' OR day > now() + interval '1 day';
-- Of rows beside them.
SELECT g.day::date, count(h.id) FROM generate_series(date '2024-02-01', date '2024-02-04', '1 day') g(day) LEFT JOIN happened h ON h.local >= g.day AND h.local < g.day + interval '1 day' GROUP BY 1 ORDER BY 1;
SELECT g.day::date, count(h.id) FROM generate_series(date '2024-02-01', date '2024-02-04', '1 day') g(day) LEFT JOIN happened h ON h.day = g.day GROUP BY 1 ORDER BY 1;
PREPARE within(timestamptz) AS SELECT count(*) FROM happened WHERE local > $1 AND local <= $1 + interval '2 hours';
EXECUTE within('2024-03-10 02:15+00');
EXECUTE within(NULL);
-- Where the clock is put forward and back.
SET timezone = 'America/New_York';
SELECT count(*) FROM happened WHERE local >= timestamptz '2024-03-10 00:30-05' AND local < timestamptz '2024-03-10 06:00-04';
SELECT m, (SELECT count(*) FROM happened WHERE day >= m), (SELECT count(*) FROM happened WHERE day < m), (SELECT count(*) FROM happened WHERE day = m) FROM unnest(ARRAY['2024-03-10 00:00-05', '2024-03-10 12:00-04', '2024-03-11 00:00-04', '2024-05-28 23:59-04']::timestamptz[]) m ORDER BY 1;
RESET timezone;
DEALLOCATE ALL;
DROP TABLE happened;
