-- The hash functions of the hash classes, which people call too: numbers that PostgreSQL gives.
SELECT hashtext(''), hashtext('a'), hashtext('abcdefghijk'), hashtext('abcdefghijkl'), hashtext('abcdefghijklmnopqrstuvwxyz0123456789'), hashtext('größe'), hashname('pg_class'), hashbpchar('ab   '::char(5));
SELECT hashtextextended('', 0), hashtextextended('a', 0), hashtextextended('a', 42), hashtextextended('abcdefghijklm', -1), hashtextextended('abc', 9223372036854775807);
SELECT hashint2(1::int2), hashint2(-1::int2), hashint4(1), hashint4(-1), hashint8(1), hashint8(-1), hashint8(123456789012), hashoid(1), hashchar('a'), hashint4extended(5, 7), hashint8extended(-5, 7), hashcharextended('x', 3), hashoidextended(4294967295, 1), hashnameextended('x', 9);
SELECT hashfloat4(1.5), hashfloat8(1.5), hashfloat8(0), hashfloat8('-0'), hashfloat8('NaN'), hashfloat8('inf'), hashfloat4extended(1.5, 3), hashfloat8extended(0, 3), hashfloat8extended(0.1, 0);
SELECT hash_numeric(0), hash_numeric(1), hash_numeric(1.0), hash_numeric(12345678.90123), hash_numeric(-1e10), hash_numeric('NaN'), hash_numeric(1e-20), hash_numeric_extended(0, 5), hash_numeric_extended(1.5, 5), hash_numeric_extended(10000, 1);
SELECT hashoidvector('1 2 3'), hashoidvector(''), hashoidvectorextended('1 2', 3), hashbpcharextended('a  ', 4);
SELECT time_hash('10:00'), timetz_hash('10:00+02'), timetz_hash_extended('10:00+02', 5), interval_hash('1 mon'), interval_hash('30 days'), interval_hash_extended('-1 year', 3), timestamp_hash('2020-01-01'), timestamp_hash_extended('1999-01-01', 2), time_hash_extended('10:00', 1);
SELECT uuid_hash('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), uuid_hash_extended('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 4), pg_lsn_hash('1/2'), pg_lsn_hash('FFFFFFFF/2'), pg_lsn_hash_extended('1/2', 8);
