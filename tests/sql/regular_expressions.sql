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
-- Groups that can match nothing have their numbers; what refers to one never matches.
SELECT regexp_match('b', '(b)(a){0}'), regexp_match('b', '(a){0}(b)'), regexp_match('bb', '(a){0}(b)\2'), regexp_replace('abc', '(x){0}(b)', '[\1|\2]'), regexp_match('b', '((x)(y)){0}(b)(z)?');
SELECT 'xxx' ~ '(.){0}(\1)', 'xxx' ~ '((.)){0}(\2)', 'xyz' ~ '((.)){0}(\2){0}', 'ab' ~ '(a){0}\1|ab';
-- Both bounds alike: it prefers the longest, or the shortest, whatever is within.
SELECT regexp_match('llmmmfff', '^(l*){1,1}(.*)(f*)$'), regexp_match('llmmmfff', '^(l*){1,1}?(.*)(f*)$'), regexp_match('llmmmfff', '^(l*){1,1}?(.*){1,1}?(f*)$'), regexp_match('llmmmfff', '^(l*?){1,1}(.*)(f*)$'), regexp_match('llmmmfff', '^(l*?){1,1}?(.*){1,1}?(f*)$');
SELECT regexp_match('aaaa', '(a*){2,2}?(a*)'), regexp_match('aaaa', '(a*?){2,2}(a*)'), regexp_match('aaaa', '(a*?){2}(a*)'), regexp_match('abab', '(?x) (a b) {1,1}? (.*)'), regexp_match('abab', '((a)(b)){2,2}'), regexp_match('abab', '(?:(a)(b)){2,2}?(.*)');
SELECT regexp_replace('abab', '(a){1,1}?(b)', '\2\1', 'g'), regexp_match('aab', '(a){1,1}\1(b)'), regexp_match('aab', '(?=a)(a{1,1}?)(a*)'), regexp_match('foo.bar', '[o]{2,2}?(.)'), regexp_match('a', '((((a){1,1}){1,1}?){1,1})'), regexp_match('aa', 'a{0,0}(a)');
SELECT regexp_match(repeat('ab', 10000), '(a){1,1}?(b)(.*){1,1}?'), length((regexp_match(repeat('ab', 10000), '(a){1,1}(b)(.*){1,1}'))[3]);
SELECT substring('abcdefg' SIMILAR 'a*#"%#"g*' ESCAPE '#'), substring('oobxoob' SIMILAR '%#"o_b#"%' ESCAPE '#'), substring('aaa' SIMILAR 'a+#"a*#"' ESCAPE '#');
SELECT 'abc' SIMILAR TO '[[:alpha:]_]%', 'a]' SIMILAR TO 'a[]]', 'a%c' SIMILAR TO '[^]%]%', 'x' SIMILAR TO '[^^]', 'a.c' SIMILAR TO 'a.c', 'abc' SIMILAR TO 'a.c', '[' SIMILAR TO '[[]', 'a%' SIMILAR TO 'a[%]', 'ax' SIMILAR TO 'a[[:digit:]%]';
SELECT regexp_like('abc', 'A.c', 'i');
SELECT regexp_like('abc', 'a.c', 'g');
-- Collating elements have names.
SELECT 'a-b' ~ '[[.hyphen.]]', 'a' ~ '[[.hyphen.]]', 'a b' ~ '[[.space.]]', 'a]b' ~ '[[.right-square-bracket.]]', 'b' ~ '^[a-[.c.]]$', E'\t' ~ '[[.tab.]]', '-' ~ '[[=hyphen=]]', '7' ~ '[[.six.]-[.eight.]]';
SELECT 'x' ~ '[[.nosuch.]]';
SELECT regexp_replace('a b#c&d', '[[.space.][.number-sign.][.ampersand.]]', '_', 'g'), 'a^' ~ '[^[.circumflex.]a]';
