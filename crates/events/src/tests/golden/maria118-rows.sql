-- maria118-rows:445 0-1-1
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
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
-- maria118-rows:815 0-1-2
USE `d`;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE numbers (
  id BIGINT UNSIGNED AUTO_INCREMENT, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, e INT UNSIGNED, f BIGINT, g DECIMAL(20,5),
  h DECIMAL(10,0) UNSIGNED, i FLOAT, j DOUBLE, k BIT(1), l BIT(13), m YEAR, PRIMARY KEY (id)) ENGINE=InnoDB
/*!*/;
DELIMITER ;
-- maria118-rows:1284 0-1-3
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE texts (
  a CHAR(10) CHARACTER SET latin1, b VARCHAR(300), c BINARY(5), e VARBINARY(20), f TINYTEXT, g TEXT CHARACTER SET utf8mb3, h MEDIUMBLOB,
  i LONGTEXT, j ENUM('x','y','grün') CHARACTER SET utf8mb4, k SET('p','q','r') CHARACTER SET latin1, l CHAR(100) CHARACTER SET utf8mb4, PRIMARY KEY (b(20), a)) ENGINE=InnoDB
/*!*/;
DELIMITER ;
-- maria118-rows:1580 0-1-4
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE times (
  id INT PRIMARY KEY, a DATE, b TIME, c TIME(3), e DATETIME, f DATETIME(6), g TIMESTAMP NULL, h TIMESTAMP(4) NULL, hidden INT INVISIBLE DEFAULT 3) ENGINE=InnoDB
/*!*/;
DELIMITER ;
-- maria118-rows:1888 0-1-5
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE others (
  id INT PRIMARY KEY, doc JSON, p POINT, g GEOMETRY, l LINESTRING, v VECTOR(3), six INET6, four INET4, u UUID, c VARCHAR(500) COMPRESSED, cb BLOB COMPRESSED) ENGINE=InnoDB
/*!*/;
DELIMITER ;
-- maria118-rows:2088 0-1-6
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE history (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING ENGINE=InnoDB
/*!*/;
DELIMITER ;
-- maria118-rows:2800 0-1-7
SET NAMES utf8mb4, time_zone='+00:00', sql_mode='STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', timestamp=DEFAULT;
SET foreign_key_checks=1, unique_checks=1;
BEGIN;
INSERT INTO `d`.`numbers` (`id`,`a`,`b`,`c`,`e`,`f`,`g`,`h`,`i`,`j`,`k`,`l`,`m`) VALUES (1,-1,65535,-8388608,4294967295,-9223372036854775808,-123456789012345.12345,9999999999,1.5,-2.25,1,4097,2024);
INSERT INTO `d`.`numbers` (`id`,`a`,`b`,`c`,`e`,`f`,`g`,`h`,`i`,`j`,`k`,`l`,`m`) VALUES (18446744073709551614,127,0,8388607,0,9223372036854775807,0.00001,0,-1.0000000150474662e30,1e300,0,0,0);
INSERT INTO `d`.`numbers` (`id`,`a`,`b`,`c`,`e`,`f`,`g`,`h`,`i`,`j`,`k`,`l`,`m`) VALUES (5,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
COMMIT;
-- maria118-rows:3744 0-1-8
BEGIN;
INSERT INTO `d`.`texts` (`a`,`b`,`c`,`e`,`f`,`g`,`h`,`i`,`j`,`k`,`l`) VALUES (x'4dfc6c6c6572','Grüße',x'0001020304',x'ff','tiny','text',x'00ff','longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong',3,5,'wide');
INSERT INTO `d`.`texts` (`a`,`b`,`c`,`e`,`f`,`g`,`h`,`i`,`j`,`k`,`l`) VALUES ('','',x'0000000000','','','','','',1,0,'');
COMMIT;
-- maria118-rows:4269 0-1-9
BEGIN;
INSERT INTO `d`.`times` (`id`,`a`,`b`,`c`,`e`,`f`,`g`,`h`,`hidden`) VALUES (1,'2024-02-29','-838:59:59','12:34:56.789','9999-12-31 23:59:59','1000-01-01 00:00:00.000001','2023-11-14 22:13:20','2023-11-14 22:13:20.1234',3);
INSERT INTO `d`.`times` (`id`,`a`,`b`,`c`,`e`,`f`,`g`,`h`,`hidden`) VALUES (2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,3);
COMMIT;
-- maria118-rows:4986 0-1-10
BEGIN;
INSERT INTO `d`.`others` (`id`,`doc`,`p`,`g`,`l`,`v`,`six`,`four`,`u`,`c`,`cb`) VALUES (1,'{"a": [1, 2]}',x'00000000010100000000000000000008400000000000001040',x'00000000010100000000000000000008400000000000001040',x'0000000001020000000200000000000000000000000000000000000000000000000000f03f000000000000f03f',x'0000803f0000004000004040',x'00000000000000000000000000000001',x'7f000001',x'123e4567e89b12d3a456426655440000','cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',x'73686f7274');
COMMIT;
-- maria118-rows:5255 0-1-11
BEGIN;
INSERT INTO `d`.`history` (`id`,`n`,`row_start`,`row_end`) VALUES (1,1,'2023-11-14 22:13:20.500000','2106-02-07 06:28:15.999999');
COMMIT;
-- maria118-rows:5539 0-1-12
BEGIN;
UPDATE `d`.`history` SET `n`=2 WHERE `id`=1 AND `row_end`='2106-02-07 06:28:15.999999';
COMMIT;
-- maria118-rows:5818 0-1-13
BEGIN;
UPDATE `d`.`history` SET `row_end`='2023-11-14 22:13:20.500000' WHERE `id`=1 AND `row_end`='2106-02-07 06:28:15.999999';
COMMIT;
-- maria118-rows:6097 0-1-14
BEGIN;
UPDATE `d`.`times` SET `a`='2024-03-01' WHERE `id`=1;
COMMIT;
-- maria118-rows:6457 0-1-15
BEGIN;
UPDATE `d`.`texts` SET `i`='short' WHERE `a`=_latin1 x'4dfc6c6c6572' AND `b`='Grüße' LIMIT 1;
COMMIT;
-- maria118-rows:6714 0-1-16
BEGIN;
DELETE FROM `d`.`times` WHERE `id`=2;
COMMIT;
-- maria118-rows:7112 0-1-17
BEGIN;
UPDATE `d`.`texts` SET `a`=x'4d65696572' WHERE `a`=_latin1 x'4dfc6c6c6572' AND `b`='Grüße' AND `c`=x'0001020304' AND `e`=x'ff' AND `j`=3 AND `k`=5 AND `l`='wide' LIMIT 1;
COMMIT;
-- maria118-rows:7514 0-1-18
BEGIN;
UPDATE `d`.`texts` SET `a`=x'5363686d696474' WHERE `a`=_latin1 x'4d65696572' AND `b`='Grüße' AND `c`=x'0001020304' AND `e`=x'ff' AND `f`='tiny' AND `g`='text' AND `h`=x'00ff' AND `i`='short' AND `j`=3 AND `k`=5 AND `l`='wide' LIMIT 1;
COMMIT;
-- maria118-rows:7848 0-1-19
SET foreign_key_checks=0, unique_checks=0;
BEGIN;
DELETE FROM `d`.`texts` WHERE `a`='' AND `b`='' AND `c`=x'0000000000' AND `e`='' AND `f`='' AND `g`='' AND `h`='' AND `i`='' AND `j`=1 AND `k`=0 AND `l`='' LIMIT 1;
COMMIT;
-- maria118-rows:8246 0-1-20
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE mixed (id INT PRIMARY KEY, a VARCHAR(9) CHARACTER SET latin1, g GEOMETRY, b VARCHAR(9) COLLATE utf8mb4_bin, v VECTOR(2),
  c VARCHAR(9) COLLATE latin1_german2_ci, j JSON, d VARCHAR(9) CHARACTER SET ascii, k VARBINARY(9), t TEXT COLLATE utf8mb4_bin)
/*!*/;
DELIMITER ;
-- maria118-rows:8528 0-1-21
SET NAMES utf8mb4, time_zone='+00:00', sql_mode='STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', timestamp=DEFAULT;
SET foreign_key_checks=1, unique_checks=1;
BEGIN;
INSERT INTO `d`.`mixed` (`id`,`a`,`g`,`b`,`v`,`c`,`j`,`d`,`k`,`t`) VALUES (1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
COMMIT;
-- ERROR the names of the columns of d.mixed are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.numbers are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.numbers are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.texts are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.made_from are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- maria118-rows:10158 0-1-27
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
-- ERROR the names of the columns of d.seq are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.numbers are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.numbers are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
