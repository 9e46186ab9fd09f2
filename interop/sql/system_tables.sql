-- Tables of the server beside those of users, and what clients ask about their connection.

CREATE TABLE own (view_definition LONGTEXT, l VARCHAR(20) CHARACTER SET latin1, u VARCHAR(64));
INSERT INTO own VALUES ('own', 'äb', 'Uptime');
SELECT view_definition FROM information_schema.views WHERE table_schema = 'nowhere' UNION ALL SELECT view_definition FROM own;
SELECT COUNT(*) FROM information_schema.views WHERE view_definition = (SELECT view_definition FROM own);
SELECT COERCIBILITY(table_name), table_name FROM information_schema.tables WHERE table_name = 'own';
SELECT t.table_name FROM information_schema.tables t JOIN own ON t.table_name = own.view_definition;
SELECT table_name FROM information_schema.tables WHERE table_name = 'own' UNION SELECT l FROM own;
SELECT variable_name FROM performance_schema.global_status JOIN own ON variable_name = u;
SELECT COALESCE(u, table_name) FROM own, information_schema.tables WHERE table_name = 'own';
SELECT DISTINCT user FROM mysql.user WHERE user = 'root' UNION ALL SELECT u FROM own;

SELECT name, ret, dl, type FROM mysql.func;
SELECT database_name, table_name, n_rows >= 0, clustered_index_size >= 0 FROM mysql.innodb_table_stats WHERE table_name = 'own';
SELECT t.name, s.file_size >= 0 FROM information_schema.innodb_tables t JOIN information_schema.innodb_tablespaces s USING (name) WHERE t.name LIKE '%/own';
SELECT name, subsystem, status FROM information_schema.innodb_metrics WHERE name IN ('trx_rseg_history_len', 'lock_deadlocks') ORDER BY name;
SHOW STATUS LIKE 'Ssl_cipher';
SHOW GLOBAL STATUS LIKE 'Ssl_version';
SHOW STATUS LIKE 'Compression%';
SELECT variable_value FROM performance_schema.session_status WHERE variable_name = 'Ssl_cipher';

SET session_track_schema = 0;
SELECT @@session_track_schema;
SET SESSION session_track_schema = 1;
SET session_track_system_variables = 'autocommit,time_zone', session_track_state_change = 1, session_track_gtids = OWN_GTID;
SELECT @@session_track_system_variables, @@session_track_state_change, @@session_track_gtids;
SET session_track_gtids = 'some';
SET SESSION restrict_fk_on_non_standard_key = 0;
SELECT @@restrict_fk_on_non_standard_key;
SET SESSION restrict_fk_on_non_standard_key = 1;
SET SESSION binlog_format = 'MIXED';
SELECT @@binlog_format;
SET binlog_format = ROW;
SET GLOBAL protocol_compression_algorithms = 'zlib,uncompressed';
SELECT @@protocol_compression_algorithms;
SET GLOBAL protocol_compression_algorithms = '';
SET GLOBAL protocol_compression_algorithms = 'lz4';
SET GLOBAL protocol_compression_algorithms = NULL;
SET GLOBAL protocol_compression_algorithms = 1;
SET SESSION protocol_compression_algorithms = 'zlib';
SET GLOBAL protocol_compression_algorithms = DEFAULT;

XA START 0x0102, 0x03, 0x7;
XA END 0x0102, 0x03, 7;
XA PREPARE X'0102', 0x03, x'07';
XA RECOVER;
XA ROLLBACK 0x0102, 0x03, 7;
XA START 'a', 'b', b'111';
XA START 'a', 'b', '7';
