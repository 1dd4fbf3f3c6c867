-- Unicode spelled out.
SELECT unistr('\0064at\+0000FE\u00e9\U0001F600\\'), unistr('\d83d\de00'), unistr('\d83d\U0000de00'), unistr('\+00d83d\ude00!'), unistr('plain'), unistr(''), unistr(NULL);
SELECT unistr('\d83d');
SELECT unistr('\de00');
SELECT unistr('\d83db');
SELECT unistr('a\d83d\0061');
SELECT unistr('\d83d\\');
SELECT unistr('\0000');
SELECT unistr('\U00110000');
SELECT unistr('\+110000');
SELECT unistr('\x');
SELECT unistr('\004');
SELECT unistr('abc\');

-- Names taken apart.
SELECT parse_ident('a'), parse_ident('Schema.Table'), parse_ident('"A""b".Cé.d$1 '), parse_ident(E' a\t.\nb '), parse_ident('"a.b"."c"'), parse_ident('É._x'), parse_ident(NULL);
SELECT parse_ident('a.b c', false), parse_ident('foo(int)', false), parse_ident('a"b"', false);
SELECT parse_ident('a.b c');
SELECT parse_ident('a..b');
SELECT parse_ident('.b');
SELECT parse_ident('a.');
SELECT parse_ident('a. ', false);
SELECT parse_ident('');
SELECT parse_ident('1a');
SELECT parse_ident('""');
SELECT parse_ident('"abc');
SELECT parse_ident('a."b""');
SELECT parse_ident('a.1', false);
SELECT parse_ident('repeat("x", 3)', strict => true);

-- The clock as a text.
SELECT timeofday() ~ '^(Sun|Mon|Tue|Wed|Thu|Fri|Sat) [A-Z][a-z][a-z] [0-9][0-9] [0-9:]{8}[.][0-9]{6} [0-9]{4} UTC$';
SET timezone = 'Asia/Kolkata';
SELECT timeofday() ~ ' IST$', timeofday()::timestamptz BETWEEN now() - interval '1 minute' AND now() + interval '1 hour';
RESET timezone;

-- Characters by their bytes.
SELECT 'a'::char(3) ~<~ 'b'::char(3), 'a'::char(3) ~<=~ 'a'::char(5), 'a'::char(3) ~>=~ 'b'::char(3), 'b'::char(3) ~>~ 'a'::char(3), 'B'::char(3) ~<~ 'a'::char(3);
-- format: widths of arguments by number, and what is wrong with a specifier.
SELECT format('%*2$s|', 'Hello', 10, 'x'), format('>>%2$*1$L<<', 10, 'Hello'), format('>>%2$*1$L<<', -10, NULL), format('>>%*1$s<<', 10, 'Hello'), format('>>%2$*1$L<<', NULL, 'Hello'), format('%3$s %1$s %s', 'a', 'b', 'c');
SELECT format('%*0$s', 'Hello');
SELECT format('%0$s', 'Hello');
SELECT format('%*1', 'Hello');
SELECT format('%*1s', 'Hello');
SELECT format('%1$', 1);
SELECT format('%-', 1);
SELECT format('%*s', 'a', 'b');
SELECT format('%99999999999s', 'b');
SELECT format('%*s', -2147483648, 'b');
SELECT format('%10-s', 'a');
SELECT '\377'::text::"char", '\101'::text::"char", ''::text::"char" = '', 'xy'::text::"char";
-- Of one character case makes one character.
select lower('İ'), 'İ' ilike 'i', 'İSTANBUL' ilike 'istanbul', lower('İSTANBUL'), upper('ᾀᾳß'), initcap('ᾀᾳß ᾳx'), 'ᾀ' ilike 'ᾈ', 'ß' ilike 'SS', 'Σ' ilike 'ς', lower('ΑΣ');
select md5(string_agg(lower(chr(i)), '' order by i)), md5(string_agg(upper(chr(i)), '' order by i)) from generate_series(1, 410) i;
select md5(string_agg(lower(chr(i)), '' order by i)), md5(string_agg(upper(chr(i)), '' order by i)) from generate_series(613, 7000) i;
select md5(string_agg(lower(chr(i)), '' order by i)), md5(string_agg(upper(chr(i)), '' order by i)) from generate_series(7440, 42000) i;
select md5(string_agg(lower(chr(i)), '' order by i)), md5(string_agg(upper(chr(i)), '' order by i)) from generate_series(43000, 55295) i;
select md5(string_agg(lower(chr(i)), '' order by i)), md5(string_agg(upper(chr(i)), '' order by i)) from generate_series(57344, 65535) i;
