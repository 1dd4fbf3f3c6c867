-- What a client's socket does by itself is told where a setting leaves it to the system.
SET client_min_messages = warning;
SELECT current_setting('tcp_keepalives_idle')::int > 0, current_setting('tcp_keepalives_interval')::int > 0, current_setting('tcp_keepalives_count')::int > 0, current_setting('tcp_user_timeout');
SELECT name, setting::int > 0, unit, reset_val, boot_val, source FROM pg_settings WHERE name LIKE 'tcp\_%' ORDER BY name;
SET tcp_keepalives_idle = 100;
SET tcp_keepalives_count = 5;
SET tcp_user_timeout = '2s';
SHOW tcp_keepalives_idle;
SHOW tcp_keepalives_count;
SHOW tcp_user_timeout;
SELECT name, setting, source FROM pg_settings WHERE name IN ('tcp_keepalives_idle', 'tcp_user_timeout') ORDER BY name;
SET tcp_keepalives_idle = 0;
SELECT current_setting('tcp_keepalives_idle')::int > 100;
RESET tcp_user_timeout;
SHOW tcp_user_timeout;
