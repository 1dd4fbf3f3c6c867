-- What is well-formed is xml, and is shown without a declaration that says nothing.
select '<?xml version="1.0"?><a/>'::xml;
select '<?xml version="1.0" encoding="UTF-8"?>
<a/>'::xml;
select '<?xml version="1.1"?><a/>'::xml, '<?xml version="1.0" standalone="yes"?><a/>'::xml, '<?xml version=''1.0'' encoding="utf-8"  standalone="no" ?> <a/>'::xml;
select '<?xml version="1.0"?><a/>'::xml::text, '<?xml version="1.0"?><a/>'::text::xml::text;
select x, xml_is_well_formed_content(x), xml_is_well_formed_document(x), xml_is_well_formed(x) from unnest(array[
  '', ' ', 'x', 'a<b/>c', '<a/>', '<a></a>', '<a/><b/>', ' <a/> ', '<a', '<a>', '</a>', '<a></b>', '<a><b></a></b>', '<a b="1"/>', '<a b=''1''/>',
  '<a b=1/>', '<a b/>', '<a b="1" b="2"/>', '<a b="1"c="2"/>', '<a b="<"/>', '<a b=">"/>', '<a b="&amp;"/>', '<a b="&x;"/>', '<1/>', '<a.b-c_1:d/>', '<é/>', '< a/>', '<a />', '<a/ >', '</a >', '<a></a >', '<>',
  '&amp;&lt;&gt;&quot;&apos;', '&#65;&#x41;', '&#0;', '&#x;', '&#xD800;', '&foo;', 'a & b', 'a &lt b', '&;', '<a>]]></a>', 'a > b', 'a < b', '<![CDATA[x<y&z]]>', '<a><![CDATA[x]]></a>', '<a><![CDATA[x]]</a>',
  '<!-- x -->', '<!-- a -- b -->', '<!-- a --->', '<!---->', '<!-- a', '<?php x?>', '<?php?>', '<? x?>', '<?xml?><a/>', '<?xml version="1.0"?>', '<?xml version="1.0"?>x', '<?xml version="1.0"?><a/>', ' <?xml version="1.0"?><a/>', '<a/><?xml version="1.0"?>',
  '<?XML version="1.0"?><a/>', '<?xml-stylesheet href="x"?><a/>', '<?xml version="1.0" encoding?><a/>', '<?xml version="1.0" standalone="maybe"?><a/>', '<?xml encoding="UTF-8"?><a/>', '<?xml version="1.0"><a/>', '<?xml version="1.0"encoding="UTF-8"?><a/>',
  '<!DOCTYPE a><a/>', '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', '<!-- x --><!DOCTYPE a><a/>', '<a/><!DOCTYPE a>', '<!DOCTYPE a>', 'x<!DOCTYPE a><a/>', '<a/>x', '<a/><!-- x -->', '<a/><?p x?>', '<n:a/>', '<a n:b="1"/>', '<a xmlns:n="u"><n:b/></a>', '<a>' || chr(1) || '</a>', '<a b="' || chr(2) || '"/>', '<a>' || chr(9) || '</a>']) x;
set xmloption = document;
select x, xml_is_well_formed(x) from unnest(array['x', '<a/>', '<a/><b/>']) x;
select '<a/>'::xml;
reset xmloption;
create table x (id int primary key, a xml, b xml[]);
insert into x values (1, '<?xml version="1.0"?><q>1</q>', array['<a/>', '<?xml version="1.0"?><b/>']::xml[]);
select a, a::text, b, pg_typeof(a) from x;
select row(a) from x;
copy x to stdout;
select to_json(a) from x;
select 'x'::varchar::xml, 'y'::char(3)::xml;
prepare p (xml) as insert into x (id, a) values (2, $1) returning a;
execute p ('<z/>');
-- The standard's way to say what a text without a cast to a document or content is.
SET XML OPTION DOCUMENT;
SHOW xmloption;
SET XML OPTION CONTENT;
SHOW xmloption;
