-- What pg_dump sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: pg_dump/plain: text has the objects
SELECT pg_catalog.set_config('search_path', '', false);

-- simple: pg_dump/plain: text has the objects
SELECT pg_catalog.pg_is_in_recovery();

-- simple: pg_dump/plain: text has the objects
SET DATESTYLE = ISO;

-- simple: pg_dump/plain: text has the objects
SET INTERVALSTYLE = POSTGRES;

-- simple: pg_dump/plain: text has the objects
SET extra_float_digits TO 3;

-- simple: pg_dump/plain: text has the objects
SET synchronize_seqscans TO off;

-- simple: pg_dump/plain: text has the objects
SET statement_timeout = 0;

-- simple: pg_dump/plain: text has the objects
SET lock_timeout = 0;

-- simple: pg_dump/plain: text has the objects
SET idle_in_transaction_session_timeout = 0;

-- simple: pg_dump/plain: text has the objects
SET row_security = off;

-- simple: pg_dump/plain: text has the objects
SELECT set_config(name, 'view, foreign-table', false) FROM pg_settings WHERE name = 'restrict_nonsystem_relation_kind';

-- simple: pg_dump/plain: text has the objects
BEGIN;

-- simple: pg_dump/plain: text has the objects
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- simple: pg_dump/plain: text has the objects
SELECT oid, rolname FROM pg_catalog.pg_roles ORDER BY 1;

-- simple: pg_dump/plain: text has the objects
SELECT x.tableoid, x.oid, x.extname, n.nspname, x.extrelocatable, x.extversion, x.extconfig, x.extcondition FROM pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace;

-- simple: pg_dump/plain: text has the objects
SELECT classid, objid, refobjid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' ORDER BY 3;

-- simple: pg_dump/plain: text has the objects
SELECT n.tableoid, n.oid, n.nspname, n.nspowner, n.nspacl, acldefault('n', n.nspowner) AS acldefault FROM pg_namespace n;

-- simple: pg_dump/plain: text has the objects
SELECT c.tableoid, c.oid, c.relname, c.relnamespace, c.relkind, c.reltype, c.relowner, c.relchecks, c.relhasindex, c.relhasrules, c.relpages, c.relhastriggers, c.relpersistence, c.reloftype, c.relacl, acldefault(CASE WHEN c.relkind = 'S' THEN 's'::"char" ELSE 'r'::"char" END, c.relowner) AS acldefault, CASE WHEN c.relkind = 'f' THEN (SELECT ftserver FROM pg_catalog.pg_foreign_table WHERE ftrelid = c.oid) ELSE 0 END AS foreignserver, c.relfrozenxid, tc.relfrozenxid AS tfrozenxid, tc.oid AS toid, tc.relpages AS toastpages, tc.reloptions AS toast_reloptions, d.refobjid AS owning_tab, d.refobjsubid AS owning_col, tsp.spcname AS reltablespace, false AS relhasoids, c.relispopulated, c.relreplident, c.relrowsecurity, c.relforcerowsecurity, c.relminmxid, tc.relminmxid AS tminmxid, array_remove(array_remove(c.reloptions,'check_option=local'),'check_option=cascaded') AS reloptions, CASE WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL'::text WHEN 'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED'::text ELSE NULL END AS checkoption, am.amname, (d.deptype = 'i') IS TRUE AS is_identity_sequence, c.relispartition AS ispartition 
FROM pg_class c
LEFT JOIN pg_depend d ON (c.relkind = 'S' AND d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.objsubid = 0 AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i'))
LEFT JOIN pg_tablespace tsp ON (tsp.oid = c.reltablespace)
LEFT JOIN pg_am am ON (c.relam = am.oid)
LEFT JOIN pg_class tc ON (c.reltoastrelid = tc.oid AND tc.relkind = 't' AND c.relkind <> 'p')
WHERE c.relkind IN ('r', 'S', 'v', 'c', 'm', 'f', 'p')
ORDER BY c.oid;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.warehouse IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.district IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.customer IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.history IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.orders IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.new_order IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.item IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.stock IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.order_line IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.account IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop."Order Item" IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.part IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.part_eu IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
LOCK TABLE shop.part_us IN ACCESS SHARE MODE;

-- simple: pg_dump/plain: text has the objects
SELECT p.tableoid, p.oid, p.proname, p.prolang, p.pronargs, p.proargtypes, p.prorettype, p.proacl, acldefault('f', p.proowner) AS acldefault, p.pronamespace, p.proowner FROM pg_proc p LEFT JOIN pg_init_privs pip ON (p.oid = pip.objoid AND pip.classoid = 'pg_proc'::regclass AND pip.objsubid = 0) WHERE p.prokind <> 'a'
  AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'i')
  AND (
  pronamespace != (SELECT oid FROM pg_namespace WHERE nspname = 'pg_catalog')
  OR EXISTS (SELECT 1 FROM pg_cast
  WHERE pg_cast.oid > 16383 
  AND p.oid = pg_cast.castfunc)
  OR EXISTS (SELECT 1 FROM pg_transform
  WHERE pg_transform.oid > 16383 AND 
  (p.oid = pg_transform.trffromsql
  OR p.oid = pg_transform.trftosql))
  OR p.proacl IS DISTINCT FROM pip.initprivs);

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, typname, typnamespace, typacl, acldefault('T', typowner) AS acldefault, typowner, typelem, typrelid, CASE WHEN typrelid = 0 THEN ' '::"char" ELSE (SELECT relkind FROM pg_class WHERE oid = typrelid) END AS typrelkind, typtype, typisdefined, typname[0] = '_' AND typelem != 0 AND (SELECT typarray FROM pg_type te WHERE oid = pg_type.typelem) = oid AS isarray FROM pg_type;

-- extended: pg_dump/plain: text has the objects
PREPARE getDomainConstraints(pg_catalog.oid) AS
SELECT tableoid, oid, conname, pg_catalog.pg_get_constraintdef(oid) AS consrc, convalidated FROM pg_catalog.pg_constraint WHERE contypid = $1 ORDER BY conname;

-- simple: pg_dump/plain: text has the objects
EXECUTE getDomainConstraints('27680');

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, lanname, lanpltrusted, lanplcallfoid, laninline, lanvalidator, lanacl, acldefault('l', lanowner) AS acldefault, lanowner FROM pg_language WHERE lanispl ORDER BY oid;

-- simple: pg_dump/plain: text has the objects
SELECT p.tableoid, p.oid, p.proname AS aggname, p.pronamespace AS aggnamespace, p.pronargs, p.proargtypes, p.proowner, p.proacl AS aggacl, acldefault('f', p.proowner) AS acldefault FROM pg_proc p LEFT JOIN pg_init_privs pip ON (p.oid = pip.objoid AND pip.classoid = 'pg_proc'::regclass AND pip.objsubid = 0) WHERE p.prokind = 'a' AND (p.pronamespace != (SELECT oid FROM pg_namespace WHERE nspname = 'pg_catalog') OR p.proacl IS DISTINCT FROM pip.initprivs);

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, oprname, oprnamespace, oprowner, oprkind, oprleft, oprright, oprcode::oid AS oprcode FROM pg_operator;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, amname, amtype, amhandler::pg_catalog.regproc AS amhandler FROM pg_am;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, opcmethod, opcname, opcnamespace, opcowner FROM pg_opclass;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, opfmethod, opfname, opfnamespace, opfowner FROM pg_opfamily;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, prsname, prsnamespace, prsstart::oid, prstoken::oid, prsend::oid, prsheadline::oid, prslextype::oid FROM pg_ts_parser;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, tmplname, tmplnamespace, tmplinit::oid, tmpllexize::oid FROM pg_ts_template;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, dictname, dictnamespace, dictowner, dicttemplate, dictinitoption FROM pg_ts_dict;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, cfgname, cfgnamespace, cfgowner, cfgparser FROM pg_ts_config;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, fdwname, fdwowner, fdwhandler::pg_catalog.regproc, fdwvalidator::pg_catalog.regproc, fdwacl, acldefault('F', fdwowner) AS acldefault, array_to_string(ARRAY(SELECT quote_ident(option_name) || ' ' || quote_literal(option_value) FROM pg_options_to_table(fdwoptions) ORDER BY option_name), E',
    ') AS fdwoptions FROM pg_foreign_data_wrapper;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, srvname, srvowner, srvfdw, srvtype, srvversion, srvacl, acldefault('S', srvowner) AS acldefault, array_to_string(ARRAY(SELECT quote_ident(option_name) || ' ' || quote_literal(option_value) FROM pg_options_to_table(srvoptions) ORDER BY option_name), E',
    ') AS srvoptions FROM pg_foreign_server;

-- simple: pg_dump/plain: text has the objects
SELECT oid, tableoid, defaclrole, defaclnamespace, defaclobjtype, defaclacl, CASE WHEN defaclnamespace = 0 THEN acldefault(CASE WHEN defaclobjtype = 'S' THEN 's'::"char" ELSE defaclobjtype END, defaclrole) ELSE '{}' END AS acldefault FROM pg_default_acl;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, collname, collnamespace, collowner, collencoding FROM pg_collation;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, conname, connamespace, conowner FROM pg_conversion;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, castsource, casttarget, castfunc, castcontext, castmethod FROM pg_cast c WHERE NOT EXISTS ( SELECT 1 FROM pg_range r WHERE c.castsource = r.rngtypid AND c.casttarget = r.rngmultitypid ) ORDER BY 3,4;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, trftype, trflang, trffromsql::oid, trftosql::oid FROM pg_transform ORDER BY 3,4;

-- simple: pg_dump/plain: text has the objects
SELECT inhrelid, inhparent FROM pg_inherits;

-- simple: pg_dump/plain: text has the objects
SELECT e.tableoid, e.oid, evtname, evtenabled, evtevent, evtowner, array_to_string(array(select quote_literal(x)  from unnest(evttags) as t(x)), ', ') as evttags, e.evtfoid::regproc as evtfname FROM pg_event_trigger e ORDER BY e.oid;

-- simple: pg_dump/plain: text has the objects
SELECT conrelid, confrelid FROM pg_constraint JOIN pg_depend ON (objid = confrelid) WHERE contype = 'f' AND refclassid = 'pg_extension'::regclass AND classid = 'pg_class'::regclass;

-- simple: pg_dump/plain: text has the objects
SELECT
a.attrelid,
a.attnum,
a.attname,
a.atttypmod,
a.attstattarget,
a.attstorage,
t.typstorage,
a.attnotnull,
a.atthasdef,
a.attisdropped,
a.attlen,
a.attalign,
a.attislocal,
pg_catalog.format_type(t.oid, a.atttypmod) AS atttypname,
array_to_string(ARRAY(
  SELECT o FROM unnest(a.attoptions) o
  WHERE substr(o, 1, 10) <> 'pg_attver='
), ', ') AS attoptions,
(
  SELECT substr(o, 10 + 1)
  FROM unnest(a.attoptions) o
  WHERE substr(o, 1, 10) = 'pg_attver='
) AS attversion,
CASE WHEN a.attcollation <> t.typcollation THEN a.attcollation ELSE 0 END AS attcollation,
pg_catalog.array_to_string(ARRAY(SELECT pg_catalog.quote_ident(option_name) || ' ' || pg_catalog.quote_literal(option_value) FROM pg_catalog.pg_options_to_table(attfdwoptions) ORDER BY option_name), E',
    ') AS attfdwoptions,
a.attcompression AS attcompression,
a.attidentity,
CASE WHEN a.atthasmissing AND NOT a.attisdropped THEN a.attmissingval ELSE null END AS attmissingval,
a.attgenerated
FROM unnest('{27615,27620,27625,27632,27635,27640,27645,27650,27655,27687,27705,27723,27727,27737,27740,27745}'::pg_catalog.oid[]) AS src(tbloid)
JOIN pg_catalog.pg_attribute a ON (src.tbloid = a.attrelid) LEFT JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)
WHERE a.attnum > 0::pg_catalog.int2
ORDER BY a.attrelid, a.attnum;

-- simple: pg_dump/plain: text has the objects
SELECT a.tableoid, a.oid, adrelid, adnum, pg_catalog.pg_get_expr(adbin, adrelid) AS adsrc
FROM unnest('{27687,27705}'::pg_catalog.oid[]) AS src(tbloid)
JOIN pg_catalog.pg_attrdef a ON (src.tbloid = a.adrelid)
ORDER BY a.adrelid, a.adnum;

-- simple: pg_dump/plain: text has the objects
SELECT c.tableoid, c.oid, conrelid, conname, pg_catalog.pg_get_constraintdef(c.oid) AS consrc, conislocal, convalidated FROM unnest('{27687}'::pg_catalog.oid[]) AS src(tbloid)
JOIN pg_catalog.pg_constraint c ON (src.tbloid = c.conrelid)
WHERE contype = 'c' ORDER BY c.conrelid, c.conname;

-- simple: pg_dump/plain: text has the objects
SELECT partrelid FROM pg_partitioned_table WHERE
(SELECT c.oid FROM pg_opclass c JOIN pg_am a ON c.opcmethod = a.oid
WHERE opcname = 'enum_ops' AND opcnamespace = 'pg_catalog'::regnamespace AND amname = 'hash') = ANY(partclass);

-- simple: pg_dump/plain: text has the objects
SELECT t.tableoid, t.oid, i.indrelid, t.relname AS indexname, pg_catalog.pg_get_indexdef(i.indexrelid) AS indexdef, i.indkey, i.indisclustered, c.contype, c.conname, c.condeferrable, c.condeferred, c.tableoid AS contableoid, c.oid AS conoid, pg_catalog.pg_get_constraintdef(c.oid, false) AS condef, (SELECT spcname FROM pg_catalog.pg_tablespace s WHERE s.oid = t.reltablespace) AS tablespace, t.reloptions AS indreloptions, i.indisreplident, inh.inhparent AS parentidx, i.indnkeyatts AS indnkeyatts, i.indnatts AS indnatts, (SELECT pg_catalog.array_agg(attnum ORDER BY attnum)   FROM pg_catalog.pg_attribute   WHERE attrelid = i.indexrelid AND     attstattarget >= 0) AS indstatcols, (SELECT pg_catalog.array_agg(attstattarget ORDER BY attnum)   FROM pg_catalog.pg_attribute   WHERE attrelid = i.indexrelid AND     attstattarget >= 0) AS indstatvals, i.indnullsnotdistinct FROM unnest('{27615,27620,27625,27635,27640,27645,27650,27655,27687,27705}'::pg_catalog.oid[]) AS src(tbloid)
JOIN pg_catalog.pg_index i ON (src.tbloid = i.indrelid) JOIN pg_catalog.pg_class t ON (t.oid = i.indexrelid) JOIN pg_catalog.pg_class t2 ON (t2.oid = i.indrelid) LEFT JOIN pg_catalog.pg_constraint c ON (i.indrelid = c.conrelid AND i.indexrelid = c.conindid AND c.contype IN ('p','u','x')) LEFT JOIN pg_catalog.pg_inherits inh ON (inh.inhrelid = indexrelid) WHERE (i.indisvalid OR t2.relkind = 'p') AND i.indisready ORDER BY i.indrelid, indexname;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, stxname, stxnamespace, stxowner, stxrelid, stxstattarget FROM pg_catalog.pg_statistic_ext;

-- simple: pg_dump/plain: text has the objects
SELECT c.tableoid, c.oid, conrelid, conname, confrelid, conindid, pg_catalog.pg_get_constraintdef(c.oid) AS condef
FROM unnest('{27615,27620,27625,27687,27705,27737}'::pg_catalog.oid[]) AS src(tbloid)
JOIN pg_catalog.pg_constraint c ON (src.tbloid = c.conrelid)
WHERE contype = 'f' AND conparentid = 0 ORDER BY conrelid, conname;

-- simple: pg_dump/plain: text has the objects
SELECT t.tgrelid, t.tgname, t.tgfoid::pg_catalog.regproc AS tgfname, pg_catalog.pg_get_triggerdef(t.oid, false) AS tgdef, t.tgenabled, t.tableoid, t.oid, t.tgparentid <> 0 AS tgispartition
FROM unnest('{27615,27620,27625,27687,27705}'::pg_catalog.oid[]) AS src(tbloid)
JOIN pg_catalog.pg_trigger t ON (src.tbloid = t.tgrelid) LEFT JOIN pg_catalog.pg_trigger u ON (u.oid = t.tgparentid) WHERE ((NOT t.tgisinternal AND t.tgparentid = 0) OR t.tgenabled != u.tgenabled) ORDER BY t.tgrelid, t.tgname;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, rulename, ev_class AS ruletable, ev_type, is_instead, ev_enabled FROM pg_rewrite ORDER BY oid;

-- simple: pg_dump/plain: text has the objects
SELECT pol.oid, pol.tableoid, pol.polrelid, pol.polname, pol.polcmd, pol.polpermissive, CASE WHEN pol.polroles = '{0}' THEN NULL ELSE    pg_catalog.array_to_string(ARRAY(SELECT pg_catalog.quote_ident(rolname) from pg_catalog.pg_roles WHERE oid = ANY(pol.polroles)), ', ') END AS polroles, pg_catalog.pg_get_expr(pol.polqual, pol.polrelid) AS polqual, pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid) AS polwithcheck FROM unnest('{27615,27620,27625,27632,27635,27640,27645,27650,27655,27687,27705,27737,27740,27745}'::pg_catalog.oid[]) AS src(tbloid)
JOIN pg_catalog.pg_policy pol ON (src.tbloid = pol.polrelid);

-- simple: pg_dump/plain: text has the objects
SELECT p.tableoid, p.oid, p.pubname, p.pubowner, p.puballtables, p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate, p.pubviaroot FROM pg_publication p;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, prpubid, prrelid, pg_catalog.pg_get_expr(prqual, prrelid) AS prrelqual, (CASE
  WHEN pr.prattrs IS NOT NULL THEN
    (SELECT array_agg(attname)
       FROM
         pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s,
         pg_catalog.pg_attribute
      WHERE attrelid = pr.prrelid AND attnum = prattrs[s])
  ELSE NULL END) prattrs FROM pg_catalog.pg_publication_rel pr;

-- simple: pg_dump/plain: text has the objects
SELECT tableoid, oid, pnpubid, pnnspid FROM pg_catalog.pg_publication_namespace;

-- simple: pg_dump/plain: text has the objects
SELECT s.tableoid, s.oid, s.subname,
 s.subowner,
 s.subconninfo, s.subslotname, s.subsynccommit,
 s.subpublications,
 s.subbinary,
 s.substream,
 s.subtwophasestate,
 s.subdisableonerr
FROM pg_subscription s
WHERE s.subdbid = (SELECT oid FROM pg_database
                   WHERE datname = current_database());

-- simple: pg_dump/plain: text has the objects
WITH RECURSIVE w AS ( SELECT d1.objid, d2.refobjid, c2.relkind AS refrelkind FROM pg_depend d1 JOIN pg_class c1 ON c1.oid = d1.objid AND c1.relkind = 'm' JOIN pg_rewrite r1 ON r1.ev_class = d1.objid JOIN pg_depend d2 ON d2.classid = 'pg_rewrite'::regclass AND d2.objid = r1.oid AND d2.refobjid <> d1.objid JOIN pg_class c2 ON c2.oid = d2.refobjid AND c2.relkind IN ('m','v') WHERE d1.classid = 'pg_class'::regclass UNION SELECT w.objid, d3.refobjid, c3.relkind FROM w JOIN pg_rewrite r3 ON r3.ev_class = w.refobjid JOIN pg_depend d3 ON d3.classid = 'pg_rewrite'::regclass AND d3.objid = r3.oid AND d3.refobjid <> w.refobjid JOIN pg_class c3 ON c3.oid = d3.refobjid AND c3.relkind IN ('m','v') ) SELECT 'pg_class'::regclass::oid AS classid, objid, refobjid FROM w WHERE refrelkind = 'm';

-- simple: pg_dump/plain: text has the objects
SELECT oid, lomowner, lomacl, acldefault('L', lomowner) AS acldefault FROM pg_largeobject_metadata;

-- simple: pg_dump/plain: text has the objects
SELECT classid, objid, refclassid, refobjid, deptype FROM pg_depend WHERE deptype != 'p' AND deptype != 'e'
UNION ALL
SELECT 'pg_opfamily'::regclass AS classid, amopfamily AS objid, refclassid, refobjid, deptype FROM pg_depend d, pg_amop o WHERE deptype NOT IN ('p', 'e', 'i') AND classid = 'pg_amop'::regclass AND objid = o.oid AND NOT (refclassid = 'pg_opfamily'::regclass AND amopfamily = refobjid)
UNION ALL
SELECT 'pg_opfamily'::regclass AS classid, amprocfamily AS objid, refclassid, refobjid, deptype FROM pg_depend d, pg_amproc p WHERE deptype NOT IN ('p', 'e', 'i') AND classid = 'pg_amproc'::regclass AND objid = p.oid AND NOT (refclassid = 'pg_opfamily'::regclass AND amprocfamily = refobjid)
ORDER BY 1,2;

-- simple: pg_dump/plain: text has the objects
SELECT DISTINCT attrelid FROM pg_attribute WHERE attacl IS NOT NULL;

-- simple: pg_dump/plain: text has the objects
SELECT objoid, classoid, objsubid, privtype, initprivs FROM pg_init_privs;

-- simple: pg_dump/plain: text has the objects
SELECT description, classoid, objoid, objsubid FROM pg_catalog.pg_description ORDER BY classoid, objoid, objsubid;

-- simple: pg_dump/plain: text has the objects
SELECT label, provider, classoid, objoid, objsubid FROM pg_catalog.pg_seclabels ORDER BY classoid, objoid, objsubid;

-- simple: pg_dump/plain: text has the objects
SELECT pg_catalog.current_schemas(false);

-- extended: pg_dump/plain: text has the objects
PREPARE dumpCompositeType(pg_catalog.oid) AS
SELECT a.attname, a.attnum, pg_catalog.format_type(a.atttypid, a.atttypmod) AS atttypdefn, a.attlen, a.attalign, a.attisdropped, CASE WHEN a.attcollation <> at.typcollation THEN a.attcollation ELSE 0 END AS attcollation, (
 SELECT substr(o, 10 + 1)
 FROM unnest(a.attoptions) o
 WHERE substr(o, 1, 10) = 'pg_attver=') AS attversion
FROM pg_catalog.pg_type ct JOIN pg_catalog.pg_attribute a ON a.attrelid = ct.typrelid LEFT JOIN pg_catalog.pg_type at ON at.oid = a.atttypid WHERE ct.oid = $1 ORDER BY a.attnum;

-- extended: pg_dump/plain: text has the objects
PREPARE dumpEnumType(pg_catalog.oid) AS
SELECT oid, enumlabel FROM pg_catalog.pg_enum WHERE enumtypid = $1 ORDER BY enumsortorder;

-- extended: pg_dump/plain: text has the objects
PREPARE dumpDomain(pg_catalog.oid) AS
SELECT t.typnotnull, pg_catalog.format_type(t.typbasetype, t.typtypmod) AS typdefn, pg_catalog.pg_get_expr(t.typdefaultbin, 'pg_catalog.pg_type'::pg_catalog.regclass) AS typdefaultbin, t.typdefault, CASE WHEN t.typcollation <> u.typcollation THEN t.typcollation ELSE 0 END AS typcollation FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_type u ON (t.typbasetype = u.oid) WHERE t.oid = $1;

-- extended: pg_dump/plain: text has the objects
PREPARE dumpFunc(pg_catalog.oid) AS
SELECT
proretset,
prosrc,
probin,
provolatile,
proisstrict,
prosecdef,
lanname,
proconfig,
procost,
prorows,
pg_catalog.pg_get_function_arguments(p.oid) AS funcargs,
pg_catalog.pg_get_function_identity_arguments(p.oid) AS funciargs,
pg_catalog.pg_get_function_result(p.oid) AS funcresult,
proleakproof,
array_to_string(protrftypes, ' ') AS protrftypes,
proparallel,
prokind,
prosupport,
pg_get_function_sqlbody(p.oid) AS prosqlbody
FROM pg_catalog.pg_proc p, pg_catalog.pg_language l
WHERE p.oid = $1 AND l.oid = p.prolang;

-- simple: pg_dump/plain: text has the objects
SELECT pg_catalog.format_type('1700'::pg_catalog.oid, NULL);

-- extended: pg_dump/plain: text has the objects
PREPARE getColumnACLs(pg_catalog.oid) AS
SELECT at.attname, at.attacl, '{}' AS acldefault, pip.privtype, pip.initprivs FROM pg_catalog.pg_attribute at LEFT JOIN pg_catalog.pg_init_privs pip ON (at.attrelid = pip.objoid AND pip.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND at.attnum = pip.objsubid) WHERE at.attrelid = $1 AND NOT at.attisdropped AND (at.attacl IS NOT NULL OR pip.initprivs IS NOT NULL) ORDER BY at.attnum;

-- simple: pg_dump/plain: text has the objects
SELECT format_type(seqtypid, NULL), seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle FROM pg_catalog.pg_sequence WHERE seqrelid = '27703'::oid;

-- simple: pg_dump/plain: text has the objects
SELECT pg_catalog.pg_get_viewdef('27723'::pg_catalog.oid) AS viewdef;

-- simple: pg_dump/plain: text has the objects
SELECT pg_get_partkeydef('27737');

-- extended: pg_dump/plain: text has the objects
PREPARE dumpTableAttach(pg_catalog.oid) AS
SELECT pg_get_expr(c.relpartbound, c.oid) FROM pg_class c WHERE c.oid = $1;

-- simple: pg_dump/plain: text has the objects
SELECT last_value, is_called FROM shop."Order Item_id_seq";

-- simple: pg_dump/plain: text has the objects
SELECT last_value, is_called FROM shop."Order Item_seq_seq";

-- simple: pg_dump/plain: text has the objects
SELECT last_value, is_called FROM shop.account_id_seq;

-- simple: pg_dump/plain: text has the objects
SELECT last_value, is_called FROM shop.invoice_no;

-- simple: pg_dump/plain: text has the objects
COPY shop."Order Item" (id, account_id, "Qty", price, weight, note, due, opens, seq) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.account (id, name, email, status, balance, tags, meta, created_at, updated_at, birthday, token, pic, active, age, home, ip) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.district (d_id, d_w_id, d_name, d_tax, d_ytd, d_next_o_id) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.item (i_id, i_im_id, i_name, i_price, i_data) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.new_order (no_o_id, no_d_id, no_w_id) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.part_eu (id, region, v) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.part_us (id, region, v) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_ytd, s_order_cnt, s_remote_cnt, s_data) TO stdout;

-- simple: pg_dump/plain: text has the objects
COPY shop.warehouse (w_id, w_name, w_street_1, w_city, w_state, w_zip, w_tax, w_ytd) TO stdout;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
DROP DATABASE IF EXISTS compat_dst;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE DATABASE compat_dst;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
SET client_encoding = 'UTF8';

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
SET standard_conforming_strings = on;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
SET check_function_bodies = false;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
SET xmloption = content;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
SET client_min_messages = warning;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE SCHEMA shop;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER SCHEMA shop OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COMMENT ON SCHEMA shop IS 'demo schema';

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TYPE shop.addr AS (
	street text,
	no integer
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TYPE shop.addr OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TYPE shop.mood AS ENUM (
    'sad',
    'ok',
    'happy'
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TYPE shop.mood OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COMMENT ON TYPE shop.mood IS 'how one feels';

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE DOMAIN shop.positive AS integer
	CONSTRAINT positive_check CHECK ((VALUE > 0));

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER DOMAIN shop.positive OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE FUNCTION shop.add_tax(amount numeric, rate numeric DEFAULT 0.2) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    AS $$ select round(amount * (1 + rate), 2) $$;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER FUNCTION shop.add_tax(amount numeric, rate numeric) OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COMMENT ON FUNCTION shop.add_tax(amount numeric, rate numeric) IS 'adds VAT';

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE PROCEDURE shop.pay(IN who bigint, IN amt numeric, INOUT left_over numeric DEFAULT NULL::numeric)
    LANGUAGE plpgsql
    AS $$
begin
  update account set balance = balance - amt where id = who returning balance into left_over;
  if not found then raise exception 'no account %', who using errcode = 'P0002'; end if;
end $$;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER PROCEDURE shop.pay(IN who bigint, IN amt numeric, INOUT left_over numeric) OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE FUNCTION shop.touch() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.updated_at := '2020-01-01 00:00:00';
  return new;
end $$;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER FUNCTION shop.touch() OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
SET default_tablespace = '';

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
SET default_table_access_method = heap;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop."Order Item" (
    id integer NOT NULL,
    account_id bigint NOT NULL,
    "Qty" smallint DEFAULT 1 NOT NULL,
    price real,
    weight double precision,
    note text COLLATE pg_catalog."C",
    due interval,
    opens time without time zone,
    seq bigint NOT NULL
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop."Order Item" OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE SEQUENCE shop."Order Item_id_seq"
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop."Order Item_id_seq" OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER SEQUENCE shop."Order Item_id_seq" OWNED BY shop."Order Item".id;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE SEQUENCE shop."Order Item_seq_seq"
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop."Order Item_seq_seq" OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER SEQUENCE shop."Order Item_seq_seq" OWNED BY shop."Order Item".seq;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.account (
    id bigint NOT NULL,
    name text NOT NULL,
    email character varying(100),
    status shop.mood DEFAULT 'ok'::shop.mood NOT NULL,
    balance numeric(12,2) DEFAULT 0 NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    meta jsonb,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) without time zone,
    birthday date,
    token uuid,
    pic bytea,
    active boolean DEFAULT true,
    age shop.positive,
    home shop.addr,
    ip inet,
    upper_name text GENERATED ALWAYS AS (upper(name)) STORED,
    CONSTRAINT balance_ok CHECK ((balance >= ('-1000'::integer)::numeric))
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.account OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COMMENT ON TABLE shop.account IS 'people';

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COMMENT ON COLUMN shop.account.name IS 'display name';

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.account ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME shop.account_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE VIEW shop.active_account AS
 SELECT account.id,
    account.name,
    account.balance
   FROM shop.account
  WHERE account.active;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.active_account OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COMMENT ON VIEW shop.active_account IS 'only the living';

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE MATERIALIZED VIEW shop.balance_by_status AS
 SELECT account.status,
    sum(account.balance) AS total
   FROM shop.account
  GROUP BY account.status
  WITH NO DATA;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.balance_by_status OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.customer (
    c_id integer NOT NULL,
    c_d_id integer NOT NULL,
    c_w_id integer NOT NULL,
    c_first character varying(16),
    c_middle character(2),
    c_last character varying(16),
    c_since timestamp without time zone,
    c_credit character(2),
    c_credit_lim numeric(12,2),
    c_discount numeric(4,4),
    c_balance numeric(12,2),
    c_ytd_payment numeric(12,2),
    c_payment_cnt integer,
    c_delivery_cnt integer,
    c_data character varying(500)
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.customer OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.district (
    d_id integer NOT NULL,
    d_w_id integer NOT NULL,
    d_name character varying(10),
    d_tax numeric(4,4),
    d_ytd numeric(12,2),
    d_next_o_id integer
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.district OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.history (
    h_c_id integer,
    h_c_d_id integer,
    h_c_w_id integer,
    h_d_id integer,
    h_w_id integer,
    h_date timestamp without time zone,
    h_amount numeric(6,2),
    h_data character varying(24)
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.history OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE SEQUENCE shop.invoice_no
    START WITH 1000
    INCREMENT BY 5
    MINVALUE 10
    MAXVALUE 99999
    CACHE 1
    CYCLE;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.invoice_no OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.item (
    i_id integer NOT NULL,
    i_im_id integer,
    i_name character varying(24),
    i_price numeric(5,2),
    i_data character varying(50)
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.item OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.new_order (
    no_o_id integer NOT NULL,
    no_d_id integer NOT NULL,
    no_w_id integer NOT NULL
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.new_order OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.order_line (
    ol_o_id integer NOT NULL,
    ol_d_id integer NOT NULL,
    ol_w_id integer NOT NULL,
    ol_number integer NOT NULL,
    ol_i_id integer,
    ol_supply_w_id integer,
    ol_delivery_d timestamp without time zone,
    ol_quantity integer,
    ol_amount numeric(6,2),
    ol_dist_info character(24)
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.order_line OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.orders (
    o_id integer NOT NULL,
    o_d_id integer NOT NULL,
    o_w_id integer NOT NULL,
    o_c_id integer,
    o_entry_d timestamp without time zone,
    o_carrier_id integer,
    o_ol_cnt integer,
    o_all_local integer
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.orders OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.part (
    id integer,
    region text,
    v integer
)
PARTITION BY LIST (region);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.part OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.part_eu (
    id integer,
    region text,
    v integer
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.part_eu OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.part_us (
    id integer,
    region text,
    v integer
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.part_us OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.stock (
    s_i_id integer NOT NULL,
    s_w_id integer NOT NULL,
    s_quantity integer,
    s_dist_01 character(24),
    s_ytd numeric(8,0),
    s_order_cnt integer,
    s_remote_cnt integer,
    s_data character varying(50)
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.stock OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TABLE shop.warehouse (
    w_id integer NOT NULL,
    w_name character varying(10),
    w_street_1 character varying(20),
    w_city character varying(20),
    w_state character(2),
    w_zip character(9),
    w_tax numeric(4,4),
    w_ytd numeric(12,2)
);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE shop.warehouse OWNER TO compat;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.part ATTACH PARTITION shop.part_eu FOR VALUES IN ('eu');

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.part ATTACH PARTITION shop.part_us FOR VALUES IN ('us');

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop."Order Item" ALTER COLUMN id SET DEFAULT nextval('shop."Order Item_id_seq"'::regclass);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop."Order Item" ALTER COLUMN seq SET DEFAULT nextval('shop."Order Item_seq_seq"'::regclass);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop."Order Item" (id, account_id, "Qty", price, weight, note, due, opens, seq) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.account (id, name, email, status, balance, tags, meta, created_at, updated_at, birthday, token, pic, active, age, home, ip) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.district (d_id, d_w_id, d_name, d_tax, d_ytd, d_next_o_id) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.item (i_id, i_im_id, i_name, i_price, i_data) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.new_order (no_o_id, no_d_id, no_w_id) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.part_eu (id, region, v) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.part_us (id, region, v) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_ytd, s_order_cnt, s_remote_cnt, s_data) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
COPY shop.warehouse (w_id, w_name, w_street_1, w_city, w_state, w_zip, w_tax, w_ytd) FROM stdin;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
SELECT pg_catalog.setval('shop."Order Item_id_seq"', 3, true);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop."Order Item"
    ADD CONSTRAINT "Order Item_pkey" PRIMARY KEY (id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.account
    ADD CONSTRAINT account_email_key UNIQUE (email);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (c_w_id, c_d_id, c_id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.district
    ADD CONSTRAINT district_pkey PRIMARY KEY (d_w_id, d_id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.item
    ADD CONSTRAINT item_pkey PRIMARY KEY (i_id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.new_order
    ADD CONSTRAINT new_order_pkey PRIMARY KEY (no_w_id, no_d_id, no_o_id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.order_line
    ADD CONSTRAINT order_line_pkey PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (o_w_id, o_d_id, o_id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.stock
    ADD CONSTRAINT stock_pkey PRIMARY KEY (s_w_id, s_i_id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.warehouse
    ADD CONSTRAINT warehouse_pkey PRIMARY KEY (w_id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE INDEX account_name_idx ON shop.account USING btree (name DESC NULLS LAST) INCLUDE (email);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE INDEX account_tags_idx ON shop.account USING gin (tags);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE INDEX idx_customer_name ON shop.customer USING btree (c_w_id, c_d_id, c_last, c_first);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE INDEX idx_order ON shop.orders USING btree (o_w_id, o_d_id, o_c_id, o_id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE UNIQUE INDEX order_item_uq ON shop."Order Item" USING btree (account_id, lower(note)) WHERE ("Qty" > 0);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
CREATE TRIGGER account_touch BEFORE UPDATE ON shop.account FOR EACH ROW EXECUTE FUNCTION shop.touch();

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop."Order Item"
    ADD CONSTRAINT "Order Item_account_id_fkey" FOREIGN KEY (account_id) REFERENCES shop.account(id) ON UPDATE CASCADE ON DELETE RESTRICT;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.customer
    ADD CONSTRAINT fk_customer_district FOREIGN KEY (c_w_id, c_d_id) REFERENCES shop.district(d_w_id, d_id) ON DELETE CASCADE;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
ALTER TABLE ONLY shop.district
    ADD CONSTRAINT fk_district_warehouse FOREIGN KEY (d_w_id) REFERENCES shop.warehouse(w_id);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
REFRESH MATERIALIZED VIEW shop.balance_by_status;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
select x::text from shop.warehouse x order by 1;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
select conname,pg_get_constraintdef(oid) from pg_constraint where connamespace='shop'::regnamespace order by 1;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
select pg_get_indexdef(indexrelid) from pg_index i join pg_class c on c.oid=indexrelid where c.relnamespace='shop'::regnamespace order by 1;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
select table_name,column_name,data_type,is_nullable,column_default from information_schema.columns where table_schema='shop' order by 1,ordinal_position;

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
select pg_get_viewdef('shop.active_account'::regclass);

-- simple: pg_dump/plain round trip through psql: same data, same definitions, same dump
select obj_description('shop.account'::regclass), col_description('shop.account'::regclass,2);

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
SELECT tableoid, oid, datname, datdba, pg_encoding_to_char(encoding) AS encoding, datcollate, datctype, datfrozenxid, datacl, acldefault('d', datdba) AS acldefault, datistemplate, datconnlimit, datminmxid, datlocprovider, daticulocale, datcollversion, (SELECT spcname FROM pg_tablespace t WHERE t.oid = dattablespace) AS tablespace, shobj_description(oid, 'pg_database') AS description FROM pg_database WHERE datname = current_database();

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
SELECT provider, label FROM pg_catalog.pg_shseclabel WHERE classoid = 'pg_catalog.pg_database'::pg_catalog.regclass AND objoid = '27613';

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
SELECT unnest(setconfig) FROM pg_db_role_setting WHERE setrole = 0 AND setdatabase = '27613'::oid;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
SELECT rolname, unnest(setconfig) FROM pg_db_role_setting s, pg_roles r WHERE setrole = r.oid AND setdatabase = '27613'::oid;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
--
-- PostgreSQL database dump
--;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.district DROP CONSTRAINT IF EXISTS fk_district_warehouse;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.customer DROP CONSTRAINT IF EXISTS fk_customer_district;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop."Order Item" DROP CONSTRAINT IF EXISTS "Order Item_account_id_fkey";

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TRIGGER IF EXISTS account_touch ON shop.account;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP INDEX IF EXISTS shop.order_item_uq;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP INDEX IF EXISTS shop.idx_order;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP INDEX IF EXISTS shop.idx_customer_name;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP INDEX IF EXISTS shop.account_tags_idx;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP INDEX IF EXISTS shop.account_name_idx;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.warehouse DROP CONSTRAINT IF EXISTS warehouse_pkey;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.stock DROP CONSTRAINT IF EXISTS stock_pkey;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.orders DROP CONSTRAINT IF EXISTS orders_pkey;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.order_line DROP CONSTRAINT IF EXISTS order_line_pkey;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.new_order DROP CONSTRAINT IF EXISTS new_order_pkey;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.item DROP CONSTRAINT IF EXISTS item_pkey;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.district DROP CONSTRAINT IF EXISTS district_pkey;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.customer DROP CONSTRAINT IF EXISTS customer_pkey;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.account DROP CONSTRAINT IF EXISTS account_pkey;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop.account DROP CONSTRAINT IF EXISTS account_email_key;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS ONLY shop."Order Item" DROP CONSTRAINT IF EXISTS "Order Item_pkey";

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS shop."Order Item" ALTER COLUMN seq DROP DEFAULT;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
ALTER TABLE IF EXISTS shop."Order Item" ALTER COLUMN id DROP DEFAULT;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.warehouse;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.stock;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.part_us;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.part_eu;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.part;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.orders;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.order_line;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.new_order;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.item;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP SEQUENCE IF EXISTS shop.invoice_no;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.history;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.district;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.customer;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP MATERIALIZED VIEW IF EXISTS shop.balance_by_status;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP VIEW IF EXISTS shop.active_account;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop.account;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP SEQUENCE IF EXISTS shop."Order Item_seq_seq";

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP SEQUENCE IF EXISTS shop."Order Item_id_seq";

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TABLE IF EXISTS shop."Order Item";

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP FUNCTION IF EXISTS shop.touch();

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP PROCEDURE IF EXISTS shop.pay(IN who bigint, IN amt numeric, INOUT left_over numeric);

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP FUNCTION IF EXISTS shop.add_tax(amount numeric, rate numeric);

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP DOMAIN IF EXISTS shop.positive;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TYPE IF EXISTS shop.mood;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP TYPE IF EXISTS shop.addr;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
DROP SCHEMA IF EXISTS shop;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop."Order Item";

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.account;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
COMMIT;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.warehouse;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.district;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.customer;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.history;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.orders;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.new_order;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.item;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.order_line;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.stock;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.part_us;

-- simple: pg_dump/-Fc and pg_restore -j2 --clean --if-exists
TRUNCATE TABLE ONLY shop.part_eu;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
SELECT pg_catalog.pg_export_snapshot();

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
SET TRANSACTION SNAPSHOT '00000003-000048ED-1';

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.warehouse IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.customer IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.history IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.orders IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.new_order IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.item IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.stock IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.order_line IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.account IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop."Order Item" IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.part_eu IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.part_us IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/-Fd -j 2 (synchronised snapshots) and restore
LOCK TABLE shop.district IN ACCESS SHARE MODE NOWAIT;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT id, account_id, "Qty", price, weight, note, due, opens, seq FROM ONLY shop."Order Item";

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
FETCH 100 FROM _pg_dump_cursor;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
CLOSE _pg_dump_cursor;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT id, name, email, status, balance, tags, meta, created_at, updated_at, birthday, token, pic, active, age, home, ip FROM ONLY shop.account;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data FROM ONLY shop.customer;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT d_id, d_w_id, d_name, d_tax, d_ytd, d_next_o_id FROM ONLY shop.district;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data FROM ONLY shop.history;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT i_id, i_im_id, i_name, i_price, i_data FROM ONLY shop.item;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT no_o_id, no_d_id, no_w_id FROM ONLY shop.new_order;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info FROM ONLY shop.order_line;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local FROM ONLY shop.orders;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT id, region, v FROM ONLY shop.part_eu;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT id, region, v FROM ONLY shop.part_us;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT s_i_id, s_w_id, s_quantity, s_dist_01, s_ytd, s_order_cnt, s_remote_cnt, s_data FROM ONLY shop.stock;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
DECLARE _pg_dump_cursor CURSOR FOR SELECT w_id, w_name, w_street_1, w_city, w_state, w_zip, w_tax, w_ytd FROM ONLY shop.warehouse;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
INSERT INTO shop."Order Item" (id, account_id, "Qty", price, weight, note, due, opens, seq) VALUES
	(1, 1, 2, 1.5, 2.25, 'n1', '1 day 02:00:00', '08:30:00', 1),
	(2, 1, 1, NULL, 10000000000, 'N2', '-1 mons', NULL, 2),
	(3, 2, 3, 0.1, -0.5, NULL, NULL, '23:59:59.5', 3) ON CONFLICT DO NOTHING;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
INSERT INTO shop.account (id, name, email, status, balance, tags, meta, created_at, updated_at, birthday, token, pic, active, age, home, ip) OVERRIDING SYSTEM VALUE VALUES
	(1, 'Ann', 'ann@x.org', 'happy', 100.50, '{a,b}', '{"k": [1, 2]}', '2020-01-02 03:04:05+00', NULL, '1990-05-06', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\xdead', true, 30, '(Main,5)', '10.0.0.1'),
	(2, 'Bob', NULL, 'sad', -5.00, '{}', NULL, '2021-01-02 03:04:05.678+00', NULL, NULL, NULL, NULL, true, NULL, NULL, NULL),
	(3, 'Çelik "x"', 'c@x.org', 'ok', 0.00, '{"q r",NULL}', '{}', '2022-01-02 03:04:05+00', NULL, '2000-02-29', NULL, '\x', true, 7, NULL, '::1') ON CONFLICT DO NOTHING;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
INSERT INTO shop.district (d_id, d_w_id, d_name, d_tax, d_ytd, d_next_o_id) VALUES
	(1, 1, 'D1', 0.0500, 30000.00, 3001) ON CONFLICT DO NOTHING;

-- simple: pg_dump/--inserts --column-inserts --on-conflict-do-nothing round trip
INSERT INTO shop.warehouse (w_id, w_name, w_street_1, w_city, w_state, w_zip, w_tax, w_ytd) VALUES
	(1, 'W1', 's', 'c', 'XX', '123456789', 0.1000, 300000.00),
	(2, 'W2', NULL, NULL, NULL, NULL, NULL, NULL) ON CONFLICT DO NOTHING;

-- simple: pg_dump/-s, -a, -t, -n, -T, --section, -c -C, -O -x, --serializable-deferrable, --snapshot
RESET search_path;

-- simple: pg_dump/-s, -a, -t, -n, -T, --section, -c -C, -O -x, --serializable-deferrable, --snapshot
SELECT c.oid
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n
     ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.relkind OPERATOR(pg_catalog.=) ANY
    (array['r', 'S', 'v', 'm', 'f', 'p'])
  AND c.relname OPERATOR(pg_catalog.~) '^(account)$' COLLATE pg_catalog.default
  AND n.nspname OPERATOR(pg_catalog.~) '^(shop)$' COLLATE pg_catalog.default;

-- simple: pg_dump/-s, -a, -t, -n, -T, --section, -c -C, -O -x, --serializable-deferrable, --snapshot
SELECT oid FROM pg_catalog.pg_namespace n
WHERE n.nspname OPERATOR(pg_catalog.~) '^(shop)$' COLLATE pg_catalog.default;

-- simple: pg_dump/-s, -a, -t, -n, -T, --section, -c -C, -O -x, --serializable-deferrable, --snapshot
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE;

-- simple: pg_dump/-s, -a, -t, -n, -T, --section, -c -C, -O -x, --serializable-deferrable, --snapshot
SET quote_all_identifiers = true;

-- simple: pg_dump/-s, -a, -t, -n, -T, --section, -c -C, -O -x, --serializable-deferrable, --snapshot
SELECT c.oid
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n
     ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.relkind OPERATOR(pg_catalog.=) ANY
    (array['r', 'S', 'v', 'm', 'f', 'p'])
  AND c.relname OPERATOR(pg_catalog.~) '^(nosuch)$' COLLATE pg_catalog.default
  AND pg_catalog.pg_table_is_visible(c.oid);

-- simple: pg_dumpall/-g roles and -s
SELECT oid, rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolconnlimit, rolpassword, rolvaliduntil, rolreplication, rolbypassrls, pg_catalog.shobj_description(oid, 'pg_authid') as rolcomment, rolname = current_user AS is_current_user FROM pg_authid WHERE rolname !~ '^pg_' ORDER BY 2;

-- simple: pg_dumpall/-g roles and -s
SELECT unnest(setconfig) FROM pg_db_role_setting WHERE setdatabase = 0 AND setrole = (SELECT oid FROM pg_authid WHERE rolname = 'compat');

-- simple: pg_dumpall/-g roles and -s
SELECT ur.rolname AS role, um.rolname AS member, a.admin_option, ug.rolname AS grantor, a.roleid AS roleid, a.member AS memberid FROM pg_auth_members a LEFT JOIN pg_authid ur on ur.oid = a.roleid LEFT JOIN pg_authid um on um.oid = a.member LEFT JOIN pg_authid ug on ug.oid = a.grantor WHERE NOT (ur.rolname ~ '^pg_' AND um.rolname ~ '^pg_')ORDER BY 1,2,3;

-- simple: pg_dumpall/-g roles and -s
SELECT parname, pg_catalog.pg_get_userbyid(10) AS parowner, paracl, pg_catalog.acldefault('p', 10) AS acldefault FROM pg_catalog.pg_parameter_acl ORDER BY 1;

-- simple: pg_dumpall/-g roles and -s
SELECT oid, spcname, pg_catalog.pg_get_userbyid(spcowner) AS spcowner, pg_catalog.pg_tablespace_location(oid), spcacl, acldefault('t', spcowner) AS acldefault, array_to_string(spcoptions, ', '),pg_catalog.shobj_description(oid, 'pg_tablespace') FROM pg_catalog.pg_tablespace WHERE spcname !~ '^pg_' ORDER BY 1;

-- simple: pg_dumpall/-g roles and -s
SELECT oid, rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolconnlimit, rolpassword, rolvaliduntil, rolreplication, rolbypassrls, pg_catalog.shobj_description(oid, 'pg_authid') as rolcomment, rolname = current_user AS is_current_user FROM pg_roles  WHERE rolname !~ '^pg_' ORDER BY 2;

-- simple: pg_dumpall/-g roles and -s
SELECT unnest(setconfig) FROM pg_db_role_setting WHERE setdatabase = 0 AND setrole = (SELECT oid FROM pg_roles  WHERE rolname = 'compat');

-- simple: pg_dumpall/-g roles and -s
SELECT datname FROM pg_database d WHERE datallowconn AND datconnlimit != -2 ORDER BY (datname <> 'template1'), datname;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.migrations IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.wire_iso IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.jdbc_iso IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.customer IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.district IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.history IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.item IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.warehouse IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.stock IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.new_order IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.orders IN ACCESS SHARE MODE;

-- simple: pg_dumpall/-g roles and -s
LOCK TABLE public.order_line IN ACCESS SHARE MODE;
