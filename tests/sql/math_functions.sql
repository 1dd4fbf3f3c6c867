-- Trigonometry in degrees is exact where the answer is.
SELECT x, sind(x), cosd(x), tand(x), cotd(x) FROM generate_series(-360, 720, 15) AS x;
SELECT x, asind(x), acosd(x) FROM unnest(ARRAY[-1, -0.5, 0, 0.5, 1]::float8[]) AS x;
SELECT x, atand(x) FROM unnest(ARRAY['-infinity', -1, 0, 1, 'infinity']::float8[]) AS x;
SELECT atan2d(0, 1), atan2d(1, 1), atan2d(1, 0), atan2d(1, -1), atan2d(0, -1), atan2d(-1, 0), atan2d(-1, -1);
SELECT sind(0.1), cosd(33.3), tand(89.9), cotd(-12.5), asind(0.3), acosd(-0.7), atand(0.2), atan2d(3, 4);
SELECT sind('nan'), cosd('nan'), tand('nan'), cotd('nan'), asind('nan'), acosd('nan'), atand('nan'), atan2d('nan', 1);
SELECT sind(1e300) BETWEEN -1 AND 1, sind(-0.0), tand(-180), cotd(270), cosd(-90);
SELECT sind('infinity');
SELECT cosd('-infinity');
SELECT tand('infinity');
SELECT cotd('infinity');
SELECT asind(1.1);
SELECT acosd(-1.1);
SELECT sind(NULL), atan2d(1, NULL);

-- Inverse hyperbolic functions.
SELECT x, round(asinh(x)::numeric, 13) FROM unnest(ARRAY[-1e10, -30, -1.5, -0.3, 0, 0.3, 1.5, 30, 1e10]::float8[]) AS x;
SELECT x, round(acosh(x)::numeric, 13) FROM unnest(ARRAY[1, 1.25, 2, 3, 30, 1e10]::float8[]) AS x;
SELECT x, round(atanh(x)::numeric, 13) FROM unnest(ARRAY[-0.9, -0.3, 0, 0.3, 0.5, 0.9]::float8[]) AS x;
SELECT asinh('infinity'), asinh('-infinity'), asinh('nan'), asinh(-0.0), asinh(1e-20), acosh('infinity'), acosh('nan');
SELECT atanh(1), atanh(-1), atanh('nan'), atanh(-0.0), atanh(1e-20);
SELECT acosh(0.9);
SELECT acosh('-infinity');
SELECT atanh(1.1);
SELECT atanh('infinity');

-- Places in the log, and how far they are from each other.
SELECT '0/10'::pg_lsn + 1.5, 16::numeric + '0/10'::pg_lsn, '0/11'::pg_lsn - 1.5, '0/10'::pg_lsn - '0/20'::pg_lsn;
SELECT 'FFFFFFFF/FFFFFFFF'::pg_lsn - '0/0'::pg_lsn, pg_wal_lsn_diff('1/0', '0/FF'), pg_lsn(1.5::numeric), pg_lsn(18446744073709551615.4), pg_lsn(-0.4);
SELECT pg_lsn('NaN'::numeric);
SELECT pg_lsn('infinity'::numeric);
SELECT pg_lsn(-1::numeric);
SELECT pg_lsn(18446744073709551615.5);
SELECT '0/10'::pg_lsn + 'NaN'::numeric;
SELECT '0/10'::pg_lsn - 'NaN'::numeric;
SELECT '0/10'::pg_lsn + '-infinity'::numeric;
SELECT '0/10'::pg_lsn - 17::numeric;
SELECT ('18446744073709551615'::xid8)::xid, ('4294967297'::xid8)::xid;

-- Sizes, written and read.
SELECT pg_size_bytes('1.5 kB'), pg_size_bytes(' -1e3 MB '), pg_size_bytes('1pb'), pg_size_bytes('.5'), pg_size_bytes('5.'), pg_size_bytes('1e3'), pg_size_bytes('2Bytes'), pg_size_bytes('3 gb'), pg_size_bytes(E'4\ttB\n');
SELECT pg_size_bytes('1e 3'), pg_size_bytes('+1E+2kb'), pg_size_bytes('1000000000000000000000000e-10'), pg_size_bytes(NULL);
SELECT pg_size_bytes('1 zb');
SELECT pg_size_bytes('1 zb  ');
SELECT pg_size_bytes('1ez');
SELECT pg_size_bytes('');
SELECT pg_size_bytes(' x ');
SELECT pg_size_bytes('.');
SELECT pg_size_bytes('--1');
SELECT pg_size_bytes('9223372036854775807.9');
SELECT pg_size_bytes('1e100 pb');
SELECT pg_size_bytes('8 pb pb');
SELECT pg_size_pretty('infinity'::numeric), pg_size_pretty('-infinity'::numeric), pg_size_pretty('nan'::numeric);

-- As many decimals as there can be.
SELECT length(round(3::numeric, 2147483647)::text), length(trunc(3::numeric, 16384)::text);
SELECT round(5e131071, -131072);
SELECT round(4e131071, -131072), round(123.456, -2147483648), trunc(123.456, -3), round(550, -2), round(550, -3);
-- Roots beside a tie; powers that vanish, and what their scale is.
SELECT sqrt(1.000000000000003), sqrt(1.000000000000001), sqrt(8015491789940783531003294973900306), sqrt(8015491789940783531003294973900307), sqrt(0.0), sqrt(0.25), sqrt(2.25), sqrt(1e-30::numeric);
SELECT 2 ^ 3.00000000000000000000, 2.0 ^ 3.00000000000000000000, 10.0 ^ -2147483648, 10.0 ^ (-17), 10.0 ^ (-16), 2.00000000000000000000 ^ (-80), 0.9 ^ 100000;
SELECT i / (10::numeric ^ 131071) FROM generate_series(6 * (10::numeric ^ 131071), 9 * (10::numeric ^ 131071), 10::numeric ^ 131071) AS a(i);
-- A minus is part of the number behind it, not of a cast one.
SELECT pg_typeof(-('5'::int8)), pg_typeof(-(5)), pg_typeof(- 5::int8), pg_typeof(-2147483648), pg_typeof(-(-2147483648)), pg_typeof(- 9223372036854775808), - - 5;
SELECT -('-9223372036854775808'::int8);
SELECT -('-2147483648'::int4);
SELECT -('-32768'::int2);
