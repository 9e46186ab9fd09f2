-- maria118-statements:445 0-1-1
SET timestamp=1795385270, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE DATABASE d
/*!*/;
DELIMITER ;
-- maria118-statements:568 0-1-2
SET timestamp=1795385270, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE DATABASE e
/*!*/;
DELIMITER ;
-- maria118-statements:810 0-1-3
USE `d`;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(100), n DOUBLE, m DECIMAL(65,30), u BIGINT UNSIGNED) ENGINE=InnoDB
/*!*/;
DELIMITER ;
-- maria118-statements:994 0-1-4
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE plain (id INT PRIMARY KEY, s VARCHAR(100)) ENGINE=MyISAM
/*!*/;
DELIMITER ;
-- maria118-statements:1132 0-1-5
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE e.t LIKE t
/*!*/;
DELIMITER ;
-- maria118-statements:1375 0-1-6
BEGIN;
SET INSERT_ID=2;
SET timestamp=1700000000.250000, explicit_defaults_for_timestamp=1, foreign_key_checks=0, unique_checks=0, sql_auto_is_null=1, auto_increment_increment=5, auto_increment_offset=2, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4, time_zone='+02:00', lc_time_names=4;
/*M!100201 SET check_constraint_checks=0 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1575223311 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES (DATE_FORMAT(NOW(), '%W %M'))
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:1597 0-1-7
BEGIN;
SET INSERT_ID=7;
SET timestamp=1700000000.250000, explicit_defaults_for_timestamp=1, foreign_key_checks=0, unique_checks=0, sql_auto_is_null=1, auto_increment_increment=5, auto_increment_offset=2, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4, time_zone='+02:00', lc_time_names=4;
/*M!100201 SET check_constraint_checks=0 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1575223311 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES (NOW(6))
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:1811 0-1-8
BEGIN;
SET INSERT_ID=12;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=0, unique_checks=0, sql_auto_is_null=1, auto_increment_increment=5, auto_increment_offset=2, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4, lc_time_names=4;
/*M!100201 SET check_constraint_checks=0 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1575223311 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('a'), ('b')
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:2040 0-1-9
BEGIN;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=0, unique_checks=0, sql_auto_is_null=1, auto_increment_increment=5, auto_increment_offset=2, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4, lc_time_names=4;
/*M!100201 SET check_constraint_checks=0 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1575223311 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO plain SELECT id, s FROM t
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:2301 0-1-10
BEGIN;
SET LAST_INSERT_ID=12;
SET INSERT_ID=22;
SET timestamp=1700000000, auto_increment_increment=1, auto_increment_offset=1, lc_time_names=0, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=8, collation_connection=8, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=8, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES (CONCAT('latin', LAST_INSERT_ID()))
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:2490 0-1-11
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE other_default (s TEXT CHARACTER SET utf8mb4)
/*!*/;
DELIMITER ;
-- maria118-statements:2734 0-1-12
BEGIN;
SET INSERT_ID=23;
SET rand_seed1=379916833, rand_seed2=30937508;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (n) VALUES (RAND())
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:3209 0-1-13
BEGIN;
SET INSERT_ID=24;
SET @`text`:=_utf8mb4 x'4772c3bcc39f65';
SET @`int`:=-5;
SET @`binary`:=x'00ff10';
SET @`real`:=15000000000.0;
SET @`null`:=NULL;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s, n) VALUES (@text, @int), (HEX(@binary), @real), (@null, NULL)
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:3526 0-1-14
BEGIN;
SET INSERT_ID=27;
SET @`dec`:=-12345678901234567890.0123456789;
SET @`big`:=18446744073709551615;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (m, u) VALUES (@dec, @big)
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:3909 0-1-15
BEGIN;
SET INSERT_ID=28;
SET @`address`:=_latin1 x'3a3a31';
SET @`unsigned`:=7;
SET @`day`:=_latin1 x'323032342d30322d3239';
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s, n) VALUES (@address, @unsigned), (@day, 1)
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:4072 0-1-16
SET pseudo_thread_id=7;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TEMPORARY TABLE temporary_one (id INT)
/*!*/;
DELIMITER ;
-- maria118-statements:4295 0-1-17
BEGIN;
SET pseudo_thread_id=7;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO temporary_one VALUES (1), (2)
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:4513 0-1-18
BEGIN;
SET INSERT_ID=30;
SET pseudo_thread_id=7;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) SELECT id FROM temporary_one
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:4684 0-1-19
SET pseudo_thread_id=7;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
DROP TEMPORARY TABLE `temporary_one` /* generated by server */
/*!*/;
DELIMITER ;
-- maria118-statements:4935 0-1-20
BEGIN;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
UPDATE t, e.t AS et SET t.s = 'both', et.s = 'both'
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:5324 0-1-21
BEGIN;
SET INSERT_ID=33;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('kept')
/*!*/;
DELIMITER ;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
SAVEPOINT `one`
/*!*/;
DELIMITER ;
USE `d`;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
UPDATE t SET n = 7 WHERE s = 'kept'
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:5687 0-1-22
BEGIN;
SET INSERT_ID=35;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('rolled back')
/*!*/;
DELIMITER ;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO plain VALUES (1000, 'stays')
/*!*/;
DELIMITER ;
ROLLBACK;
-- maria118-statements:5887 0-1-23
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE DEFINER=`some`@`where` PROCEDURE `p`()
INSERT INTO t (s) VALUES ('from a procedure')
/*!*/;
DELIMITER ;
-- maria118-statements:6141 0-1-24
SET timestamp=1700000000.250000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE DEFINER=`root`@`127.0.0.1` TRIGGER before_insert BEFORE INSERT ON plain FOR EACH ROW SET NEW.s = UPPER(NEW.s)
/*!*/;
DELIMITER ;
-- maria118-statements:6278 0-1-25
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE SEQUENCE seq
/*!*/;
DELIMITER ;
-- maria118-statements:6400 0-1-26
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE USER u
/*!*/;
DELIMITER ;
-- maria118-statements:6549 0-1-27
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
GRANT SELECT ON d.* TO u
/*!*/;
DELIMITER ;
-- maria118-statements:6669 0-1-28
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
DROP USER u
/*!*/;
DELIMITER ;
-- maria118-statements:6820 0-1-29
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
ALTER TABLE e.t RENAME TO d.moved
/*!*/;
DELIMITER ;
-- maria118-statements:6998 0-1-30
SET pseudo_thread_id=7;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
DROP TABLE `moved`,`other_default` /* generated by server */
/*!*/;
DELIMITER ;
-- ERROR LOAD DATA as a statement: its file has no place in a stream of SQL (the source can log rows: binlog_format=ROW)
-- ERROR LOAD DATA as a statement: its file has no place in a stream of SQL (the source can log rows: binlog_format=ROW)
-- ERROR LOAD DATA as a statement: its file has no place in a stream of SQL (the source can log rows: binlog_format=ROW)
-- maria118-statements:14796 0-1-34
BEGIN;
SET INSERT_ID=163;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('xa')
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:15172 0-1-36
BEGIN;
SET INSERT_ID=164;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('xa one phase')
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:15478 0-1-38
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
ALTER TABLE t ADD COLUMN x INT
/*!*/;
DELIMITER ;
-- maria118-statements:15983 77-1-1
BEGIN;
SET INSERT_ID=165;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('in a domain')
/*!*/;
DELIMITER ;
COMMIT;
-- maria118-statements:16204 0-1-41
BEGIN;
SET INSERT_ID=166;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('not to be replicated')
/*!*/;
DELIMITER ;
COMMIT;
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- maria118-statements:16593 0-1-43
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
DROP DATABASE e
/*!*/;
DELIMITER ;
