-- Objects by their addresses, and addresses by names. PostgreSQL 15, section 9.26.6.
CREATE SCHEMA ads;
CREATE TABLE ads.t (a int PRIMARY KEY, b text DEFAULT 'x' CHECK (b <> ''), "C c" int REFERENCES ads.t);
CREATE INDEX ti ON ads.t (b);
CREATE VIEW ads.v AS SELECT a FROM ads.t;
CREATE MATERIALIZED VIEW ads.m AS SELECT a FROM ads.t;
CREATE SEQUENCE ads.s;
CREATE TYPE ads.e AS ENUM ('a');
CREATE TYPE ads.c AS (x int, y text);
CREATE DOMAIN ads.d AS int CONSTRAINT dp CHECK (VALUE > 0);
CREATE TABLE "Q q" (a int);
CREATE ROLE "r R";
CREATE TABLE objects (n int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, c oid, o oid, s int);
INSERT INTO objects (c, o, s) SELECT 'pg_class'::regclass, o::regclass, 0
    FROM unnest('{ads.t,ads.ti,ads.t_pkey,ads.v,ads.m,ads.s,ads.c,"\"Q q\"",pg_class,pg_tables}'::text[]) WITH ORDINALITY u(o, n)
    WHERE o <> 'ads.c' ORDER BY n;
INSERT INTO objects (c, o, s) SELECT 'pg_class'::regclass, typrelid, x FROM pg_type, generate_series(0, 1) x WHERE oid = 'ads.c'::regtype ORDER BY x;
INSERT INTO objects (c, o, s) SELECT 'pg_class'::regclass, 'ads.t'::regclass, n FROM generate_series(1, 4) n ORDER BY n;
INSERT INTO objects (c, o, s) SELECT 'pg_class'::regclass, o::regclass, 1 FROM unnest('{ads.v,ads.ti,ads.m,ads.s}'::text[]) WITH ORDINALITY u(o, n) ORDER BY n;
INSERT INTO objects (c, o, s) SELECT 'pg_type'::regclass, o::regtype, 0
    FROM unnest('{ads.e,ads.c,ads.d,ads.t,int4,text,"\"char\"",numeric,interval,bit,date,"int4[]","text[]",timestamptz,information_schema.cardinal_number,ads.v}'::text[])
    WITH ORDINALITY u(o, n) ORDER BY n;
INSERT INTO objects (c, o, s) SELECT 'pg_type'::regclass, typarray, 0 FROM pg_type WHERE oid = 'ads.e'::regtype;
INSERT INTO objects (c, o, s) SELECT 'pg_constraint'::regclass, oid, 0 FROM pg_constraint WHERE connamespace = 'ads'::regnamespace ORDER BY conname;
INSERT INTO objects (c, o, s) SELECT 'pg_attrdef'::regclass, oid, 0 FROM pg_attrdef WHERE adrelid = 'ads.t'::regclass;
INSERT INTO objects (c, o, s) SELECT 'pg_namespace'::regclass, oid, 0 FROM pg_namespace WHERE nspname IN ('ads', 'pg_catalog') ORDER BY nspname;
INSERT INTO objects (c, o, s) SELECT 'pg_authid'::regclass, oid, 0 FROM pg_roles WHERE rolname IN ('postgres', 'r R') ORDER BY rolname;
INSERT INTO objects (c, o, s) SELECT 'pg_database'::regclass, oid, 0 FROM pg_database WHERE datname = 'postgres';
INSERT INTO objects (c, o, s) VALUES ('pg_tablespace'::regclass, 1663, 0), ('pg_language'::regclass, 12, 0), ('pg_language'::regclass, 14, 0);
INSERT INTO objects (c, o, s) SELECT 'pg_extension'::regclass, oid, 0 FROM pg_extension WHERE extname = 'plpgsql';
INSERT INTO objects (c, o, s) VALUES ('pg_am'::regclass, 403, 0);
INSERT INTO objects (c, o, s) SELECT 'pg_proc'::regclass, o::regprocedure, 0 FROM unnest('{"int4pl(int4,int4)",upper(text),sum(int4),rank()}'::text[]) WITH ORDINALITY u(o, n) ORDER BY n;
INSERT INTO objects (c, o, s) SELECT 'pg_operator'::regclass, o::regoperator, 0 FROM unnest('{"+(int4,int4)","||(text,text)","-(NONE,int4)"}'::text[]) WITH ORDINALITY u(o, n) ORDER BY n;
INSERT INTO objects (c, o, s) SELECT 'pg_cast'::regclass, oid, 0 FROM pg_cast WHERE castsource = 23 AND casttarget IN (20, 16) ORDER BY casttarget;
INSERT INTO objects (c, o, s) SELECT 'pg_collation'::regclass, oid, 0 FROM pg_collation WHERE collname IN ('C', 'default') ORDER BY collname;
INSERT INTO objects (c, o, s) SELECT 'pg_opclass'::regclass, oid, 0 FROM pg_opclass WHERE opcname IN ('int4_ops', 'text_ops') AND opcmethod = 403 ORDER BY opcname;
INSERT INTO objects (c, o, s) SELECT 'pg_opfamily'::regclass, oid, 0 FROM pg_opfamily WHERE opfname = 'integer_ops' AND opfmethod = 403;
INSERT INTO objects (c, o, s) SELECT 'pg_rewrite'::regclass, oid, 0 FROM pg_rewrite WHERE ev_class = 'ads.v'::regclass;
INSERT INTO objects (c, o, s) SELECT 'pg_conversion'::regclass, oid, 0 FROM pg_conversion WHERE conname = 'iso_8859_1_to_utf8';
INSERT INTO objects (c, o, s) SELECT 'pg_ts_config'::regclass, oid, 0 FROM pg_ts_config WHERE cfgname = 'english';
SELECT c::regclass, s, pg_describe_object(c, o, s), pg_identify_object(c, o, s), pg_identify_object_as_address(c, o, s) FROM objects ORDER BY n;
SELECT n, x.* FROM objects, pg_identify_object(c, o, s) x WHERE n < 6 ORDER BY n;
SELECT c::regclass, pg_describe_object(c, 999999, none), pg_identify_object(c, 999999, none), pg_identify_object_as_address(c, 999999, none)
    FROM (SELECT DISTINCT c FROM objects) x, cardinality('{}'::int[]) none ORDER BY c;
SET search_path = ads, public;
SELECT pg_describe_object(c, o, s) FROM objects WHERE n < 12 ORDER BY n;
SELECT pg_describe_object('pg_type'::regclass, 'd'::regtype, 0), pg_describe_object('pg_type'::regclass, 'public."Q q"'::regtype, 0);
RESET search_path;
SELECT pg_describe_object('pg_class'::regclass, 999999, 1), pg_identify_object('pg_class'::regclass, 999999, 1), pg_describe_object(0, 0, 0), pg_describe_object(0, 0, 1);
SELECT pg_identify_object(0, 0, 0);
SELECT pg_describe_object(0, 1, 0);
SELECT pg_describe_object('pg_attribute'::regclass, 1, 0);
SELECT pg_identify_object_as_address('pg_attribute'::regclass, 1, 0);
-- and back
SELECT count(*), count(*) FILTER (WHERE (g.classid, g.objid, g.objsubid) IS DISTINCT FROM (c, o, s))
    FROM objects, pg_identify_object_as_address(c, o, s) a, pg_get_object_address(a.type, a.object_names, a.object_args) g
    WHERE a.type IN ('table', 'index', 'view', 'materialized view', 'sequence', 'table column', 'type', 'table constraint', 'domain constraint',
        'default value', 'schema', 'role', 'database', 'tablespace', 'language', 'extension', 'access method', 'function', 'aggregate', 'cast',
        'collation', 'rule') AND pg_describe_object(c, o, s) IS NOT NULL;
SELECT g.classid, g.objid::regoperator, g.objsubid FROM pg_get_object_address('operator', '{pg_catalog,+}', '{integer,integer}') g;
SELECT pg_get_object_address('view column', '{ads,v,a}', '{}');
SELECT pg_get_object_address('table', '{ads,nope}', '{}');
SELECT pg_get_object_address('table', '{ads,v}', '{}');
SELECT pg_get_object_address('index', '{ads,t}', '{}');
SELECT pg_get_object_address('view', '{ads,t}', '{}');
SELECT pg_get_object_address('sequence', '{ads,t}', '{}');
SELECT pg_get_object_address('materialized view', '{ads,t}', '{}');
SELECT pg_get_object_address('nope', '{ads,t}', '{}');
SELECT pg_get_object_address(kind, '{ads,NULL}', '{}') FROM unnest('{table}'::text[]) kind;
SELECT pg_get_object_address('table', '{}', '{}');
SELECT pg_get_object_address('schema', '{a,b}', '{}');
SELECT pg_get_object_address('schema', '{nope}', '{}');
SELECT pg_get_object_address('role', '{nope}', '{}');
SELECT pg_get_object_address('database', '{nope}', '{}');
SELECT pg_get_object_address('tablespace', '{nope}', '{}');
SELECT pg_get_object_address('language', '{nope}', '{}');
SELECT pg_get_object_address('extension', '{nope}', '{}');
SELECT pg_get_object_address('access method', '{nope}', '{}');
SELECT pg_get_object_address('collation', '{nope}', '{}');
SELECT pg_get_object_address('type', '{nope}', '{}');
SELECT pg_get_object_address('type', '{a,b}', '{}');
SELECT pg_get_object_address('table column', '{ads,t,nope}', '{}');
SELECT pg_get_object_address('table column', '{t}', '{}');
SELECT pg_get_object_address('table constraint', '{ads,t,nope}', '{}');
SELECT pg_get_object_address('table constraint', '{t}', '{}');
SELECT pg_get_object_address('domain constraint', '{ads.d}', '{nope}');
SELECT pg_get_object_address('rule', '{ads,v,nope}', '{}');
SELECT pg_get_object_address('function', '{pg_catalog,nope}', '{integer}');
SELECT pg_get_object_address('aggregate', '{pg_catalog,nope}', '{integer}');
SELECT pg_get_object_address('operator', '{+}', '{integer}');
SELECT pg_get_object_address('operator', '{+}', '{integer,text}');
SELECT pg_get_object_address('default value', '{ads,t,a}', '{}');
SELECT pg_get_object_address('cast', '{integer}', '{text,text}');
SELECT pg_get_object_address('cast', '{integer}', '{uuid}');
SELECT pg_describe_object(classid, objid, objsubid), objsubid FROM pg_get_object_address('table column', '{ads,t,"C c"}', '{}');
SELECT pg_describe_object(NULL, 1, 1), pg_identify_object(1, NULL, 1), pg_get_object_address(NULL, '{}', '{}');
DROP ROLE "r R";
-- An unknown kind is told before what is wrong with the names.
SELECT pg_get_object_address('nosuch', '{a,NULL}', '{}');
SELECT pg_get_object_address('view column', '{a,NULL}', '{}');
SELECT pg_get_object_address('table', '{a,NULL}', '{}');
