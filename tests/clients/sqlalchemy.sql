-- What sqlalchemy sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: psycopg2/connect: dialect initialisation
BEGIN;

-- simple: psycopg2/connect: dialect initialisation
SELECT t.oid, typarray
FROM pg_type t JOIN pg_namespace ns
    ON typnamespace = ns.oid
WHERE typname = 'hstore';

-- simple: psycopg2/connect: dialect initialisation
ROLLBACK;

-- simple: psycopg2/connect: dialect initialisation
select pg_catalog.version();

-- simple: psycopg2/connect: dialect initialisation
select current_schema();

-- simple: psycopg2/connect: dialect initialisation
show transaction isolation level;

-- simple: psycopg2/connect: dialect initialisation
show standard_conforming_strings;

-- simple: psycopg2/connect: dialect initialisation
select 1;

-- simple: psycopg2/create_all twice, drop_all, create_all
SELECT pg_catalog.pg_class.relname 
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relname IN ('sa_cust', 'sa_ord') AND pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog';

-- simple: psycopg2/create_all twice, drop_all, create_all
SELECT pg_catalog.pg_type.typname 
FROM pg_catalog.pg_type JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_type.typnamespace 
WHERE pg_catalog.pg_type.typname = 'sa_lv' AND pg_catalog.pg_type_is_visible(pg_catalog.pg_type.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog';

-- simple: psycopg2/create_all twice, drop_all, create_all
COMMIT;

-- simple: psycopg2/create_all twice, drop_all, create_all
CREATE TYPE sa_lv AS ENUM ('LOW', 'HIGH');

-- simple: psycopg2/create_all twice, drop_all, create_all
CREATE TABLE sa_cust (
	id SERIAL NOT NULL, 
	name VARCHAR(50) NOT NULL, 
	mail TEXT, 
	bal NUMERIC(12, 2) DEFAULT '0' NOT NULL, 
	lv sa_lv NOT NULL, 
	at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL, 
	js JSONB, 
	tags TEXT[], 
	b BYTEA, 
	d DATE, 
	tok UUID, 
	act BOOLEAN NOT NULL, 
	iv INTERVAL, 
	r INT4RANGE, 
	up TEXT GENERATED ALWAYS AS (upper(name)) STORED, 
	big BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 100), 
	PRIMARY KEY (id), 
	CONSTRAINT sa_cust_mail_uq UNIQUE (mail), 
	CONSTRAINT sa_cust_bal CHECK (bal > -100)
);

-- simple: psycopg2/create_all twice, drop_all, create_all
CREATE INDEX ix_sa_cust_name ON sa_cust (name);

-- simple: psycopg2/create_all twice, drop_all, create_all
CREATE INDEX sa_cust_gin ON sa_cust USING gin (tags);

-- simple: psycopg2/create_all twice, drop_all, create_all
CREATE INDEX sa_cust_low ON sa_cust (lower(name));

-- simple: psycopg2/create_all twice, drop_all, create_all
CREATE INDEX sa_cust_part ON sa_cust (name) INCLUDE (bal) WHERE act;

-- simple: psycopg2/create_all twice, drop_all, create_all
COMMENT ON TABLE sa_cust IS 'customers';

-- simple: psycopg2/create_all twice, drop_all, create_all
COMMENT ON COLUMN sa_cust.name IS 'the name';

-- simple: psycopg2/create_all twice, drop_all, create_all
CREATE TABLE sa_ord (
	id SERIAL NOT NULL, 
	cust_id INTEGER NOT NULL, 
	qty INTEGER NOT NULL, 
	price DOUBLE PRECISION, 
	PRIMARY KEY (id), 
	CONSTRAINT sa_ord_fk FOREIGN KEY(cust_id) REFERENCES sa_cust (id) ON DELETE CASCADE
);

-- simple: psycopg2/create_all twice, drop_all, create_all
DROP TABLE sa_ord;

-- simple: psycopg2/create_all twice, drop_all, create_all
DROP TABLE sa_cust;

-- simple: psycopg2/create_all twice, drop_all, create_all
DROP TYPE sa_lv;

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
INSERT INTO sa_ord (cust_id, qty, price) SELECT p0::INTEGER, p1::INTEGER, p2::FLOAT FROM (VALUES (1, 3, 1.5, 0), (2, 3, 1.5, 1), (3, 3, 1.5, 2), (4, 3, 1.5, 3), (5, 3, 1.5, 4), (6, 3, 1.5, 5), (7, 3, 1.5, 6), (8, 3, 1.5, 7), (9, 3, 1.5, 8), (10, 3, 1.5, 9), (11, 3, 1.5, 10), (12, 3, 1.5, 11), (13, 3, 1.5, 12), (14, 3, 1.5, 13), (15, 3, 1.5, 14), (16, 3, 1.5, 15), (17, 3, 1.5, 16), (18, 3, 1.5, 17), (19, 3, 1.5, 18), (20, 3, 1.5, 19), (21, 3, 1.5, 20), (22, 3, 1.5, 21), (23, 3, 1.5, 22), (24, 3, 1.5, 23), (25, 3, 1.5, 24), (26, 3, 1.5, 25), (27, 3, 1.5, 26), (28, 3, 1.5, 27), (29, 3, 1.5, 28), (30, 3, 1.5, 29)) AS imp_sen(p0, p1, p2, sen_counter) ORDER BY sen_counter RETURNING sa_ord.id, sa_ord.id AS id__1;

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
SELECT sa_cust.id, sa_cust.name, sa_cust.mail, sa_cust.bal, sa_cust.lv, sa_cust.at, sa_cust.js, sa_cust.tags, sa_cust.b, sa_cust.d, sa_cust.tok, sa_cust.act, sa_cust.iv, sa_cust.r, sa_cust.up, sa_cust.big 
FROM sa_cust 
WHERE sa_cust.name = 'n3';

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
SELECT sa_ord.cust_id, sa_ord.id, sa_ord.qty, sa_ord.price 
FROM sa_ord 
WHERE sa_ord.cust_id IN (4);

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
UPDATE sa_cust SET bal=2.50 WHERE sa_cust.id = 4;

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
SELECT sum(sa_cust.bal) AS sum_1 
FROM sa_cust;

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
SELECT sa_cust.id, sa_cust.name, sa_cust.mail, sa_cust.bal, sa_cust.lv, sa_cust.at, sa_cust.js, sa_cust.tags, sa_cust.b, sa_cust.d, sa_cust.tok, sa_cust.act, sa_cust.iv, sa_cust.r, sa_cust.up, sa_cust.big 
FROM sa_cust 
WHERE sa_cust.id = 4;

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
SELECT sa_ord.id, sa_ord.cust_id, sa_ord.qty, sa_ord.price 
FROM sa_ord 
WHERE 4 = sa_ord.cust_id;

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
DELETE FROM sa_ord WHERE sa_ord.id = 4;

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
DELETE FROM sa_cust WHERE sa_cust.id = 4;

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
SELECT count(*) AS count_1 
FROM sa_ord;

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
SELECT sa_cust.lv, count(*) AS count_1, array_agg(sa_cust.name) AS array_agg_1 
FROM sa_cust JOIN sa_ord ON sa_cust.id = sa_ord.cust_id 
WHERE ((sa_cust.js['a']) ->> 0) = '1' AND sa_cust.tags @> ARRAY['x']::TEXT[] AND sa_cust.name ILIKE 'N%' AND sa_cust.name IN ('n1', 'n2', 'n4') AND sa_cust.r @> 2 GROUP BY sa_cust.lv 
HAVING count(*) > 1 ORDER BY sa_cust.lv 
 LIMIT 5 OFFSET 0;

-- simple: psycopg2/ORM: insert, select, relationship, update, delete, all types
SELECT sa_cust.id, sa_cust.name, sa_cust.mail, sa_cust.bal, sa_cust.lv, sa_cust.at, sa_cust.js, sa_cust.tags, sa_cust.b, sa_cust.d, sa_cust.tok, sa_cust.act, sa_cust.iv, sa_cust.r, sa_cust.up, sa_cust.big 
FROM sa_cust ORDER BY sa_cust.id 
 LIMIT 2 FOR UPDATE SKIP LOCKED;

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
SELECT sa_cust.id 
FROM sa_cust 
 LIMIT 1;

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
INSERT INTO sa_ord (id, cust_id, qty) VALUES (31, 1, 9) ON CONFLICT (id) DO UPDATE SET qty = (excluded.qty + 1) RETURNING sa_ord.qty;

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
WITH x AS 
(SELECT sa_ord.id AS id, row_number() OVER (ORDER BY sa_ord.id) AS rn 
FROM sa_ord)
 SELECT max(x.rn) AS max_1 
FROM x;

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
UPDATE sa_ord SET price=sa_cust.bal FROM sa_cust WHERE sa_ord.cust_id = sa_cust.id;

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
DELETE FROM sa_ord WHERE sa_ord.id > 40 RETURNING sa_ord.id;

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
DECLARE "c_7ffbf311f910_1" CURSOR WITHOUT HOLD FOR SELECT sa_ord.id, sa_ord.cust_id, sa_ord.qty, sa_ord.price 
FROM sa_ord;

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
FETCH FORWARD 1 FROM "c_7ffbf311f910_1";

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
FETCH FORWARD 5 FROM "c_7ffbf311f910_1";

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
FETCH FORWARD 25 FROM "c_7ffbf311f910_1";

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
FETCH FORWARD 100 FROM "c_7ffbf311f910_1";

-- simple: psycopg2/Core: bulk insert with returning, on conflict, CTE, window, update from, delete returning, server-side cursor
CLOSE "c_7ffbf311f910_1";

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_class.relname 
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p']) AND pg_catalog.pg_class.relpersistence != 't' AND pg_catalog.pg_namespace.nspname = 'shop';

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_attribute.attname AS name, pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod) AS format_type, CASE WHEN pg_catalog.pg_attribute.atthasdef THEN (SELECT pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) AS pg_get_expr_1 
FROM pg_catalog.pg_attrdef 
WHERE pg_catalog.pg_attribute.atthasdef AND pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum) ELSE NULL END AS "default", pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_class.relname AS table_name, pg_catalog.pg_description.description AS comment, pg_catalog.pg_attribute.attgenerated AS generated, CASE WHEN (pg_catalog.pg_attribute.attidentity != '') THEN (SELECT json_build_object('always', pg_catalog.pg_attribute.attidentity = 'a', 'start', pg_catalog.pg_sequence.seqstart, 'increment', pg_catalog.pg_sequence.seqincrement, 'minvalue', pg_catalog.pg_sequence.seqmin, 'maxvalue', pg_catalog.pg_sequence.seqmax, 'cache', pg_catalog.pg_sequence.seqcache, 'cycle', pg_catalog.pg_sequence.seqcycle) AS json_build_object_1 
FROM pg_catalog.pg_sequence 
WHERE pg_catalog.pg_attribute.attidentity != '' AND pg_catalog.pg_sequence.seqrelid = CAST(CAST(pg_catalog.pg_get_serial_sequence(CAST(CAST(pg_catalog.pg_attribute.attrelid AS REGCLASS) AS TEXT), pg_catalog.pg_attribute.attname) AS REGCLASS) AS OID)) ELSE NULL END AS identity_options, CASE WHEN (pg_catalog.pg_attribute.attcollation != 0 AND (SELECT pg_catalog.pg_type.typcollation 
FROM pg_catalog.pg_type 
WHERE pg_catalog.pg_type.oid = pg_catalog.pg_attribute.atttypid) != pg_catalog.pg_attribute.attcollation) THEN (SELECT json_build_object('name', pg_catalog.pg_collation.collname, 'schema', CASE WHEN pg_catalog.pg_collation_is_visible(pg_catalog.pg_collation.oid) THEN NULL ELSE pg_catalog.pg_namespace.nspname END) AS json_build_object_9 
FROM pg_catalog.pg_collation JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_collation.collnamespace 
WHERE pg_catalog.pg_collation.oid = pg_catalog.pg_attribute.attcollation) ELSE NULL END AS collation 
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > 0 AND NOT pg_catalog.pg_attribute.attisdropped LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_namespace.nspname = 'shop' AND pg_catalog.pg_class.relname IN ('account') ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_attribute.attnum;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_type.typname AS name, pg_catalog.pg_type_is_visible(pg_catalog.pg_type.oid) AS visible, pg_catalog.pg_namespace.nspname AS schema, lbl_agg.labels AS labels 
FROM pg_catalog.pg_type JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_type.typnamespace LEFT OUTER JOIN (SELECT pg_catalog.pg_enum.enumtypid AS enumtypid, array_agg(CAST(pg_catalog.pg_enum.enumlabel AS TEXT) ORDER BY pg_catalog.pg_enum.enumsortorder) AS labels 
FROM pg_catalog.pg_enum GROUP BY pg_catalog.pg_enum.enumtypid) AS lbl_agg ON pg_catalog.pg_type.oid = lbl_agg.enumtypid 
WHERE pg_catalog.pg_type.typtype = 'e' ORDER BY pg_catalog.pg_namespace.nspname, pg_catalog.pg_type.typname;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_type.typname AS name, pg_catalog.format_type(pg_catalog.pg_type.typbasetype, pg_catalog.pg_type.typtypmod) AS attype, NOT pg_catalog.pg_type.typnotnull AS nullable, pg_catalog.pg_type.typdefault AS "default", pg_catalog.pg_type_is_visible(pg_catalog.pg_type.oid) AS visible, pg_catalog.pg_namespace.nspname AS schema, domain_constraints.condefs, domain_constraints.connames, pg_catalog.pg_collation.collname, CASE WHEN (pg_catalog.pg_collation.oid IS NULL) THEN NULL WHEN pg_catalog.pg_collation_is_visible(pg_catalog.pg_collation.oid) THEN NULL ELSE collation_namespace.nspname END AS collation_schema 
FROM pg_catalog.pg_type JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_type.typnamespace LEFT OUTER JOIN pg_catalog.pg_collation ON pg_catalog.pg_type.typcollation = pg_catalog.pg_collation.oid LEFT OUTER JOIN pg_catalog.pg_namespace AS collation_namespace ON collation_namespace.oid = pg_catalog.pg_collation.collnamespace LEFT OUTER JOIN (SELECT pg_catalog.pg_constraint.contypid AS contypid, array_agg(pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, true)) AS condefs, array_agg(CAST(pg_catalog.pg_constraint.conname AS TEXT)) AS connames 
FROM pg_catalog.pg_constraint 
WHERE pg_catalog.pg_constraint.contypid != 0 GROUP BY pg_catalog.pg_constraint.contypid) AS domain_constraints ON pg_catalog.pg_type.oid = domain_constraints.contypid 
WHERE pg_catalog.pg_type.typtype = 'd' ORDER BY pg_catalog.pg_namespace.nspname, pg_catalog.pg_type.typname;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname 
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_namespace.nspname = 'shop' AND pg_catalog.pg_class.relname IN ('district');

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols, attr.conname, min(attr.description) AS description, min(attr.indnkeyatts) AS indnkeyatts, bool_and(attr.indnullsnotdistinct) AS indnullsnotdistinct 
FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.description AS description, con.ord AS ord, con.indnkeyatts AS indnkeyatts, con.indnullsnotdistinct AS indnullsnotdistinct, pg_catalog.pg_attribute.attname AS attname 
FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid, pg_catalog.pg_constraint.conname AS conname, unnest(pg_catalog.pg_index.indkey) AS attnum, generate_subscripts(pg_catalog.pg_index.indkey, 1) AS ord, pg_catalog.pg_index.indnkeyatts AS indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct AS indnullsnotdistinct, pg_catalog.pg_description.description AS description 
FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_index ON pg_catalog.pg_constraint.conindid = pg_catalog.pg_index.indexrelid LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST('pg_catalog.pg_constraint' AS REGCLASS) 
WHERE pg_catalog.pg_constraint.contype = 'p' AND pg_catalog.pg_constraint.conrelid IN (28841)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND pg_catalog.pg_attribute.attrelid = con.conrelid 
WHERE con.conrelid IN (28841)) AS attr GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN (pg_catalog.pg_constraint.oid IS NOT NULL) THEN pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, true) END AS anon_1, nsp_ref.nspname, pg_catalog.pg_description.description 
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid = pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = 'f' LEFT OUTER JOIN pg_catalog.pg_class AS cls_ref ON cls_ref.oid = pg_catalog.pg_constraint.confrelid LEFT OUTER JOIN pg_catalog.pg_namespace AS nsp_ref ON cls_ref.relnamespace = nsp_ref.oid LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST('pg_catalog.pg_constraint' AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_namespace.nspname = 'shop' AND pg_catalog.pg_class.relname IN ('customer') ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN (pg_catalog.pg_constraint.oid IS NOT NULL) THEN pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, true) END AS anon_1, pg_catalog.pg_description.description 
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid = pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = 'c' LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST('pg_catalog.pg_constraint' AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_namespace.nspname = 'shop' AND pg_catalog.pg_class.relname IN ('account') ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_am.oid, pg_catalog.pg_am.amname 
FROM pg_catalog.pg_am 
WHERE pg_catalog.pg_am.amname = 'btree';

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_opclass.oid, pg_catalog.pg_opclass.opcname 
FROM pg_catalog.pg_opclass 
WHERE NOT pg_catalog.pg_opclass.opcdefault;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_index.indrelid, pg_catalog.pg_class.relname, pg_catalog.pg_index.indisunique, pg_catalog.pg_index.indisvalid, pg_catalog.pg_constraint.conrelid IS NOT NULL AS has_constraint, pg_catalog.pg_index.indoption, pg_catalog.pg_class.reloptions, pg_catalog.pg_class.relam, CASE WHEN (pg_catalog.pg_index.indpred IS NOT NULL) THEN pg_catalog.pg_get_expr(pg_catalog.pg_index.indpred, pg_catalog.pg_index.indrelid) END AS filter_definition, pg_catalog.pg_index.indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct, idx_cols.elements, idx_cols.elements_is_expr, idx_cols.elements_opclass 
FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_catalog.pg_index.indexrelid = pg_catalog.pg_class.oid LEFT OUTER JOIN (SELECT idx_attr.indexrelid AS indexrelid, min(idx_attr.indrelid) AS min_1, array_agg(idx_attr.element ORDER BY idx_attr.ord) AS elements, array_agg(idx_attr.is_expr ORDER BY idx_attr.ord) AS elements_is_expr, array_agg(idx_attr.att_opclass ORDER BY idx_attr.ord) AS elements_opclass 
FROM (SELECT idx.indexrelid AS indexrelid, idx.indrelid AS indrelid, idx.ord AS ord, CASE WHEN (idx.attnum = 0) THEN pg_catalog.pg_get_indexdef(idx.indexrelid, idx.ord + 1, true) ELSE CAST(pg_catalog.pg_attribute.attname AS TEXT) END AS element, idx.attnum = 0 AS is_expr, CAST(idx.att_opclass AS BIGINT) AS att_opclass 
FROM (SELECT pg_catalog.pg_index.indexrelid AS indexrelid, pg_catalog.pg_index.indrelid AS indrelid, unnest(pg_catalog.pg_index.indkey) AS attnum, unnest(pg_catalog.pg_index.indclass) AS att_opclass, generate_subscripts(pg_catalog.pg_index.indkey, 1) AS ord 
FROM pg_catalog.pg_index 
WHERE NOT pg_catalog.pg_index.indisprimary AND pg_catalog.pg_index.indrelid IN (28909)) AS idx LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_attribute.attnum = idx.attnum AND pg_catalog.pg_attribute.attrelid = idx.indrelid 
WHERE idx.indrelid IN (28909)) AS idx_attr GROUP BY idx_attr.indexrelid) AS idx_cols ON pg_catalog.pg_index.indexrelid = idx_cols.indexrelid LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_index.indrelid = pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_index.indexrelid = pg_catalog.pg_constraint.conindid AND pg_catalog.pg_constraint.contype = ANY (ARRAY['p', 'u', 'x']) 
WHERE pg_catalog.pg_index.indrelid IN (28909) AND NOT pg_catalog.pg_index.indisprimary ORDER BY pg_catalog.pg_index.indrelid, pg_catalog.pg_class.relname;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_am.oid, pg_catalog.pg_am.amname 
FROM pg_catalog.pg_am;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_description.description 
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_class.oid = pg_catalog.pg_description.objoid AND pg_catalog.pg_description.objsubid = 0 AND pg_catalog.pg_description.classoid = CAST('pg_catalog.pg_class' AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_namespace.nspname = 'shop' AND pg_catalog.pg_class.relname IN ('account');

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_get_viewdef(pg_catalog.pg_class.oid) AS pg_get_viewdef_1 
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relname = 'active_account' AND pg_catalog.pg_class.relkind = ANY (ARRAY['v', 'm']) AND pg_catalog.pg_namespace.nspname = 'shop';

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_class.relname 
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['S']) AND pg_catalog.pg_namespace.nspname = 'shop';

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_type.typname AS name, pg_catalog.pg_type_is_visible(pg_catalog.pg_type.oid) AS visible, pg_catalog.pg_namespace.nspname AS schema, lbl_agg.labels AS labels 
FROM pg_catalog.pg_type JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_type.typnamespace LEFT OUTER JOIN (SELECT pg_catalog.pg_enum.enumtypid AS enumtypid, array_agg(CAST(pg_catalog.pg_enum.enumlabel AS TEXT) ORDER BY pg_catalog.pg_enum.enumsortorder) AS labels 
FROM pg_catalog.pg_enum GROUP BY pg_catalog.pg_enum.enumtypid) AS lbl_agg ON pg_catalog.pg_type.oid = lbl_agg.enumtypid 
WHERE pg_catalog.pg_type.typtype = 'e' AND pg_catalog.pg_namespace.nspname = 'shop' ORDER BY pg_catalog.pg_namespace.nspname, pg_catalog.pg_type.typname;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_type.typname AS name, pg_catalog.format_type(pg_catalog.pg_type.typbasetype, pg_catalog.pg_type.typtypmod) AS attype, NOT pg_catalog.pg_type.typnotnull AS nullable, pg_catalog.pg_type.typdefault AS "default", pg_catalog.pg_type_is_visible(pg_catalog.pg_type.oid) AS visible, pg_catalog.pg_namespace.nspname AS schema, domain_constraints.condefs, domain_constraints.connames, pg_catalog.pg_collation.collname, CASE WHEN (pg_catalog.pg_collation.oid IS NULL) THEN NULL WHEN pg_catalog.pg_collation_is_visible(pg_catalog.pg_collation.oid) THEN NULL ELSE collation_namespace.nspname END AS collation_schema 
FROM pg_catalog.pg_type JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_type.typnamespace LEFT OUTER JOIN pg_catalog.pg_collation ON pg_catalog.pg_type.typcollation = pg_catalog.pg_collation.oid LEFT OUTER JOIN pg_catalog.pg_namespace AS collation_namespace ON collation_namespace.oid = pg_catalog.pg_collation.collnamespace LEFT OUTER JOIN (SELECT pg_catalog.pg_constraint.contypid AS contypid, array_agg(pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, true)) AS condefs, array_agg(CAST(pg_catalog.pg_constraint.conname AS TEXT)) AS connames 
FROM pg_catalog.pg_constraint 
WHERE pg_catalog.pg_constraint.contypid != 0 GROUP BY pg_catalog.pg_constraint.contypid) AS domain_constraints ON pg_catalog.pg_type.oid = domain_constraints.contypid 
WHERE pg_catalog.pg_type.typtype = 'd' AND pg_catalog.pg_namespace.nspname = 'shop' ORDER BY pg_catalog.pg_namespace.nspname, pg_catalog.pg_type.typname;

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_class.relname 
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relname IN ('account') AND pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_namespace.nspname = 'shop';

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname, pg_catalog.pg_class.reloptions, NULL AS relhasoids, CASE WHEN (pg_catalog.pg_am.amname IS NOT NULL AND pg_catalog.pg_am.amname != current_setting('default_table_access_method')) THEN pg_catalog.pg_am.amname ELSE NULL END AS access_method_name, pg_catalog.pg_tablespace.spcname AS tablespace_name, inherits.parent_table_names 
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_am ON pg_catalog.pg_class.relam = pg_catalog.pg_am.oid LEFT OUTER JOIN (SELECT pg_catalog.pg_inherits.inhrelid AS inhrelid, array_agg(pg_catalog.pg_class.relname ORDER BY pg_catalog.pg_inherits.inhseqno) AS parent_table_names 
FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class ON pg_catalog.pg_inherits.inhparent = pg_catalog.pg_class.oid GROUP BY pg_catalog.pg_inherits.inhrelid) AS inherits ON pg_catalog.pg_class.oid = inherits.inhrelid LEFT OUTER JOIN pg_catalog.pg_tablespace ON pg_catalog.pg_tablespace.oid = pg_catalog.pg_class.reltablespace JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_namespace.nspname = 'shop' AND pg_catalog.pg_class.relname IN ('stock', 'order_line', 'history', 'orders', 'new_order', 'item', 'warehouse', 'district', 'customer', 'account', 'Order Item', 'part', 'part_eu', 'part_us', 'active_account', 'balance_by_status');

-- simple: psycopg2/reflection of schema shop: columns, keys, indexes, checks, comments, views, enums, sequences, MetaData.reflect
SELECT pg_catalog.pg_namespace.nspname 
FROM pg_catalog.pg_namespace 
WHERE (pg_catalog.pg_namespace.nspname NOT LIKE 'pg/_' || '%' ESCAPE '/') ORDER BY pg_catalog.pg_namespace.nspname;

-- simple: psycopg2/errors: IntegrityError wraps 23505
INSERT INTO sa_cust (name, mail, bal, lv, js, tags, b, d, tok, act, iv, r) VALUES ('n0', 'n0@x', 1.50, 'HIGH', '{"a": [1]}'::JSONB, ARRAY['x','y']::TEXT[], '\x0001'::bytea, '2024-02-29'::date, '00000000-0000-0000-0000-000000000005'::uuid::UUID, true, '0 days 18000.000000 seconds'::interval, '[1,5)'::INT4RANGE) RETURNING sa_cust.id, sa_cust.at, sa_cust.up, sa_cust.big;

-- simple: psycopg2/errors: IntegrityError wraps 23505
SAVEPOINT sa_savepoint_1;

-- simple: psycopg2/errors: IntegrityError wraps 23505
INSERT INTO sa_ord (cust_id, qty, price) VALUES (32, 3, 1.5) RETURNING sa_ord.id;

-- simple: psycopg2/errors: IntegrityError wraps 23505
RELEASE SAVEPOINT sa_savepoint_1;

-- simple: psycopg2/errors: IntegrityError wraps 23505
ROLLBACK TO SAVEPOINT sa_savepoint_2;

-- simple: psycopg2/errors: IntegrityError wraps 23505
BEGIN ISOLATION LEVEL REPEATABLE READ;

-- simple: psycopg2/errors: IntegrityError wraps 23505
SET default_transaction_isolation TO DEFAULT;

-- extended: psycopg/connect: dialect initialisation
SELECT
    typname AS name, oid, typarray AS array_oid,
    oid::regtype::text AS regtype, typdelim AS delimiter
FROM pg_type t
WHERE t.oid = to_regtype($1)
ORDER BY t.oid;

-- extended: psycopg/ORM: insert, select, relationship, update, delete, all types
INSERT INTO sa_cust (name, mail, bal, lv, js, tags, b, d, tok, act, iv, r) SELECT p0::VARCHAR, p1::VARCHAR, p2::NUMERIC(12, 2), p3::sa_lv, p4::JSONB, p5::TEXT[], p6::BYTEA, p7::DATE, p8::UUID, p9::BOOLEAN, p10::INTERVAL, p11::INT4RANGE FROM (VALUES ($1::VARCHAR, $2::VARCHAR, $3, $4, $5::JSONB, $6::TEXT[], $7, $8::DATE, $9::UUID, $10, $11, $12::INT4RANGE, 0), ($13::VARCHAR, $14::VARCHAR, $15, $16, $17::JSONB, $18::TEXT[], $19, $20::DATE, $21::UUID, $22, $23, $24::INT4RANGE, 1), ($25::VARCHAR, $26::VARCHAR, $27, $28, $29::JSONB, $30::TEXT[], $31, $32::DATE, $33::UUID, $34, $35, $36::INT4RANGE, 2), ($37::VARCHAR, $38::VARCHAR, $39, $40, $41::JSONB, $42::TEXT[], $43, $44::DATE, $45::UUID, $46, $47, $48::INT4RANGE, 3), ($49::VARCHAR, $50::VARCHAR, $51, $52, $53::JSONB, $54::TEXT[], $55, $56::DATE, $57::UUID, $58, $59, $60::INT4RANGE, 4), ($61::VARCHAR, $62::VARCHAR, $63, $64, $65::JSONB, $66::TEXT[], $67, $68::DATE, $69::UUID, $70, $71, $72::INT4RANGE, 5), ($73::VARCHAR, $74::VARCHAR, $75, $76, $77::JSONB, $78::TEXT[], $79, $80::DATE, $81::UUID, $82, $83, $84::INT4RANGE, 6), ($85::VARCHAR, $86::VARCHAR, $87, $88, $89::JSONB, $90::TEXT[], $91, $92::DATE, $93::UUID, $94, $95, $96::INT4RANGE, 7), ($97::VARCHAR, $98::VARCHAR, $99, $100, $101::JSONB, $102::TEXT[], $103, $104::DATE, $105::UUID, $106, $107, $108::INT4RANGE, 8), ($109::VARCHAR, $110::VARCHAR, $111, $112, $113::JSONB, $114::TEXT[], $115, $116::DATE, $117::UUID, $118, $119, $120::INT4RANGE, 9), ($121::VARCHAR, $122::VARCHAR, $123, $124, $125::JSONB, $126::TEXT[], $127, $128::DATE, $129::UUID, $130, $131, $132::INT4RANGE, 10), ($133::VARCHAR, $134::VARCHAR, $135, $136, $137::JSONB, $138::TEXT[], $139, $140::DATE, $141::UUID, $142, $143, $144::INT4RANGE, 11), ($145::VARCHAR, $146::VARCHAR, $147, $148, $149::JSONB, $150::TEXT[], $151, $152::DATE, $153::UUID, $154, $155, $156::INT4RANGE, 12), ($157::VARCHAR, $158::VARCHAR, $159, $160, $161::JSONB, $162::TEXT[], $163, $164::DATE, $165::UUID, $166, $167, $168::INT4RANGE, 13), ($169::VARCHAR, $170::VARCHAR, $171, $172, $173::JSONB, $174::TEXT[], $175, $176::DATE, $177::UUID, $178, $179, $180::INT4RANGE, 14), ($181::VARCHAR, $182::VARCHAR, $183, $184, $185::JSONB, $186::TEXT[], $187, $188::DATE, $189::UUID, $190, $191, $192::INT4RANGE, 15), ($193::VARCHAR, $194::VARCHAR, $195, $196, $197::JSONB, $198::TEXT[], $199, $200::DATE, $201::UUID, $202, $203, $204::INT4RANGE, 16), ($205::VARCHAR, $206::VARCHAR, $207, $208, $209::JSONB, $210::TEXT[], $211, $212::DATE, $213::UUID, $214, $215, $216::INT4RANGE, 17), ($217::VARCHAR, $218::VARCHAR, $219, $220, $221::JSONB, $222::TEXT[], $223, $224::DATE, $225::UUID, $226, $227, $228::INT4RANGE, 18), ($229::VARCHAR, $230::VARCHAR, $231, $232, $233::JSONB, $234::TEXT[], $235, $236::DATE, $237::UUID, $238, $239, $240::INT4RANGE, 19), ($241::VARCHAR, $242::VARCHAR, $243, $244, $245::JSONB, $246::TEXT[], $247, $248::DATE, $249::UUID, $250, $251, $252::INT4RANGE, 20), ($253::VARCHAR, $254::VARCHAR, $255, $256, $257::JSONB, $258::TEXT[], $259, $260::DATE, $261::UUID, $262, $263, $264::INT4RANGE, 21), ($265::VARCHAR, $266::VARCHAR, $267, $268, $269::JSONB, $270::TEXT[], $271, $272::DATE, $273::UUID, $274, $275, $276::INT4RANGE, 22), ($277::VARCHAR, $278::VARCHAR, $279, $280, $281::JSONB, $282::TEXT[], $283, $284::DATE, $285::UUID, $286, $287, $288::INT4RANGE, 23), ($289::VARCHAR, $290::VARCHAR, $291, $292, $293::JSONB, $294::TEXT[], $295, $296::DATE, $297::UUID, $298, $299, $300::INT4RANGE, 24), ($301::VARCHAR, $302::VARCHAR, $303, $304, $305::JSONB, $306::TEXT[], $307, $308::DATE, $309::UUID, $310, $311, $312::INT4RANGE, 25), ($313::VARCHAR, $314::VARCHAR, $315, $316, $317::JSONB, $318::TEXT[], $319, $320::DATE, $321::UUID, $322, $323, $324::INT4RANGE, 26), ($325::VARCHAR, $326::VARCHAR, $327, $328, $329::JSONB, $330::TEXT[], $331, $332::DATE, $333::UUID, $334, $335, $336::INT4RANGE, 27), ($337::VARCHAR, $338::VARCHAR, $339, $340, $341::JSONB, $342::TEXT[], $343, $344::DATE, $345::UUID, $346, $347, $348::INT4RANGE, 28), ($349::VARCHAR, $350::VARCHAR, $351, $352, $353::JSONB, $354::TEXT[], $355, $356::DATE, $357::UUID, $358, $359, $360::INT4RANGE, 29)) AS imp_sen(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, sen_counter) ORDER BY sen_counter RETURNING sa_cust.id, sa_cust.at, sa_cust.up, sa_cust.big, sa_cust.id AS id__1;

-- extended: psycopg/ORM: insert, select, relationship, update, delete, all types
SELECT sa_cust.lv, count(*) AS count_1, array_agg(sa_cust.name) AS array_agg_1 
FROM sa_cust JOIN sa_ord ON sa_cust.id = sa_ord.cust_id 
WHERE ((sa_cust.js[$1::TEXT]) ->> $2::INT) = $3::VARCHAR AND sa_cust.tags @> $4::TEXT[] AND sa_cust.name ILIKE $5::VARCHAR AND sa_cust.name IN ($6::VARCHAR, $7::VARCHAR, $8::VARCHAR) AND sa_cust.r @> $9::INTEGER GROUP BY sa_cust.lv 
HAVING count(*) > $10::INTEGER ORDER BY sa_cust.lv 
 LIMIT $11::INTEGER OFFSET $12::INTEGER;

-- extended: psycopg/errors: IntegrityError wraps 23505
INSERT INTO sa_cust (name, mail, bal, lv, js, tags, b, d, tok, act, iv, r) VALUES ($1::VARCHAR, $2::VARCHAR, $3, $4, $5::JSONB, $6::TEXT[], $7, $8::DATE, $9::UUID, $10, $11, $12::INT4RANGE) RETURNING sa_cust.id, sa_cust.at, sa_cust.up, sa_cust.big;

-- simple: psycopg/errors: IntegrityError wraps 23505
;

-- simple: pg8000/errors: IntegrityError wraps 23505
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ;

-- extended: asyncpg/create_all, ORM round trip, reflection by run_sync
SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols, attr.conname, min(attr.description) AS description, min(attr.indnkeyatts) AS indnkeyatts, bool_and(attr.indnullsnotdistinct) AS indnullsnotdistinct 
FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.description AS description, con.ord AS ord, con.indnkeyatts AS indnkeyatts, con.indnullsnotdistinct AS indnullsnotdistinct, pg_catalog.pg_attribute.attname AS attname 
FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid, pg_catalog.pg_constraint.conname AS conname, unnest(pg_catalog.pg_index.indkey) AS attnum, generate_subscripts(pg_catalog.pg_index.indkey, $1::INTEGER) AS ord, pg_catalog.pg_index.indnkeyatts AS indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct AS indnullsnotdistinct, pg_catalog.pg_description.description AS description 
FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_index ON pg_catalog.pg_constraint.conindid = pg_catalog.pg_index.indexrelid LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST($2::REGCLASS AS REGCLASS) 
WHERE pg_catalog.pg_constraint.contype = $3::CHAR AND pg_catalog.pg_constraint.conrelid IN ($4::OID, $5::OID, $6::OID, $7::OID, $8::OID, $9::OID, $10::OID, $11::OID, $12::OID, $13::OID, $14::OID, $15::OID, $16::OID, $17::OID)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND pg_catalog.pg_attribute.attrelid = con.conrelid 
WHERE con.conrelid IN ($4::OID, $5::OID, $6::OID, $7::OID, $8::OID, $9::OID, $10::OID, $11::OID, $12::OID, $13::OID, $14::OID, $15::OID, $16::OID, $17::OID)) AS attr GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname;

-- extended: asyncpg/create_all, ORM round trip, reflection by run_sync
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN (pg_catalog.pg_constraint.oid IS NOT NULL) THEN pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1::BOOLEAN) END AS anon_1, nsp_ref.nspname, pg_catalog.pg_description.description 
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid = pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::CHAR LEFT OUTER JOIN pg_catalog.pg_class AS cls_ref ON cls_ref.oid = pg_catalog.pg_constraint.confrelid LEFT OUTER JOIN pg_catalog.pg_namespace AS nsp_ref ON cls_ref.relnamespace = nsp_ref.oid LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST($3::REGCLASS AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR, $5::VARCHAR, $6::VARCHAR]) AND pg_catalog.pg_namespace.nspname = $7::VARCHAR AND pg_catalog.pg_class.relname IN ($8::VARCHAR, $9::VARCHAR, $10::VARCHAR, $11::VARCHAR, $12::VARCHAR, $13::VARCHAR, $14::VARCHAR, $15::VARCHAR, $16::VARCHAR, $17::VARCHAR, $18::VARCHAR, $19::VARCHAR, $20::VARCHAR, $21::VARCHAR) ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname;

-- extended: asyncpg/create_all, ORM round trip, reflection by run_sync
SELECT
                        current_setting('jit') AS cur,
                        set_config('jit', 'off', false) AS new;

-- extended: asyncpg/create_all, ORM round trip, reflection by run_sync
SELECT
                    set_config('jit', $1, false);

-- extended: asyncpg/create_all, ORM round trip, reflection by run_sync
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_description.description 
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_class.oid = pg_catalog.pg_description.objoid AND pg_catalog.pg_description.objsubid = $1::INTEGER AND pg_catalog.pg_description.classoid = CAST($2::REGCLASS AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$3::VARCHAR, $4::VARCHAR, $5::VARCHAR]) AND pg_catalog.pg_namespace.nspname = $6::VARCHAR AND pg_catalog.pg_class.relname IN ($7::VARCHAR, $8::VARCHAR, $9::VARCHAR, $10::VARCHAR, $11::VARCHAR, $12::VARCHAR, $13::VARCHAR, $14::VARCHAR, $15::VARCHAR, $16::VARCHAR, $17::VARCHAR, $18::VARCHAR, $19::VARCHAR, $20::VARCHAR);

-- extended: asyncpg/create_all, ORM round trip, reflection by run_sync
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN (pg_catalog.pg_constraint.oid IS NOT NULL) THEN pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1::BOOLEAN) END AS anon_1, pg_catalog.pg_description.description 
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid = pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::CHAR LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST($3::REGCLASS AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace 
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR, $5::VARCHAR, $6::VARCHAR]) AND pg_catalog.pg_namespace.nspname = $7::VARCHAR AND pg_catalog.pg_class.relname IN ($8::VARCHAR, $9::VARCHAR, $10::VARCHAR, $11::VARCHAR, $12::VARCHAR, $13::VARCHAR, $14::VARCHAR, $15::VARCHAR, $16::VARCHAR, $17::VARCHAR, $18::VARCHAR, $19::VARCHAR, $20::VARCHAR, $21::VARCHAR) ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname;
