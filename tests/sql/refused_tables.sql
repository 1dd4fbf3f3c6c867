-- What CREATE TABLE tells first, and where: no right to create in the schema, and a generated column that changes.
CREATE ROLE rf_a;
CREATE SCHEMA r1;
CREATE TABLE r1.t(a int);
SET ROLE rf_a;
CREATE TABLE r1.zz(a int);
CREATE temp TABLE r1.zz(a int);
CREATE TABLE if NOT exists r1.zz(a int);
CREATE VIEW r1.v AS SELECT 1;
CREATE TABLE r1.zz AS SELECT 1;
CREATE TABLE r1.zz(like r1.t);
CREATE TABLE zz(a int REFERENCES r1.t);
RESET ROLE;
DROP ROLE rf_a;
CREATE TABLE g2(a int GENERATED ALWAYS AS (now()) STORED);
CREATE TABLE g5(a int, d int GENERATED ALWAYS AS ('x'::text) STORED);
