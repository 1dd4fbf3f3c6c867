-- Rows compared by what they are held as.
SELECT ROW(1, 'a')::record *= ROW(1, 'a')::record, ROW(1, 'a')::record *<> ROW(1, 'b')::record, ROW(1.0)::record *= ROW(1.00)::record, ROW(1.0)::record = ROW(1.00)::record, ROW(NULL::int)::record *= ROW(NULL::int)::record, ROW(0.0::float8)::record *= ROW('-0'::float8)::record;
SELECT ROW(1)::record *< ROW(2)::record, ROW(-1)::record *< ROW(1)::record, ROW(2)::record *> ROW(1)::record, ROW(2)::record *>= ROW(2)::record, ROW(2)::record *<= ROW(1)::record, ROW(NULL::int)::record *> ROW(1)::record, ROW('a'::text)::record *< ROW('ab'::text)::record, ROW('b'::text)::record *< ROW('ab'::text)::record, ROW(256)::record *< ROW(255)::record;
SELECT a, b, ROW(a)::record *< ROW(b)::record AS less FROM unnest(ARRAY[1, 1.5, -1, 10000, 1e-5, 0, 1.00], ARRAY[2, 1.50, 1, 9999, 1, 0.0, 1.0]) AS n(a, b);
SELECT a, b, ROW(a)::record *< ROW(b)::record AS less FROM unnest(ARRAY['NaN', 'infinity', '-infinity', 'NaN']::numeric[], ARRAY[1, 'NaN', 'infinity', 1e100]) AS n(a, b);
SELECT ROW(true)::record *> ROW(false)::record, ROW('\x01'::bytea)::record *< ROW('\x0100'::bytea)::record, ROW('2020-01-01'::date)::record *< ROW('1999-01-01'::date)::record, ROW('1 day'::interval)::record *= ROW('24 hours'::interval)::record, ROW('a'::name)::record *< ROW('b'::name)::record;
SELECT ROW(1, 2)::record *= ROW(1)::record;
SELECT ROW(1, 2)::record *= ROW(2)::record;
SELECT ROW(1)::record *< ROW(1, 2)::record;
SELECT ROW(1)::record *= ROW('a'::text)::record;
SELECT ROW(1, 2)::record *< ROW(1, 2::bigint)::record;
-- What rows mean is compared by type, too.
SELECT ROW(1)::record = ROW('a'::text)::record;
SELECT ROW(1, 2)::record < ROW(1, 2::bigint)::record;
SELECT ROW(1, 2)::record < ROW(2, 2::bigint)::record, ROW(1, NULL::int)::record > ROW(1, 5)::record, ROW(1, NULL::int)::record = ROW(1, NULL::int)::record;
SELECT ROW(1, 2)::record = ROW(1)::record;
SELECT ROW(1, 2)::record <> ROW(2)::record, ROW(1)::record >= ROW(0, 1)::record;
CREATE TABLE images (a int, b numeric);
INSERT INTO images VALUES (1, 1.0), (2, 2.00);
SELECT * FROM images i WHERE i *= ROW(1, 1.0)::images;
SELECT count(*) FROM images x JOIN images y ON x *<> y;
DROP TABLE images;
