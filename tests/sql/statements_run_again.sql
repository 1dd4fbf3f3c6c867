-- Statements of bodies that run again and again, on rows that change between: joins, sets, WITH, functions in FROM, catalogs.
CREATE TABLE wares (ware int PRIMARY KEY, name text, price numeric);
CREATE TABLE stores (store int PRIMARY KEY, city text);
CREATE TABLE stock (store int, ware int, amount int, PRIMARY KEY (store, ware));
INSERT INTO wares SELECT g, 'ware ' || g, g * 1.5 FROM generate_series(1, 20) g;
INSERT INTO stores SELECT g, 'city ' || g % 3 FROM generate_series(1, 5) g;
INSERT INTO stock SELECT s, w, s * w FROM generate_series(1, 5) s, generate_series(1, 20) w WHERE (s + w) % 3 <> 0;
CREATE FUNCTION again(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$ DECLARE answer text; BEGIN EXECUTE 'CREATE OR REPLACE FUNCTION pg_temp.once(n int) RETURNS SETOF text LANGUAGE plpgsql AS $f$ DECLARE answer text; BEGIN FOR i IN 1 .. 3 LOOP ' || query || ' INTO answer; RETURN NEXT i || '': '' || coalesce(answer, ''nothing''); UPDATE stock SET amount = amount + i WHERE store = i; DELETE FROM stock WHERE store = i + 2 AND ware = i; INSERT INTO wares VALUES (100 + i, ''new '' || i, i) ON CONFLICT (ware) DO UPDATE SET price = wares.price + 1; END LOOP; END $f$'; RETURN QUERY SELECT * FROM pg_temp.once(7); DELETE FROM wares WHERE ware > 100; END $$;
-- a row by its key beside another; each with all
SELECT again('SELECT name || city || amount FROM wares w, stores s, stock t WHERE w.ware = i AND s.store = i AND t.store = s.store AND t.ware = w.ware');
SELECT again('SELECT count(*) || name FROM stores s, wares w WHERE w.ware = i + 1 AND s.store > 2 GROUP BY name');
SELECT again('SELECT count(*) || '' '' || sum(amount) FROM wares w, stock s WHERE w.ware = 1 AND s.store >= i');
SELECT again('SELECT count(*)::text FROM stores a, stores b WHERE a.store < b.store AND a.store >= i');
-- by hash
SELECT again('SELECT sum(t.amount * w.price)::text FROM stock t JOIN wares w ON w.price = t.amount + 0.5 * i');
SELECT again('SELECT count(*) || '' '' || count(w.ware) FROM stock t LEFT JOIN wares w ON w.price = t.amount WHERE t.store >= i');
SELECT again('SELECT count(*) || '' '' || count(t.ware) FROM stock t RIGHT JOIN wares w ON w.price = t.amount');
SELECT again('SELECT count(*) || '' '' || count(t.ware) || '' '' || count(w.ware) FROM stock t FULL JOIN wares w ON w.price = t.amount');
SELECT again('SELECT count(*)::text FROM wares w WHERE w.price NOT IN (SELECT amount FROM stock WHERE store = i)');
SELECT again('SELECT count(*)::text FROM wares w WHERE EXISTS (SELECT FROM stock t WHERE t.amount = w.price AND t.store >= i)');
-- sets
SELECT again('SELECT string_agg(x::text, '','' ORDER BY x) FROM (SELECT amount % 7 FROM stock UNION SELECT ware % 11 FROM wares WHERE ware > 10 * i) AS u (x)');
SELECT again('SELECT string_agg(x::text, '','' ORDER BY x) FROM (SELECT amount FROM stock EXCEPT SELECT ware FROM wares WHERE ware < 5 * i) AS u (x)');
SELECT again('SELECT string_agg(x::text, '','' ORDER BY x) FROM (SELECT amount FROM stock INTERSECT ALL SELECT ware FROM wares) AS u (x)');
SELECT again('SELECT x::text FROM (SELECT amount FROM stock WHERE store = i UNION ALL SELECT ware FROM wares) AS u (x) ORDER BY x DESC');
-- WITH: read twice, by nobody, recursive, modifying
SELECT again('WITH s AS MATERIALIZED (SELECT amount FROM stock WHERE store >= i) SELECT count(*) || '' '' || sum(a.amount) FROM s a, s b WHERE a.amount = b.amount + 1');
SELECT again('WITH RECURSIVE up (x) AS (SELECT i UNION SELECT x * 2 % 31 FROM up WHERE x < 100) SELECT string_agg(x::text, '','') FROM up');
SELECT again('WITH RECURSIVE up (x) AS (SELECT i UNION ALL SELECT x + 1 FROM up WHERE x < 5) SELECT string_agg(x || name, '','' ORDER BY x) FROM up JOIN wares ON ware = x');
SELECT again('WITH gone AS (DELETE FROM stock WHERE store = 5 AND ware = 3 * i + 2 RETURNING amount), more AS (UPDATE wares SET price = price + 1 WHERE ware = i) SELECT sum(amount)::text FROM gone');
-- functions in FROM and in the select list
SELECT again('SELECT string_agg(x::text, '','') FROM generate_series(1, i * 2) AS x');
SELECT again('SELECT string_agg(x || name, '','') FROM unnest(ARRAY[i, i + 1, n]) AS x JOIN wares ON ware = x');
SELECT again('SELECT string_agg(x::text || o, '','') FROM unnest(ARRAY[n, i]) WITH ORDINALITY AS u (x, o)');
SELECT again('SELECT string_agg(x || coalesce(y, ''-''), '','') FROM ROWS FROM (generate_series(1, i), regexp_split_to_table(''a b'', '' '')) AS r (x, y)');
SELECT again('SELECT string_agg(x::text, '','') FROM (SELECT generate_series(i, n) AS x) AS u');
SELECT again('SELECT string_agg(w.name || g, '','') FROM wares w, LATERAL generate_series(w.ware, w.ware + 1) AS g WHERE w.ware <= i');
SELECT again('SELECT string_agg(key || value, '','') FROM jsonb_each_text(jsonb_build_object(''a'', i, ''b'', n))');
-- catalogs
SELECT again('SELECT string_agg(attname, '','' ORDER BY attnum) FROM pg_attribute WHERE attrelid = ''stock''::regclass AND attnum >= i');
SELECT again('SELECT count(*)::text FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE relname = (ARRAY[''wares'', ''stores'', ''none''])[i]');
-- cut short: the first row of many, and where a row fails
SELECT again('SELECT t.amount::text FROM stock t JOIN wares w ON w.price = t.amount ORDER BY t.amount DESC LIMIT 1');
CREATE FUNCTION fails_once() RETURNS text LANGUAGE plpgsql AS $$ DECLARE found int; made text := ''; BEGIN FOR i IN 1 .. 4 LOOP BEGIN SELECT 12 / (a.store - i) INTO found FROM stores a JOIN stores b ON a.store = b.store + 1 UNION SELECT 0 ORDER BY 1 DESC; made := made || ' ' || found; EXCEPTION WHEN division_by_zero THEN made := made || ' -'; END; END LOOP; RETURN made; END $$;
SELECT fails_once();
-- a query that calls a function that runs the same query
CREATE FUNCTION nested(n int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE found int; BEGIN IF n = 0 THEN RETURN 0; END IF; SELECT sum(a.store + CASE WHEN a.store = 1 THEN nested(n - 1) ELSE 0 END) INTO found FROM stores a JOIN stores b ON a.store = b.store; RETURN found; END $$;
SELECT nested(n) FROM generate_series(0, 4) AS n;
DROP FUNCTION again, fails_once, nested;
DROP TABLE wares, stores, stock;
