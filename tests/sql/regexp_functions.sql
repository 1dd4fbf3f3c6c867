-- Which match counts: from a start, the nth, a group of it.
SELECT regexp_count('abcabcabc', 'abc'), regexp_count('abcabcabc', 'Abc', 1), regexp_count('abcabcabc', 'Abc', 2, 'i'), regexp_count('abc', '', 2), regexp_count('abc', '', 4), regexp_count('abc', '', 5), regexp_count('ähäh', 'h', 3);
SELECT regexp_count('a', 'a', 0);
SELECT regexp_count('a', 'a', 1, 'g');
SELECT regexp_count('a', 'a', 1, 'gz');
SELECT regexp_count(NULL, 'a'), regexp_count('a', 'a', NULL), regexp_count('a', 'a', 1, NULL);
SELECT regexp_instr('abcdefghi', 'd.f'), regexp_instr('abcdefghi', 'd.q'), regexp_instr('abcabcabc', 'a.c', 2), regexp_instr('abcabcabc', 'a.c', 1, 3), regexp_instr('abcabcabc', 'a.c', 1, 4), regexp_instr('abcabcabc', 'a.c', 10), regexp_instr('abcabcabc', 'a.c', 11);
SELECT regexp_instr('1234567890', '(123)(4(56)(78))', 1, 1, 0, 'i', 0), regexp_instr('1234567890', '(123)(4(56)(78))', 1, 1, 0, 'i', 3), regexp_instr('1234567890', '(123)(4(56)(78))', 1, 1, 1, 'i', 4), regexp_instr('1234567890', '(123)(4(56)(78))', 1, 1, 0, 'i', 5), regexp_instr('foo', 'foo(bar)?', 1, 1, 0, '', 1), regexp_instr('xyz', 'y', 1, 1, 1, '', 1), regexp_instr('xyz', 'y', 1, 1, 1);
SELECT regexp_instr('häßlich', 'ß', 2), regexp_instr('häßlich', 'l', 2, 1, 1), regexp_instr('abc', '$'), regexp_instr('', '');
SELECT regexp_instr('a', 'a', 0);
SELECT regexp_instr('a', 'a', 1, 0);
SELECT regexp_instr('a', 'a', 1, 1, 2);
SELECT regexp_instr('a', 'a', 1, 1, -1);
SELECT regexp_instr('a', 'a', 1, 1, 0, 'g');
SELECT regexp_instr('a', 'a', 1, 1, 0, '', -1);
SELECT regexp_instr('a', 'a', 0, 0, 2, 'g', -1);
SELECT regexp_substr('abcdefghi', 'd.f'), regexp_substr('abcdefghi', 'd.q'), regexp_substr('abcabcabc', 'a.c', 1, 3), regexp_substr('abcabcabc', 'a.c', 1, 4), regexp_substr('abcabcabc', 'A.C', 2, 2, 'i'), regexp_substr('1234567890', '(123)(4(56)(78))', 1, 1, 'i', 4), regexp_substr('1234567890', '(123)(4(56)(78))', 1, 1, 'i', 5), regexp_substr('foo', 'foo(bar)?', 1, 1, '', 1), regexp_substr('xyz', 'y', 1, 1, '', 1), regexp_substr('xyz', '.', 4);
SELECT regexp_substr('a', 'a', 0);
SELECT regexp_substr('a', 'a', 1, 0);
SELECT regexp_substr('a', 'a', 1, 1, 'g');
SELECT regexp_substr('a', 'a', 1, 1, '', -1);
SELECT regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 2), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 0, 'i'), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 1, 'i'), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 7, 0, 'i'), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 9, 'i'), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 99, 0);
SELECT regexp_replace('abc', '', '-', 1, 0), regexp_replace('abc', '', '-', 2, 2), regexp_replace('abc', '(.)', '[\1]', 2, 1, 'g'), regexp_replace('abc', 'b', 'X', 1, 0, 'g');
SELECT regexp_replace('abc', 'b', 'X', 0);
SELECT regexp_replace('abc', 'b', 'X', 1, -1);
SELECT regexp_replace('abc', 'b', 'X', 1, 1, 'z');
SELECT regexp_replace('abc', 'b', 'X', '1');

-- What stands before and behind.
SELECT 'ab' ~ 'a(?=b)', 'ac' ~ 'a(?=b)', 'ab' ~ 'a(?!b)', 'ac' ~ 'a(?!b)', 'ab' ~ '(?<=a)b', 'cb' ~ '(?<=a)b', 'ab' ~ '(?<!a)b', 'cb' ~ '(?<!a)b', 'b' ~ '(?<!a)b';
SELECT regexp_match('foobarbaz', 'ba(?=z)(.)'), regexp_match('foobarbaz', '(?<=bar)(.*)'), regexp_match('price 100 EUR, 200 USD', '\d+(?= USD)'), regexp_match('a1b22c333', '(?<![0-9])[0-9]{2}(?![0-9])');
SELECT 'Passw0rd' ~ '^(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$', 'password' ~ '^(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$';
SELECT regexp_replace('1234567', '(?<=\d)(?=(\d{3})+$)', ',', 'g'), regexp_split_to_array('oneTwoThree', '(?<=[a-z])(?=[A-Z])'), regexp_count('aaaa', '(?=aa)'), regexp_substr('foo.bar', '(?<=\.).*');
SELECT m FROM regexp_matches('foo1 bar22 baz', '\m[a-z]+(?=\d)', 'g') AS m;
SELECT m FROM regexp_matches('a.b.c', '(?<=^|\.)([a-z])(?=\.|$)', 'g') AS m;
SELECT regexp_match('abcd', '(?=(b))b(c)'), regexp_match('xay', 'x(?=(?:a|b)y)(.)'), regexp_match('aXbX', '.*?(?=X)'), regexp_match('aXbX', '.*(?=X)'), regexp_match('abab', '(?:(?=a)ab)+');
SELECT 'a' ~ '(?=a)*';
SELECT 'a' ~ '(?=a';
SELECT 'a' ~ '(?=)a', 'ab' ~ 'a(?#comment)b', 'aba' ~ '(?<=b)a$', E'a\nb' ~ '(?n)(?<=^)b';
SELECT 'a' ~ '(?<a)';
SELECT 'a' ~ 'x(?i)a';

-- What has been matched already.
SELECT 'aa' ~ '(a)\1', 'ab' ~ '(.)\1', 'abab' ~ '^(ab)\1$', 'abcabc' ~ '^(a(b)c)\1$', 'aBAb' ~* '^(ab)\1$', 'aBAb' ~ '^(ab)\1$';
SELECT regexp_match('the the cat', '\m(\w+)\s+\1\M'), regexp_match('abcddc', '(.)\1'), regexp_match('xaayaa', '(a*)y\1'), regexp_match('aaaaaa', '^(a+?)\1+$'), regexp_match('aaaaaa', '^(a+)\1$'), regexp_match('aaaaaaa', '^(a+)\1$');
SELECT regexp_replace('this this is is a test', '(\w+) \1', '\1', 'g'), regexp_match('<b>bold</b>', '<(\w+)>.*?</\1>'), regexp_match('"a''b"', '(["'']).*?\1'), substring('aabb' from '(.)\1');
SELECT regexp_match('abab', '^(?:(a)|b)*\1'), regexp_match('aba', '(a)(b)\1'), regexp_match('aabbcc', '^(?:(.)\1)+$'), regexp_match('aabbcd', '^(?:(.)\1)+'), regexp_match('xyzxyz', '(x(y)z)\1'), regexp_match('b', '(a)?b\1'), regexp_match('bb', '(a)?b\1?');
SELECT 'aaa' ~ '^(a)\1*$', 'a' ~ '^(a)\1*$', 'aaa' ~ '^(a)\1{2}$', 'aaaa' ~ '^(a)\1{2}$', 'aaa' ~ '^(a)\1{1,3}$', '' ~ '^()\1{3}$', 'ab' ~ '^(a*)b\1$', 'aba' ~ '(?=(a))\w';
SELECT 'a' ~ '\1';
SELECT 'a' ~ '(a\1)';
SELECT 'a' ~ '(a)\2';
SELECT 'a' ~ '(a)(?=\1)';
SELECT 'a8' ~ 'a\70', 'a' ~ '\141', 'a' ~ '(a)\141?', 'A' ~ '\x41', 'A' ~ '\u0041', 'A' ~ '\U00000041', E'\x01' ~ '\cA', E'\b' ~ '\b', E'\x01' ~ '[\cA]';
SELECT 'a' ~ '\u41';
SELECT 'a word' ~ '[[:<:]]word[[:>:]]', 'sword' ~ '[[:<:]]word', 'a b' ~ '(?x)a [ ] b # a comment (';
SELECT 'ab' SIMILAR TO 'a(b|c)', substring('foobar' similar 'foo#"%#"' escape '#');

-- Quantifiers stand behind what has characters, once; brackets and classes as they are written.
SELECT 'a' ~ '*a';
SELECT 'a' ~ 'a**';
SELECT 'a' ~ 'a{1}{2}';
SELECT 'a' ~ 'a+*';
SELECT 'a' ~ '(*a)';
SELECT 'a' ~ 'b|+a';
SELECT 'a' ~ '^*a';
SELECT 'a' ~ 'a$+';
SELECT 'a' ~ '\ma?\M{2}';
SELECT 'a' ~ '\y?';
SELECT 'a' ~ '[[:<:]]+a';
SELECT 'a' ~ 'a{256}';
SELECT 'a' ~ 'a{2,1}';
SELECT 'a' ~ 'a{1,x}';
SELECT 'a' ~ 'a{1';
SELECT 'a' ~ 'a{1a}';
SELECT 'a' ~ '(?x)a * b', 'a' ~ '(?x)a # b
 ?';
SELECT 'a{' ~ 'a{', 'a{b' ~ 'a{b', 'aa' ~ '^a{2}$', 'aa' ~ '^a{2}?$', 'aaa' ~ '^a{2,}$', 'a' ~ '^a{0,255}$', 'aa' ~ '^a+?$', 'a}' ~ 'a}', 'a' ~ '(?#x)a(?#y)+', 'a' ~ '(a|)+', 'a' ~ '()*a';
SELECT 'a' ~ '[a--b]';
SELECT '-' ~ '[+--]', ',' ~ '^[+--]$', 'a' ~ '[[.a.]]', '-' ~ '[[.-.]]', 'b' ~ '[[=a=]b]', 'b' ~ '^[[.a.]-c]$', '_' ~ '[[:word:]]', ' ' ~ '[[:blank:]]';
SELECT 'a' ~ '[[:foo:]]';
SELECT 'a' ~ '[[:^alpha:]]';
SELECT 'a' ~ '[c-a]';
