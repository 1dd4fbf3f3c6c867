-- Regular expressions in texts of several lines: manual, 9.7.3.5. Without letters a newline is a character as any other.
SELECT E'a\nb' ~ 'a.b', E'a\nb' ~ 'a[^x]b', E'a\nb' ~ 'a\Wb', E'a\nb' ~ 'a[^\S]b', E'a\nb' ~ 'a$', E'a\nb' ~ '^b';
-- Partial, inverse partial and full newline-sensitive matching: dots and complemented brackets, anchors, both.
SELECT E'a\nb' ~ '(?p)a.b', E'a\nb' ~ '(?p)a[^x]b', E'a\nb' ~ '(?p)a$', E'a\nb' ~ '(?p)^b';
SELECT E'a\nb' ~ '(?w)a.b', E'a\nb' ~ '(?w)a[^x]b', E'a\nb' ~ '(?w)a$', E'a\nb' ~ '(?w)^b';
SELECT E'a\nb' ~ '(?n)a.b', E'a\nb' ~ '(?n)a[^x]b', E'a\nb' ~ '(?n)a$', E'a\nb' ~ '(?n)^b';
-- The last letter counts.
SELECT E'a\nb' ~ '(?wp)a.b', E'a\nb' ~ '(?wp)a$', E'a\nb' ~ '(?pw)a.b', E'a\nb' ~ '(?pw)a$', E'a\nb' ~ '(?np)a$', E'a\nb' ~ '(?nw)a.b', E'a\nb' ~ '(?ns)a$', E'a\nb' ~ '(?ms)a[^x]b';
SELECT regexp_match(E'a\nb', 'a[^x]b', 'pw'), regexp_match(E'a\nb', 'a[^x]b', 'wp'), regexp_match(E'a\nb', '(?w)a[^x]b', 'p');
-- Brackets of every kind.
SELECT E'a\nb' ~ '(?n)a[^-x]b', E'a\nb' ~ '(?n)a[^]x]b', E'a\nb' ~ '(?n)a[^^]b', E'a\nb' ~ '(?n)a[^x-]b', E'a\nb' ~ '(?n)a[^[:alpha:]]b', E'a\nb' ~ '(?n)a[^\w]b', E'a\nb' ~ '(?n)a[^\n]b', E'a\nb' ~ '(?n)a[^\S]b';
SELECT E'a\nb' ~ '(?n)a[\n]b', E'a\nb' ~ '(?n)a\sb', E'a\nb' ~ '(?n)a[[:space:]]b', E'a\nb' ~ '(?n)a\Wb', E'a\nb' ~ '(?n)a\Db', E'a\nb' ~ '(?n)a[\W]b', E'a\nb' ~ '(?n)a[x\D]b';
-- Functions take the same letters.
SELECT regexp_replace(E'ab\nac', 'a[^b]*', 'x', 'gn'), regexp_replace(E'ab\nac', 'a[^b]*', 'x', 'gw'), regexp_replace(E'a\nb', '[^a]', 'x', 'p');
SELECT regexp_split_to_array(E'a\nb,c', '[^a-c]', 'p'), regexp_split_to_array(E'a\nb,c', '[^a-c]', 'w'), ARRAY(SELECT regexp_matches(E'ab\ncd', '[^b]+', 'gn'));
-- Classes know more than ASCII; a brace without a number is one.
SELECT 'José' ~ '^[[:alpha:]]+$', 'Ñ' ~ '^[[:upper:]]$', 'ñ' ~ '^[[:lower:]]$', 'ñ' ~ '[[:upper:]]', 'é1' ~ '^[[:alnum:]]+$', '1' ~ '[[:alpha:]]';
SELECT regexp_replace('Crème brûlée, 2!', '[^[:alnum:] ]', '', 'g');
SELECT '٣' ~ '\d', '3' ~ '^\d$', 'x' ~ '^\D$', '٣' ~ '[[:digit:]]', E'\u00a0' ~ '\s', E' \t\n' ~ '^\s+$', 'x' ~ '^\S$', 'a1 b' ~ '^[\d\sa-b]+$';
SELECT regexp_replace('Hello {name}!', '{name}', 'Bob'), '{a}' ~ '{', '{"a":1}' ~ '^{.*}$', 'aaa' ~ '^a{2,3}$', 'a{' ~ 'a{$', 'x{y}' ~ 'x{y}';
SELECT '[' ~ '[[]', 'a-b' ~ '^[[:alpha:]-]+$', '_' ~ '^[[:alnum:]_]$', ' ' ~ '[[:blank:]]', '!' ~ '[[:punct:]]';
SELECT regexp_replace('a b#c d', '[ #]', '_', 'gx'), 'a b' ~ '(?x)a [ ] b # behind', ' ' ~ '[ -~]';
