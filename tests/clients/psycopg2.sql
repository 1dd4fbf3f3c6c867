-- What psycopg2 sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: connect/dsn, server_version, parameter status, protocol version, encoding
BEGIN;

-- simple: connect/dsn, server_version, parameter status, protocol version, encoding
show statement_timeout;

-- simple: connect/dsn, server_version, parameter status, protocol version, encoding
show application_name;

-- simple: type/int4 5
select 5::int4, pg_typeof(5::int4)::text;

-- simple: type/int4 5
create temp table p2(i int, v int4);

-- simple: type/int4 5
insert into p2 values(1,5);

-- simple: type/int4 5
select v from p2;

-- simple: type/int8 1099511627776
create temp table p2(i int, v int8);

-- simple: type/float8 1.5
create temp table p2(i int, v float8);

-- simple: type/numeric Decimal('1.10')
create temp table p2(i int, v numeric);

-- simple: type/numeric Decimal('NaN')
select 'NaN'::numeric::numeric, pg_typeof('NaN'::numeric::numeric)::text;

-- simple: type/text "héllo\n'\\ 你"
create temp table p2(i int, v text);

-- simple: type/bool True
create temp table p2(i int, v bool);

-- simple: type/bytea b'\x00\xff\\'
select '\x00ff5c'::bytea::bytea, pg_typeof('\x00ff5c'::bytea::bytea)::text;

-- simple: type/bytea b'\x00\xff\\'
create temp table p2(i int, v bytea);

-- simple: type/date datetime.date(2024, 2, 29)
select '2024-02-29'::date::date, pg_typeof('2024-02-29'::date::date)::text;

-- simple: type/date datetime.date(2024, 2, 29)
create temp table p2(i int, v date);

-- simple: type/time datetime.time(1, 2, 3, 4)
select '01:02:03.000004'::time::time, pg_typeof('01:02:03.000004'::time::time)::text;

-- simple: type/time datetime.time(1, 2, 3, 4)
create temp table p2(i int, v time);

-- simple: type/timestamp datetime.datetime(1999, 12, 31, 23, 59, 59, 999999)
select '1999-12-31T23:59:59.999999'::timestamp::timestamp, pg_typeof('1999-12-31T23:59:59.999999'::timestamp::timestamp)::text;

-- simple: type/timestamp datetime.datetime(1999, 12, 31, 23, 59, 59, 999999)
create temp table p2(i int, v timestamp);

-- simple: type/timestamptz datetime.datetime(2020, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
select '2020-01-01T00:00:00+00:00'::timestamptz::timestamptz, pg_typeof('2020-01-01T00:00:00+00:00'::timestamptz::timestamptz)::text;

-- simple: type/timestamptz datetime.datetime(2020, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
create temp table p2(i int, v timestamptz);

-- simple: type/interval datetime.timedelta(days=3, seconds=5)
select '3 days 5.000000 seconds'::interval::interval, pg_typeof('3 days 5.000000 seconds'::interval::interval)::text;

-- simple: type/interval datetime.timedelta(days=3, seconds=5)
create temp table p2(i int, v interval);

-- simple: type/int4[] [1, None, 3]
select ARRAY[1,NULL,3]::int4[], pg_typeof(ARRAY[1,NULL,3]::int4[])::text;

-- simple: type/int4[] [1, None, 3]
create temp table p2(i int, v int4[]);

-- simple: type/int4[] [1, None, 3]
insert into p2 values(1,ARRAY[1,NULL,3]);

-- simple: type/text[] ['a,b', '"', None]
select ARRAY['a,b','"',NULL]::text[], pg_typeof(ARRAY['a,b','"',NULL]::text[])::text;

-- simple: type/text[] ['a,b', '"', None]
create temp table p2(i int, v text[]);

-- simple: type/int4[] [[1, 2], [3, 4]]
select ARRAY[ARRAY[1,2],ARRAY[3,4]]::int4[], pg_typeof(ARRAY[ARRAY[1,2],ARRAY[3,4]]::int4[])::text;

-- simple: type/int4[] [[1, 2], [3, 4]]
insert into p2 values(1,ARRAY[ARRAY[1,2],ARRAY[3,4]]);

-- simple: type/numeric[] [Decimal('1.5')]
select ARRAY[1.5]::numeric[], pg_typeof(ARRAY[1.5]::numeric[])::text;

-- simple: type/numeric[] [Decimal('1.5')]
create temp table p2(i int, v numeric[]);

-- simple: type/json, jsonb, uuid, inet, range, hstore-less register, composite, enum
select '{"a": [1, null]}'::jsonb;

-- simple: type/json, jsonb, uuid, inet, range, hstore-less register, composite, enum
select int4range(1,5);

-- simple: type/json, jsonb, uuid, inet, range, hstore-less register, composite, enum
select tstzrange(NULL, NULL, '[)')::tstzrange;

-- simple: type/json, jsonb, uuid, inet, range, hstore-less register, composite, enum
drop type if exists p2_comp; create type p2_comp as (a int, b text);

-- simple: type/json, jsonb, uuid, inet, range, hstore-less register, composite, enum
SELECT t.oid, typarray, attname, atttypid
FROM pg_type t
JOIN pg_namespace ns ON typnamespace = ns.oid
JOIN pg_attribute a ON attrelid = typrelid
WHERE typname = 'p2_comp' AND nspname = 'public'
    AND attnum > 0 AND NOT attisdropped
ORDER BY attnum;

-- simple: type/json, jsonb, uuid, inet, range, hstore-less register, composite, enum
select (1,'x')::p2_comp;

-- simple: type/json, jsonb, uuid, inet, range, hstore-less register, composite, enum
drop type p2_comp;

-- simple: cursor/description: names, oids, precision
create temp table r(a int);

-- simple: cursor/description: names, oids, precision
insert into r values(1),(2),(3);

-- simple: cursor/description: names, oids, precision
select * from r order by a;

-- simple: cursor/named server-side cursor, scrollable, with hold, itersize
DECLARE "srv" CURSOR WITHOUT HOLD FOR select g from generate_series(1,50) g;

-- simple: cursor/named server-side cursor, scrollable, with hold, itersize
FETCH FORWARD 7 FROM "srv";

-- simple: cursor/named server-side cursor, scrollable, with hold, itersize
DECLARE "sc" SCROLL CURSOR WITHOUT HOLD FOR select g from generate_series(1,9) g;

-- simple: cursor/named server-side cursor, scrollable, with hold, itersize
MOVE 5 FROM "sc";

-- simple: cursor/named server-side cursor, scrollable, with hold, itersize
FETCH FORWARD 1 FROM "sc";

-- simple: cursor/named server-side cursor, scrollable, with hold, itersize
MOVE -2 FROM "sc";

-- simple: cursor/named server-side cursor, scrollable, with hold, itersize
CLOSE "sc";

-- simple: cursor/named server-side cursor, scrollable, with hold, itersize
DECLARE "h" CURSOR WITH HOLD FOR select 1;

-- simple: cursor/named server-side cursor, scrollable, with hold, itersize
COMMIT;

-- simple: cursor/named server-side cursor, scrollable, with hold, itersize
FETCH FORWARD ALL FROM "h";

-- simple: cursor/RealDictCursor, NamedTupleCursor, execute_values, execute_batch, executemany
create temp table ev(a int, b text);

-- simple: cursor/RealDictCursor, NamedTupleCursor, execute_values, execute_batch, executemany
insert into ev values (0,'0'),(1,'1'),(2,'2'),(3,'3'),(4,'4'),(5,'5'),(6,'6'),(7,'7'),(8,'8'),(9,'9'),(10,'10'),(11,'11'),(12,'12'),(13,'13'),(14,'14'),(15,'15'),(16,'16'),(17,'17'),(18,'18'),(19,'19'),(20,'20'),(21,'21'),(22,'22'),(23,'23'),(24,'24'),(25,'25'),(26,'26'),(27,'27'),(28,'28'),(29,'29'),(30,'30'),(31,'31'),(32,'32'),(33,'33'),(34,'34'),(35,'35'),(36,'36'),(37,'37'),(38,'38'),(39,'39'),(40,'40'),(41,'41'),(42,'42'),(43,'43'),(44,'44'),(45,'45'),(46,'46'),(47,'47'),(48,'48'),(49,'49'),(50,'50'),(51,'51'),(52,'52'),(53,'53'),(54,'54'),(55,'55'),(56,'56'),(57,'57'),(58,'58'),(59,'59'),(60,'60'),(61,'61'),(62,'62'),(63,'63'),(64,'64'),(65,'65'),(66,'66'),(67,'67'),(68,'68'),(69,'69'),(70,'70'),(71,'71'),(72,'72'),(73,'73'),(74,'74'),(75,'75'),(76,'76'),(77,'77'),(78,'78'),(79,'79'),(80,'80'),(81,'81'),(82,'82'),(83,'83'),(84,'84'),(85,'85'),(86,'86'),(87,'87'),(88,'88'),(89,'89'),(90,'90'),(91,'91'),(92,'92'),(93,'93'),(94,'94'),(95,'95'),(96,'96'),(97,'97'),(98,'98'),(99,'99');

-- simple: cursor/RealDictCursor, NamedTupleCursor, execute_values, execute_batch, executemany
insert into ev values(250,'b');insert into ev values(251,'b');insert into ev values(252,'b');insert into ev values(253,'b');insert into ev values(254,'b');insert into ev values(255,'b');insert into ev values(256,'b');insert into ev values(257,'b');insert into ev values(258,'b');insert into ev values(259,'b');insert into ev values(260,'b');insert into ev values(261,'b');insert into ev values(262,'b');insert into ev values(263,'b');insert into ev values(264,'b');insert into ev values(265,'b');insert into ev values(266,'b');insert into ev values(267,'b');insert into ev values(268,'b');insert into ev values(269,'b');insert into ev values(270,'b');insert into ev values(271,'b');insert into ev values(272,'b');insert into ev values(273,'b');insert into ev values(274,'b');insert into ev values(275,'b');insert into ev values(276,'b');insert into ev values(277,'b');insert into ev values(278,'b');insert into ev values(279,'b');insert into ev values(280,'b');insert into ev values(281,'b');insert into ev values(282,'b');insert into ev values(283,'b');insert into ev values(284,'b');insert into ev values(285,'b');insert into ev values(286,'b');insert into ev values(287,'b');insert into ev values(288,'b');insert into ev values(289,'b');insert into ev values(290,'b');insert into ev values(291,'b');insert into ev values(292,'b');insert into ev values(293,'b');insert into ev values(294,'b');insert into ev values(295,'b');insert into ev values(296,'b');insert into ev values(297,'b');insert into ev values(298,'b');insert into ev values(299,'b');

-- simple: cursor/RealDictCursor, NamedTupleCursor, execute_values, execute_batch, executemany
update ev set b='z' where a=1;

-- simple: cursor/RealDictCursor, NamedTupleCursor, execute_values, execute_batch, executemany
select count(*) n, max(a) m from ev;

-- simple: cursor/RealDictCursor, NamedTupleCursor, execute_values, execute_batch, executemany
insert into ev values (1,'q'),(2,'r') returning a;

-- simple: txn/status, commit, rollback, context manager, error class and diag, isolation, readonly, deferrable
create temp table t(a int constraint t_u unique);

-- simple: txn/status, commit, rollback, context manager, error class and diag, isolation, readonly, deferrable
insert into t values(1);

-- simple: txn/status, commit, rollback, context manager, error class and diag, isolation, readonly, deferrable
ROLLBACK;

-- simple: txn/status, commit, rollback, context manager, error class and diag, isolation, readonly, deferrable
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;

-- simple: txn/status, commit, rollback, context manager, error class and diag, isolation, readonly, deferrable
show transaction_isolation;

-- simple: txn/status, commit, rollback, context manager, error class and diag, isolation, readonly, deferrable
show transaction_read_only;

-- simple: txn/two-phase tpc_begin, prepare, commit, recover
drop table if exists p2_tpc; create table p2_tpc(a int);

-- simple: txn/two-phase tpc_begin, prepare, commit, recover
insert into p2_tpc values(1);

-- simple: txn/two-phase tpc_begin, prepare, commit, recover
PREPARE TRANSACTION '1_ZzE=_YjE=';

-- simple: txn/two-phase tpc_begin, prepare, commit, recover
SELECT gid, prepared, owner, database FROM pg_prepared_xacts;

-- simple: txn/two-phase tpc_begin, prepare, commit, recover
COMMIT PREPARED '1_ZzE=_YjE=';

-- simple: txn/two-phase tpc_begin, prepare, commit, recover
select count(*) from p2_tpc;

-- simple: txn/two-phase tpc_begin, prepare, commit, recover
drop table p2_tpc;

-- simple: copy/copy_from, copy_to, copy_expert csv, bad data
COPY "cp" FROM stdin WITH DELIMITER AS '	' NULL AS '\N';

-- simple: copy/copy_from, copy_to, copy_expert csv, bad data
COPY "cp" TO stdout WITH DELIMITER AS '|' NULL AS '-';

-- simple: copy/copy_from, copy_to, copy_expert csv, bad data
copy cp from stdin with csv header;

-- simple: copy/copy_from, copy_to, copy_expert csv, bad data
copy cp to stdout csv;

-- simple: async/NOTIFY, notices, cancel, async connection with poll
listen p2ch;

-- simple: async/NOTIFY, notices, cancel, async connection with poll
notify p2ch,'x';

-- simple: async/NOTIFY, notices, cancel, async connection with poll
drop table if exists nnn;

-- simple: large/1 MB text and bytea
select proname, oid from pg_catalog.pg_proc where proname in ('lo_open', 'lo_close', 'lo_creat', 'lo_create', 'lo_unlink', 'lo_lseek', 'lo_lseek64', 'lo_tell', 'lo_tell64', 'lo_truncate', 'lo_truncate64', 'loread', 'lowrite') and pronamespace = (select oid from pg_catalog.pg_namespace where nspname = 'pg_catalog');

-- simple: session/reset, set_client_encoding LATIN1 round trip
SET client_encoding TO 'LATIN1';

-- simple: session/reset, set_client_encoding LATIN1 round trip
select '�'||chr(233);

-- simple: session/reset, set_client_encoding LATIN1 round trip
DISCARD ALL;
