-- Dates, times, timestamps and intervals whose fields are longer than PostgreSQL has room for.
select repeat('2', 127)::date;
select repeat('2', 128)::date;
select repeat('2', 1000)::date;
select repeat('2', 151)::timestamp;
select repeat('2', 152)::timestamp;
select repeat('2', 153)::timestamptz;
select repeat('2', 127)::time;
select repeat('2', 128)::time;
select repeat('2', 129)::timetz;
select repeat('2', 254)::interval;
select repeat('2', 255)::interval;
select repeat('2', 256)::interval;
select (repeat('0', 120) || '1 2')::interval;
select ('0.' || repeat('1', 240) || ' s')::interval;
select ('0.' || repeat('1', 260) || ' s')::interval;
select ('2020-01-02 03:04:05.' || repeat('1', 100))::timestamp;
select ('2020-01-02 03:04:05.' || repeat('1', 140))::timestamp;
