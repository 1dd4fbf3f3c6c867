-- Unicode's normal forms.
CREATE TABLE words (id int PRIMARY KEY, w text);
INSERT INTO words VALUES (1, 'plain'), (2, 'é'), (3, U&'e\0301'), (4, 'ﬁ'), (5, U&'\1E9B\0323'), (6, NULL), (7, '한글'), (8, '');
SELECT id, normalize(w) = w AS c, length(normalize(w)), length(normalize(w, nfd)), length(normalize(w, NFKC)), length(normalize(w, nfkd)) FROM words ORDER BY id;
SELECT id, w IS NORMALIZED AS c, w IS NFD NORMALIZED AS d, w IS NFKC NORMALIZED AS kc, w IS NOT NFKD NORMALIZED AS nkd, w IS NOT NORMALIZED AS n FROM words ORDER BY id;
SELECT count(*) FROM words WHERE w IS NOT NFC NORMALIZED;
SELECT normalize('a'), 'a' IS NORMALIZED, NOT 'a' IS NFC NORMALIZED;
SELECT pg_catalog.normalize('a', 'nfd'), is_normalized('a'), is_normalized('a', 'NfKc');
SELECT is_normalized('a', 'xx');
SELECT pg_catalog.normalize(w, 'xx') FROM words;
SELECT normalize('a', nfx);
SELECT normalize('a', 'nfc');
SELECT normalize();
SELECT 'a' IS nfx NORMALIZED;
CREATE VIEW forms AS SELECT normalize(w) AS a, normalize(w, nfd) AS b, w IS NORMALIZED AS c, w IS NOT NFKC NORMALIZED AS d FROM words;
SELECT pg_get_viewdef('forms'), pg_get_viewdef('forms', true);
SELECT * FROM forms WHERE c ORDER BY a;
