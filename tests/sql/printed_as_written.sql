-- Expressions that are kept are printed as they were written: calls of functions that are written in SQL, arguments that
-- go without saying, fields of rows, numbers that are cast to oid.
create type pw_row as (a int, b text);
create table pw (a time, b time, c date, ts timestamp, i interval, n numeric, x text, tz timestamptz, o oid,
  check (overlaps(a, b, a, i)), check (interval '1' + c > ts), check (i + ts > ts), check (i + a > a),
  check (date_part('hour', a) > 1), check (round(n) > 1), check (log(n) > 2), check (lpad(x, 3) > 'a'),
  check (substring(x, 'a', 'b') > 'x'), check (substring(x similar 'a' escape 'b') > 'x'), check (age(ts) > i),
  check (normalize(x) = x), check (normalize(x, nfc) = x), check ("normalize"(x) = x), check ("normalize"(x, 'NFD') = x),
  check (x is normalized), check (x is not nfc normalized), check (is_normalized(x)), check ("is_normalized"(x, 'NFKC')),
  check (o <> 0::oid), check (o = 5), check (o < '7'::oid), check (o in (1, 2::oid)));
select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'pw'::regclass order by oid;
create table pw_made (a int default (row(1, 'x')::pw_row).a, b text default (row(1, 'x')::pw_row).b, c int default (row(1, 2)::pw_row).a + 1,
  d text default (row(1, 2)).f2, e oid default 0::oid, f oid default 5, g oid default '7', h oid generated always as (1::oid) stored,
  i int default information_schema._pg_char_max_length(1043, 14), j interval default make_interval(1, 2),
  k bool default overlaps(time '10:00', time '11:00', time '10:00', interval '1 hour'), l text default normalize('x'));
select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 'pw_made'::regclass order by adnum;
insert into pw_made default values;
select * from pw_made;
create table pw_like (like pw_made including all);
insert into pw_like default values;
select * from pw_like;
create domain pw_domain as text default lpad('a', 3) check (lpad(value, 3) > 'a') check ("normalize"(value) = value);
select pg_get_constraintdef(oid) from pg_constraint where contypid = 'pw_domain'::regtype order by oid;
select typdefault from pg_type where typname = 'pw_domain';
select 'bbb'::pw_domain;
create table pw_json (j jsonb, k json, x text, d date, r pw_row);
create view pw_view as
  select jsonb_set(j, '{a}', '1') as a, jsonb_set(j, '{a}', '1', false) as b, make_interval(1, 2) as d,
    jsonb_path_exists(j, '$') as e, normalize(x) as g, x is normalized as h, x is nfc normalized as i, x is nfkd normalized as k,
    parse_ident(x) as m, (row(1, 2)).f1 as p, (row(d, x)).f2 as q, (pw_json).x as r, (pw_json.*).x as s,
    (r).a as t, 0::oid as u, '0'::oid as v, (0)::regclass as w, 5::oid = 5 as y, 3::regtype as z, (-1)::oid as aa,
    information_schema._pg_truetypmod(null, null) as ab
  from pw_json where jsonb_path_match(j, '$.a') and lpad(x, 3) > 'a';
select pg_get_viewdef('pw_view');
create view pw_fields as select (row(1, 'x')::pw_row).*, (row(1, d)).* from pw_json;
select pg_get_viewdef('pw_fields');
select * from pw_fields;
create view pw_over as select a, b, e, g, u from pw_view where u = 0::oid;
select pg_get_viewdef('pw_over');
create index pw_index on pw_json (((row(1, x)::pw_row).b), lpad(x, 3), ("normalize"(x))) where (row(1, x)::pw_row).a = 1;
select pg_get_indexdef('pw_index'::regclass);
insert into pw_json values ('{"a": true}', '{}', 'b', '2020-01-01', (1, 'y'));
select a, g, h, p, s, t, u, w from pw_view;
select count(*) from pw_json where lpad(x, 3) = '  b' and (row(1, x)::pw_row).a = 1;
alter table pw_json rename x to xx;
select pg_get_indexdef('pw_index'::regclass);
alter table pw rename x to xx;
select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'pw'::regclass and conname like '%x%' order by oid;
drop view pw_over;
drop view pw_fields;
drop view pw_view;
drop table pw, pw_made, pw_like, pw_json;
drop domain pw_domain;
drop type pw_row;
