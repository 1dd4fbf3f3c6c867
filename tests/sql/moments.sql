-- Dates and times: which texts they take, and which they refuse.
SELECT '2024-01-02Z'::timestamptz, '2024-01-02 1234'::timestamp, '2024-01-02 123456'::timestamp, '20240102T1234'::timestamp, '2024-01-02T123456'::timestamp, '20240102 123456+02'::timestamptz;
SELECT 'Tue Jan  2 2024 03:04:05 GMT+0100'::timestamptz, '2024-01-02 GMT+1'::timestamptz, '2024-01-02 10:00 EST5EDT'::timestamptz, '2024-01-02 10:00 UTC+3'::timestamptz;
SELECT '2024-01-02 Mon'::date, 'Mon Jan 2 2024'::date, 'Monday Jan 2 2024 10:00'::timestamp, '10:00 Jan 2 2024'::timestamp, '08-Jan-1999'::date, 'Jan-08-1999'::date, '1999.008'::date, 'J2451187'::date;
SELECT '2024-01-02T12'::timestamp;
SELECT '20240102T12'::timestamp;
SELECT '2024-01-02 12'::timestamp;
SELECT '+infinity'::timestamp;
SELECT '+infinity'::date;
SELECT '10:00 2024-01-02'::timestamp;
SELECT 'Monday 2024-01-02'::timestamp;
SELECT '2024-01-02 25:00'::timestamp;
