-- mysql97-statements:334 142c7b81-e6c1-11f1-b2a2-02fc00000001:1
SET timestamp=1795385240, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE DATABASE d
/*!*/;
DELIMITER ;
-- mysql97-statements:510 142c7b81-e6c1-11f1-b2a2-02fc00000001:2
SET timestamp=1795385240, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE DATABASE e
/*!*/;
DELIMITER ;
-- mysql97-statements:798 142c7b81-e6c1-11f1-b2a2-02fc00000001:3
USE `d`;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(100), n DOUBLE, m DECIMAL(65,30), u BIGINT UNSIGNED) ENGINE=InnoDB
/*!*/;
DELIMITER ;
-- mysql97-statements:1017 142c7b81-e6c1-11f1-b2a2-02fc00000001:4
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE plain (id INT PRIMARY KEY, s VARCHAR(100)) ENGINE=MyISAM
/*!*/;
DELIMITER ;
-- mysql97-statements:1195 142c7b81-e6c1-11f1-b2a2-02fc00000001:5
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE e.t LIKE t
/*!*/;
DELIMITER ;
-- mysql97-statements:1572 142c7b81-e6c1-11f1-b2a2-02fc00000001:6
BEGIN;
SET INSERT_ID=2;
SET timestamp=1700000000, foreign_key_checks=0, unique_checks=0, sql_auto_is_null=1, auto_increment_increment=5, auto_increment_offset=2, character_set_client=255, collation_connection=255, collation_server=255, time_zone='+02:00', lc_time_names=4;
/*!50700 SET sql_mode='REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18486657071 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES (DATE_FORMAT(NOW(), '%W %M'))
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:1916 142c7b81-e6c1-11f1-b2a2-02fc00000001:7
BEGIN;
SET INSERT_ID=7;
SET timestamp=1700000000, foreign_key_checks=0, unique_checks=0, sql_auto_is_null=1, auto_increment_increment=5, auto_increment_offset=2, character_set_client=255, collation_connection=255, collation_server=255, lc_time_names=4;
/*!50700 SET sql_mode='REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18486657071 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('a'), ('b')
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:2280 142c7b81-e6c1-11f1-b2a2-02fc00000001:8
BEGIN;
SET timestamp=1700000000, foreign_key_checks=0, unique_checks=0, sql_auto_is_null=1, auto_increment_increment=5, auto_increment_offset=2, character_set_client=255, collation_connection=255, collation_server=255, lc_time_names=4;
/*!50700 SET sql_mode='REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18486657071 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO plain SELECT id, s FROM t
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:2663 142c7b81-e6c1-11f1-b2a2-02fc00000001:9
BEGIN;
SET LAST_INSERT_ID=7;
SET INSERT_ID=17;
SET timestamp=1700000000, auto_increment_increment=1, auto_increment_offset=1, lc_time_names=0, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=8, collation_connection=8, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES (CONCAT('latin', LAST_INSERT_ID()))
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:2882 142c7b81-e6c1-11f1-b2a2-02fc00000001:10
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=45 */;
DELIMITER /*!*/;
CREATE TABLE other_default (s TEXT CHARACTER SET utf8mb4)
/*!*/;
DELIMITER ;
-- mysql97-statements:3251 142c7b81-e6c1-11f1-b2a2-02fc00000001:11
BEGIN;
SET INSERT_ID=18;
SET rand_seed1=214572137, rand_seed2=829087017;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (n) VALUES (RAND())
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:3798 142c7b81-e6c1-11f1-b2a2-02fc00000001:12
BEGIN;
SET INSERT_ID=19;
SET @`text`:=_utf8mb4 x'4772c3bcc39f65';
SET @`int`:=-5;
SET @`real`:=15000000000.0;
SET @`null`:=NULL;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (s, n) VALUES (@text, @int), (@text, @real), (@null, NULL)
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:4180 142c7b81-e6c1-11f1-b2a2-02fc00000001:13
BEGIN;
SET INSERT_ID=22;
SET @`binary`:=x'00ff10';
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES (HEX(@binary))
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:4622 142c7b81-e6c1-11f1-b2a2-02fc00000001:14
BEGIN;
SET INSERT_ID=23;
SET @`dec`:=-12345678901234567890.0123456789;
SET @`big`:=18446744073709551615;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (m, u) VALUES (@dec, @big)
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:4820 142c7b81-e6c1-11f1-b2a2-02fc00000001:15
SET pseudo_thread_id=11;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TEMPORARY TABLE temporary_one (id INT)
/*!*/;
DELIMITER ;
-- mysql97-statements:5175 142c7b81-e6c1-11f1-b2a2-02fc00000001:16
BEGIN;
SET pseudo_thread_id=11;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO temporary_one VALUES (1), (2)
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:5516 142c7b81-e6c1-11f1-b2a2-02fc00000001:17
BEGIN;
SET INSERT_ID=24;
SET pseudo_thread_id=11;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (s) SELECT id FROM temporary_one
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:5729 142c7b81-e6c1-11f1-b2a2-02fc00000001:18
SET pseudo_thread_id=11;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
DROP TEMPORARY TABLE `temporary_one` /* generated by server */
/*!*/;
DELIMITER ;
-- mysql97-statements:6127 142c7b81-e6c1-11f1-b2a2-02fc00000001:19
BEGIN;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
UPDATE t, e.t AS et SET t.s = 'both', et.s = 'both'
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:6662 142c7b81-e6c1-11f1-b2a2-02fc00000001:20
BEGIN;
SET INSERT_ID=27;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('kept')
/*!*/;
DELIMITER ;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
SAVEPOINT `one`
/*!*/;
DELIMITER ;
USE `d`;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
UPDATE t SET n = 7 WHERE s = 'kept'
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:6931 142c7b81-e6c1-11f1-b2a2-02fc00000001:21
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE DEFINER=`some`@`where` PROCEDURE `p`()
INSERT INTO t (s) VALUES ('from a procedure')
/*!*/;
DELIMITER ;
-- mysql97-statements:7229 142c7b81-e6c1-11f1-b2a2-02fc00000001:22
SET timestamp=1700000000.250000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE DEFINER=`root`@`127.0.0.1` TRIGGER before_insert BEFORE INSERT ON plain FOR EACH ROW SET NEW.s = UPPER(NEW.s)
/*!*/;
DELIMITER ;
-- mysql97-statements:7542 142c7b81-e6c1-11f1-b2a2-02fc00000001:23
SET timestamp=1700000000.250000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255, time_zone='SYSTEM';
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE USER 'u'@'%' IDENTIFIED WITH 'caching_sha2_password' AS '$A$005$THISISACOMBINATIONOFINVALIDSALTANDPASSWORDTHATMUSTNEVERBRBEUSED'
/*!*/;
DELIMITER ;
-- mysql97-statements:7756 142c7b81-e6c1-11f1-b2a2-02fc00000001:24
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
GRANT SELECT ON `d`.* TO 'u'@'%'
/*!*/;
DELIMITER ;
-- mysql97-statements:7931 142c7b81-e6c1-11f1-b2a2-02fc00000001:25
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
DROP USER u
/*!*/;
DELIMITER ;
-- mysql97-statements:8128 142c7b81-e6c1-11f1-b2a2-02fc00000001:26
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
ALTER TABLE e.t RENAME TO d.moved
/*!*/;
DELIMITER ;
-- mysql97-statements:8348 142c7b81-e6c1-11f1-b2a2-02fc00000001:27
SET pseudo_thread_id=11;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
DROP TABLE `moved`,`other_default` /* generated by server */
/*!*/;
DELIMITER ;
-- ERROR LOAD DATA as a statement: its file has no place in a stream of SQL (the source can log rows: binlog_format=ROW)
-- ERROR LOAD DATA as a statement: its file has no place in a stream of SQL (the source can log rows: binlog_format=ROW)
-- ERROR LOAD DATA as a statement: its file has no place in a stream of SQL (the source can log rows: binlog_format=ROW)
-- mysql97-statements:16685 142c7b81-e6c1-11f1-b2a2-02fc00000001:31
BEGIN;
SET INSERT_ID=156;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('xa')
/*!*/;
DELIMITER ;
COMMIT;
-- mysql97-statements:17328 142c7b81-e6c1-11f1-b2a2-02fc00000001:33
BEGIN;
SET INSERT_ID=157;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
INSERT INTO t (s) VALUES ('xa one phase')
/*!*/;
DELIMITER ;
COMMIT;
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- mysql97-statements:17824 142c7b81-e6c1-11f1-b2a2-02fc00000001:35
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
DROP DATABASE e
/*!*/;
DELIMITER ;
