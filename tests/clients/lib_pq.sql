-- What lib-pq sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- extended: lib/pq types, prepared, errors, tx isolation
select $1::int8,$2::text,$3::bytea,$4::timestamptz,$5::text[];

-- simple: lib/pq types, prepared, errors, tx isolation
select * from nope_l;

-- simple: lib/pq types, prepared, errors, tx isolation
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY;

-- simple: lib/pq types, prepared, errors, tx isolation
show transaction_isolation;

-- simple: lib/pq types, prepared, errors, tx isolation
ROLLBACK;

-- simple: lib/pq CopyIn, Listener
drop table if exists lpq_c;

-- simple: lib/pq CopyIn, Listener
create table lpq_c(a int,b text);

-- simple: lib/pq CopyIn, Listener
BEGIN READ WRITE;

-- simple: lib/pq CopyIn, Listener
COPY "lpq_c" ("a", "b") FROM STDIN;

-- simple: lib/pq CopyIn, Listener
COMMIT;

-- simple: lib/pq CopyIn, Listener
select count(*) from lpq_c;

-- simple: lib/pq CopyIn, Listener
LISTEN "lpqch";

-- simple: lib/pq CopyIn, Listener
notify lpqch,'y';

-- simple: lib/pq CopyIn, Listener
drop table lpq_c;
