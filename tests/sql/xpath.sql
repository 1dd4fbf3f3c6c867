-- XPath over xml: xpath, xpath_exists, XMLEXISTS. The DETAIL of what is no document is in words of its own (xml.sql).
CREATE TABLE documents (id int PRIMARY KEY, doc xml);
INSERT INTO documents VALUES (1, '<books><book id="1" price="10.5"><title>First &amp; last</title><author>A</author></book><book id="2" price="7"><title xml:lang="de-AT">Zweites</title><author>B</author><author>C</author></book></books>'), (2, '<?xml version="1.0" encoding="UTF-8"?><!-- one --><books/>'), (3, NULL);
SELECT id, xpath('/books/book/title', doc) FROM documents ORDER BY id;
SELECT id, xpath('/books/book/title/text()', doc), xpath('//@id', doc), xpath('//author[2]', doc), xpath('(//author)[2]', doc) FROM documents ORDER BY id;
SELECT id, xpath('//book[@id="2"]/author/text()', doc), xpath('//book[author="A"]/@price', doc), xpath('count(//author)', doc), xpath('sum(//@price)', doc) FROM documents ORDER BY id;
SELECT xpath('//book[last()]/title', doc), xpath('//book[position()<2]', doc), xpath('//title[lang("de")]', doc), xpath('//book[@price > 8]/@id', doc), xpath('//book[not(author="B")]/@id', doc) FROM documents WHERE id = 1;
SELECT xpath('/', doc), xpath('/*', doc), xpath('.', doc), xpath('//comment()', doc), xpath('/node()', doc) FROM documents WHERE id = 2;
SELECT id FROM documents WHERE xpath_exists('//book', doc) ORDER BY id;
SELECT id, xpath_exists('//book', doc), xpath_exists('//absent', doc), xpath_exists('1 = 2', doc) FROM documents ORDER BY id;
SELECT id FROM documents WHERE XMLEXISTS('//author[text() = "C"]' PASSING BY REF doc) ORDER BY id;
SELECT XMLEXISTS('//a' PASSING '<a/>'), XMLEXISTS('//b' PASSING BY VALUE '<a/>' BY REF), xmlexists('/a' PASSING xmlelement(name a));
SELECT (xpath('//title/text()', doc))[1]::text, unnest(xpath('//author', doc)) FROM documents WHERE id = 1;
-- Namespaces.
SELECT xpath('//n:b', '<a xmlns:n="http://u/"><n:b>x</n:b></a>', ARRAY[ARRAY['n', 'http://u/']]);
SELECT xpath('//m:b/@m:z', '<a xmlns:n="http://u/" xmlns="http://d/"><n:b y="1" n:z="2">x<c/></n:b></a>', ARRAY[ARRAY['m', 'http://u/']]);
SELECT xpath('//m:b', '<a xmlns:n="http://u/" xmlns:o="http://o/" xmlns="http://d/"><n:b y="1" o:z="2">x<c/></n:b></a>', ARRAY[ARRAY['m', 'http://u/']]);
SELECT xpath('//d:c', '<a xmlns="http://d/"><c/></a>', ARRAY[ARRAY['d', 'http://d/']]), xpath('//c', '<a xmlns="http://d/"><c/></a>'), xpath('//*', '<a xmlns="http://d/"><c/></a>');
SELECT xpath('//n:*', '<a xmlns:n="http://u/"><n:b/><c n:d="1"/></a>', ARRAY[ARRAY['n', 'http://u/']]), xpath('//@n:*', '<a xmlns:n="http://u/"><n:b/><c n:d="1"/></a>', ARRAY[ARRAY['n', 'http://u/']]);
SELECT xpath('name(/*)', '<n:a xmlns:n="http://u/"/>'), xpath('local-name(/*)', '<n:a xmlns:n="http://u/"/>'), xpath('namespace-uri(/*)', '<n:a xmlns:n="http://u/"/>'), xpath('count(//namespace::*)', '<a xmlns:n="http://u/"/>');
SELECT xpath('/x:a', '<a/>', '{}');
SELECT xpath('/a', '<a/>', ARRAY['x', 'y']);
SELECT xpath('/a', '<a/>', ARRAY[ARRAY['x', 'y', 'z']]);
SELECT xpath('/a', '<a/>', ARRAY[ARRAY['x', NULL]]);
SELECT xpath('/a', '<a/>', ARRAY[ARRAY['', 'u']]);
SELECT xpath('/a', '<a/>', '{}'), xpath('/a', '<a/>', NULL), xpath(NULL, '<a/>'), xpath('/a', NULL);
-- Values.
SELECT xpath('1 + 2 * 3 - 4 div 2', '<a/>'), xpath('7 mod 3', '<a/>'), xpath('-7 mod 3', '<a/>'), xpath('1 div 0', '<a/>'), xpath('-1 div 0', '<a/>'), xpath('0 div 0', '<a/>'), xpath('1.50', '<a/>'), xpath('--1', '<a/>');
SELECT xpath('string(10000000000)', '<a/>'), xpath('string(1 div 3)', '<a/>'), xpath('string(0.00001)', '<a/>'), xpath('string(0.000001)', '<a/>'), xpath('string(1234567.891)', '<a/>'), xpath('string(-1.5)', '<a/>'), xpath('10000000000', '<a/>'), xpath('string(12345678901.25)', '<a/>'), xpath('string(1e3)', '<a/>');
SELECT xpath('true()', '<a/>'), xpath('1 = 1.0', '<a/>'), xpath('"a<b"', '<a/>'), xpath('"a" != ''b''', '<a/>'), xpath('2 > 1 and not(false())', '<a/>'), xpath('1 < 2 < 3', '<a/>'), xpath('3 > 2 > 1', '<a/>'), xpath('"1" = 1', '<a/>'), xpath('true() = "x"', '<a/>');
SELECT xpath('concat("a", 1, true())', '<a/>'), xpath('starts-with("abc", "ab")', '<a/>'), xpath('contains("abc", "bd")', '<a/>'), xpath('substring-before("1999/04", "/")', '<a/>'), xpath('substring-after("1999/04", "/")', '<a/>'), xpath('substring-after("abc", "x")', '<a/>'), xpath('translate("bar", "abc", "AB")', '<a/>'), xpath('translate("--aaa--", "a-", "A")', '<a/>');
SELECT xpath('substring("12345", 2, 3)', '<a/>'), xpath('substring("12345", 2)', '<a/>'), xpath('substring("12345", 1.5, 2.6)', '<a/>'), xpath('substring("12345", 0, 3)', '<a/>'), xpath('substring("12345", 0 div 0, 3)', '<a/>'), xpath('substring("12345", -42, 1 div 0)', '<a/>');
SELECT xpath('string-length("äöü")', '<a/>'), xpath('normalize-space("  a  b ")', '<a/>'), xpath('round(2.5)', '<a/>'), xpath('round(-2.5)', '<a/>'), xpath('floor(-1.5)', '<a/>'), xpath('ceiling(1.2)', '<a/>'), xpath('number(" 12 ")', '<a/>'), xpath('number("x")', '<a/>'), xpath('boolean("")', '<a/>'), xpath('string(true())', '<a/>');
-- Axes.
SELECT xpath('//c/ancestor::*', '<a><b><c/></b><d/></a>'), xpath('//c/ancestor-or-self::*[1]', '<a><b><c/></b><d/></a>'), xpath('//c/..', '<a><b><c/></b><d/></a>'), xpath('//c/following::*', '<a><b><c/></b><d><e/></d></a>'), xpath('//e/preceding::*', '<a><b><c/></b><d><e/></d></a>');
SELECT xpath('//b/following-sibling::*', '<a><x/><b/><c/><d/></a>'), xpath('//c/preceding-sibling::*[1]', '<a><x/><b/><c/><d/></a>'), xpath('//b/self::b', '<a><b/></a>'), xpath('//b/self::c', '<a><b/></a>'), xpath('/descendant::b', '<a><b/><c><b/></c></a>'), xpath('//c/descendant-or-self::node()', '<a><c>1<b/></c></a>');
SELECT xpath('//b | //a/@x | //c', '<a x="1"><c/><b/></a>'), xpath('//@x/..', '<a x="1"/>'), xpath('//@*', '<a x="1" y="2"><b z="3"/></a>'), xpath('//attribute::y', '<a x="1" y="2"/>'), xpath('/a/child::node()', '<a>t<!--c--><?p d?><b/></a>');
SELECT xpath('//text()', '<a>1&lt;2<![CDATA[x<y]]>&gt;</a>'), xpath('/a', '<a>1&lt;2<![CDATA[x<y]]>&gt;&quot;</a>'), xpath('//@x', '<a x="1&lt;2 &quot;"/>'), xpath('/a', '<a x="1&lt;2 &quot; &#10; &gt;"  y=''"''  />'), xpath('//processing-instruction("p")', '<a><?p d?><?q e?></a>'), xpath('/a', '<a>&#65;&#x42;</a>');
SELECT xpath('//b = //c', '<a><b>1</b><b>2</b><c>2</c></a>'), xpath('//b != //c', '<a><b>1</b><c>1</c></a>'), xpath('//b != //c', '<a><b>1</b><b>2</b><c>1</c></a>'), xpath('//b < //c', '<a><b>1</b><b>5</b><c>2</c></a>'), xpath('//b > 4', '<a><b>1</b><b>5</b></a>'), xpath('//b = "5"', '<a><b>1</b><b>5</b></a>'), xpath('//x = //y', '<a/>');
SELECT xpath('//div', '<div><mod/><and or="1"/></div>'), xpath('div div div', '<div>4</div>'), xpath('//and/@or', '<div><and or="1"/></div>'), xpath('* * 2', '<div>4</div>'), xpath('//*[@or or false()]', '<div><and or="1"/></div>'), xpath('//a-b', '<c><a-b/></c>');
-- What is none.
SELECT xpath('', '<a/>', '{}');
SELECT xpath('//', '<a/>', '{}');
SELECT xpath('a[', '<a/>', '{}');
SELECT xpath('a b', '<a/>', '{}');
SELECT xpath('''a', '<a/>', '{}');
SELECT xpath('foo::a', '<a/>', '{}');
SELECT xpath('count(1)', '<a/>', '{}');
SELECT xpath('count()', '<a/>', '{}');
SELECT xpath('absent(1)', '<a/>', '{}');
SELECT xpath('$x', '<a/>', '{}');
SELECT xpath('1/a', '<a/>', '{}');
SELECT xpath('"a" | "b"', '<a/>', '{}');
SELECT xpath_exists('foo(1', '<a/>', '{}');
SELECT XMLEXISTS('//' PASSING '<a/>');
SELECT XMLEXISTS('//a', '<a/>');
SELECT XMLEXISTS('//a' PASSING BY VALUE);
-- Printed.
CREATE VIEW found AS SELECT id, XMLEXISTS('//book' PASSING BY VALUE doc) AS here, xpath('//a', doc) AS parts, xpath_exists('//a'::text, doc, ARRAY[ARRAY['a', 'b']]) AS there FROM documents WHERE XMLEXISTS('/' || 'books' PASSING doc);
SELECT pg_get_viewdef('found'), pg_get_viewdef('found', true);
SELECT * FROM found ORDER BY id;
CREATE INDEX ON documents (((xpath('/books/book/title/text()', doc))[1]::text)) WHERE XMLEXISTS('/books' PASSING doc);
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'documents'::regclass ORDER BY 1;
