-- The extension unaccent: texts without accents.
CREATE EXTENSION unaccent;
SELECT unaccent('Hôtel'), unaccent('Žluťoučký kůň'), unaccent('ÆØÅ æøå ß ﬁ'), unaccent(''), unaccent('plain'), unaccent('«℃» ½ Ⅷ …'), unaccent(NULL);
SELECT unaccent('ЁЖИК ёжик'), unaccent('˃˖˗˜'), unaccent('À'), unaccent('Łódź, Đà Nẵng'), unaccent('日本');
SELECT dictname, tmplname, dictinitoption FROM pg_ts_dict JOIN pg_ts_template AS t ON t.oid = dicttemplate WHERE dictname = 'unaccent';
CREATE TABLE places (name text);
INSERT INTO places VALUES ('Genève'), ('Zürich'), ('Basel');
SELECT name FROM places WHERE unaccent(lower(name)) = 'geneve';
CREATE INDEX ON places (unaccent(name));
CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT public.unaccent($1) $$;
CREATE INDEX ON places (plain(name));
SELECT name FROM places WHERE plain(name) = 'Zurich';
DROP FUNCTION plain(text) CASCADE;
DROP EXTENSION unaccent;
DROP TABLE places;
