-- Digests.
SELECT sha224(''), sha224('abc'), sha256(''), sha256('abc');
SELECT sha384('abc'), sha512('abc'), encode(sha256('\x00ff'), 'hex'), sha512(NULL);

-- LIKE of bytes.
SELECT '\x0162'::bytea LIKE '\x015f'::bytea, '\x0162'::bytea ~~ '\x5f25', '\x61'::bytea !~~ '\x62', '\xff00'::bytea LIKE '\x25', '\xc3a4'::bytea LIKE '__', '\xc3a4'::bytea LIKE '_', '\x256162'::bytea LIKE '\x5c25615f';
SELECT 'abc'::bytea NOT LIKE 'a%'::bytea, ''::bytea LIKE '%', ''::bytea LIKE '', ''::bytea LIKE '\x5c', "like"('abc'::bytea, 'a%c'), notlike('abc'::bytea, 'a%c'), bytealike('a', 'b');
SELECT '\x61'::bytea LIKE '\x5c'::bytea;
SELECT '\x25'::bytea LIKE '\x255f5c'::bytea;
SELECT 'ab' LIKE '%_\';
SELECT '' LIKE '%\';
SELECT '' LIKE '%_\', '' LIKE '\', 'a' LIKE '%__\', 'abc' LIKE 'a%_', 'abc' LIKE '%_b_%', 'abc' LIKE '_%c', 'ac' LIKE 'a_%c', 'a' ILIKE '%%A%%';
SELECT '\x2525'::bytea LIKE '\x2425'::bytea ESCAPE '\x24', '\x2561'::bytea LIKE '\x242561'::bytea ESCAPE '\x24';
SELECT '\x2525'::bytea LIKE '\x2425'::bytea ESCAPE '\x2424';
SELECT like_escape('\x615c62'::bytea, ''), like_escape('\x61245c5f'::bytea, '\x24'), like_escape('\x61'::bytea, '\x5c');
CREATE TABLE likes (b bytea);
INSERT INTO likes VALUES ('\x6162'), ('\x6163'), ('\x62'), (NULL);
SELECT b FROM likes WHERE b LIKE '\x6125' ORDER BY b;
SELECT b FROM likes WHERE b NOT LIKE '\x6125' ORDER BY b;
DROP TABLE likes;

-- From one encoding to another.
SELECT convert('\x61e4', 'latin1', 'utf8'), convert('\xc3a4', 'utf8', 'latin1'), convert('\x61', 'sql_ascii', 'utf8'), convert('\xc3a4', 'UTF-8', 'SQL ASCII'), convert('\x61', 'unicode', ' Latin-1 '), convert('\xff', 'latin1', 'sql_ascii');
SELECT convert('\xe282ac', 'utf8', 'latin1');
SELECT convert('\xe2', 'utf8', 'latin1');
SELECT convert('\x61', 'utf8', 'nope');
SELECT convert('\x61', 'nope', 'utf8');
SELECT convert('\xff', 'sql_ascii', 'utf8');
SELECT convert('\xff', 'utf8', 'utf8');
SELECT convert('\x610062', 'latin1', 'utf8');
SELECT convert('\x61', 'latin1', 'latin2');
SELECT convert_from('\xe4', 'latin1'), convert_to('ä', 'ISO-8859-1'), convert_to('ä', 'sql_ascii'), convert_from('\x61', 'sql_ascii'), convert_to('ä', 'utf8');
SELECT convert_from('\xff', 'sql_ascii');
SELECT convert_from('\x610062', 'utf8');
SELECT convert_to('€', 'latin1');
SELECT convert_to('a', 'nope');
SELECT convert_from('a', 'nope');
SELECT length('\x61c3a4'::bytea, 'utf8'), length('\x61c3a4'::bytea, 'latin1'), length('\x61c3a4'::bytea, 'sql_ascii'), length(''::bytea, 'utf8');
SELECT length('\x61c3'::bytea, 'utf8');
SELECT length('\x61c3'::bytea, 'nope');
SELECT name, pg_char_to_encoding(name) FROM unnest(ARRAY['utf8', 'Unicode', 'latin-1', 'ISO_8859-15', 'Windows-1252', 'win', 'KOI8', 'ShiftJIS', 'Shift_JIS_2004', 'abc', 'alt', 'vscii', 'win950', 'windows949', 'iso88595', 'windows', 'nope']) AS name;

-- Accents taken away, byte by byte.
SELECT to_ascii('Käse é', 'latin1'), to_ascii('Käse é', 'latin2'), to_ascii('Käse é', 'latin9'), to_ascii('Käse é', 'win1250'), to_ascii('abc', 8);
SELECT e, md5(string_agg(to_ascii(chr(c), e), '' ORDER BY c)) FROM generate_series(1, 2047) AS c, unnest(ARRAY['latin1', 'latin2', 'latin9', 'win1250']) AS e GROUP BY e ORDER BY e;
SELECT to_ascii('abc');
SELECT to_ascii('abc', 6);
SELECT to_ascii('abc', 'win1252');
SELECT to_ascii('abc', 'nope');
SELECT to_ascii('abc', 99);
SELECT to_ascii('abc', -1);

-- Values as they are sent.
SELECT json_send('{"a": 1}'), jsonb_send('{"a":1}'), jsonpath_send('$.a'), inet_send('10.0.0.1/8'), cidr_send('10.0.0.0/8'), pg_lsn_send('1/2'), timetz_send('10:00:00.5+02');
SELECT xidsend('7'), xid8send('7'), cidsend('7'), tidsend('(1,2)'), regclasssend('pg_class'), regtypesend('int4'), regprocsend('now'), regproceduresend('now()'), regnamespacesend('pg_catalog'), unknownsend('a');
CREATE TYPE shade AS ENUM ('light', 'dark');
SELECT enum_send('dark'::shade);
DROP TYPE shade;

-- Parts of byte strings.
SELECT substring('\x010203'::bytea FROM 2), substring('\x010203'::bytea FROM 0 FOR 2), overlay('\x010203'::bytea PLACING '\xff' FROM 2), overlay('\x010203'::bytea PLACING '\xff' FROM 2 FOR 0), position('\x02'::bytea IN '\x010203'), trim('\x01'::bytea FROM '\x01020301'), trim(LEADING '\x01'::bytea FROM '\x01020301'), trim(TRAILING '\x01'::bytea FROM '\x01020301');
SELECT bit_length('\x01'::bytea), octet_length('\x01'::bytea), bit_count('\xff01'::bytea), get_bit('\x01'::bytea, 0), set_bit('\x00'::bytea, 3, 1), get_byte('\x0102', 1), set_byte('\x0102', 1, 255), reverse('abc');
SELECT overlay('\x01'::bytea PLACING '\x02' FROM 2147483647 - g) FROM generate_series(0, 0) AS g;
SELECT overlay('a' PLACING 'b' FROM 2147483647 - g FOR 10) FROM generate_series(0, 0) AS g;
SELECT overlay('a' PLACING 'b' FROM 2147483000 FOR 10), overlay('\x01'::bytea PLACING '\x02' FROM 2147483646);
