-- mysql97-rows:334 179a550d-e6c1-11f1-bc77-02fc00000001:1
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE DATABASE d
/*!*/;
DELIMITER ;
-- mysql97-rows:736 179a550d-e6c1-11f1-bc77-02fc00000001:2
USE `d`;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE numbers (
  id BIGINT UNSIGNED AUTO_INCREMENT, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, e INT UNSIGNED, f BIGINT, g DECIMAL(20,5),
  h DECIMAL(10,0) UNSIGNED, i FLOAT, j DOUBLE, k BIT(1), l BIT(13), m YEAR, PRIMARY KEY (id))
/*!*/;
DELIMITER ;
-- mysql97-rows:1215 179a550d-e6c1-11f1-bc77-02fc00000001:3
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE texts (
  a CHAR(10) CHARACTER SET latin1, b VARCHAR(300), c BINARY(5), e VARBINARY(20), f TINYTEXT, g TEXT CHARACTER SET utf8mb3, h MEDIUMBLOB,
  i LONGTEXT, j ENUM('x','y','grün') CHARACTER SET utf8mb4, k SET('p','q','r') CHARACTER SET latin1, l CHAR(100) CHARACTER SET utf8mb4, PRIMARY KEY (b(20), a))
/*!*/;
DELIMITER ;
-- mysql97-rows:1545 179a550d-e6c1-11f1-bc77-02fc00000001:4
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255, explicit_defaults_for_timestamp=1;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE times (
  id INT PRIMARY KEY, a DATE, b TIME, c TIME(3), e DATETIME, f DATETIME(6), g TIMESTAMP NULL, h TIMESTAMP(4) NULL, hidden INT DEFAULT 3 INVISIBLE)
/*!*/;
DELIMITER ;
-- mysql97-rows:1880 179a550d-e6c1-11f1-bc77-02fc00000001:5
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE others (
  id INT PRIMARY KEY, doc JSON, second JSON, p POINT SRID 4326, g GEOMETRY, l LINESTRING, mp MULTIPOLYGON, gc GEOMETRYCOLLECTION, v VECTOR(3), w VECTOR)
/*!*/;
DELIMITER ;
-- mysql97-rows:2189 179a550d-e6c1-11f1-bc77-02fc00000001:6
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE parted (id INT PRIMARY KEY, n INT) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)
/*!*/;
DELIMITER ;
-- mysql97-rows:2505 179a550d-e6c1-11f1-bc77-02fc00000001:7
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE `keyless` (
  `my_row_id` bigint unsigned NOT NULL AUTO_INCREMENT /*!80023 INVISIBLE */,
  `n` int DEFAULT NULL,
  PRIMARY KEY (`my_row_id`)
)
/*!*/;
DELIMITER ;
-- mysql97-rows:3333 179a550d-e6c1-11f1-bc77-02fc00000001:8
SET NAMES utf8mb4, time_zone='+00:00', sql_mode='STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', timestamp=DEFAULT;
SET foreign_key_checks=0, unique_checks=1;
BEGIN;
INSERT INTO `d`.`numbers` (`id`,`a`,`b`,`c`,`e`,`f`,`g`,`h`,`i`,`j`,`k`,`l`,`m`) VALUES (1,-1,65535,-8388608,4294967295,-9223372036854775808,-123456789012345.12345,9999999999,1.5,-2.25,1,4097,2024);
INSERT INTO `d`.`numbers` (`id`,`a`,`b`,`c`,`e`,`f`,`g`,`h`,`i`,`j`,`k`,`l`,`m`) VALUES (18446744073709551614,127,0,8388607,0,9223372036854775807,0.00001,0,-1.0000000150474662e30,1e300,0,0,0);
INSERT INTO `d`.`numbers` (`id`,`a`,`b`,`c`,`e`,`f`,`g`,`h`,`i`,`j`,`k`,`l`,`m`) VALUES (5,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
COMMIT;
-- mysql97-rows:4391 179a550d-e6c1-11f1-bc77-02fc00000001:9
BEGIN;
INSERT INTO `d`.`texts` (`a`,`b`,`c`,`e`,`f`,`g`,`h`,`i`,`j`,`k`,`l`) VALUES (x'4dfc6c6c6572','Grüße',x'0001020304',x'ff','tiny','text',x'00ff','longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong',3,5,'wide');
INSERT INTO `d`.`texts` (`a`,`b`,`c`,`e`,`f`,`g`,`h`,`i`,`j`,`k`,`l`) VALUES ('','',x'0000000000','','','','','',1,0,'');
COMMIT;
-- mysql97-rows:5040 179a550d-e6c1-11f1-bc77-02fc00000001:10
BEGIN;
INSERT INTO `d`.`times` (`id`,`a`,`b`,`c`,`e`,`f`,`g`,`h`,`hidden`) VALUES (1,'2024-02-29','-838:59:59','12:34:56.789','9999-12-31 23:59:59','1000-01-01 00:00:00.000001','2023-11-14 22:13:20','2023-11-14 22:13:20.1234',3);
INSERT INTO `d`.`times` (`id`,`a`,`b`,`c`,`e`,`f`,`g`,`h`,`hidden`) VALUES (2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,3);
COMMIT;
-- mysql97-rows:5969 179a550d-e6c1-11f1-bc77-02fc00000001:11
BEGIN;
INSERT INTO `d`.`others` (`id`,`doc`,`second`,`p`,`g`,`l`,`mp`,`gc`,`v`,`w`) VALUES (1,'{"a": [1, 2, {"b": null}], "c": "text", "d": 1.5, "e": true, "f": -70000, "g": 5000000000}','[1]',x'e610000001010000000000000000000040000000000000f03f',x'00000000010100000000000000000008400000000000001040',x'0000000001020000000200000000000000000000000000000000000000000000000000f03f000000000000f03f',NULL,NULL,x'0000803f0000004000004040',x'0000003f');
COMMIT;
-- mysql97-rows:6342 179a550d-e6c1-11f1-bc77-02fc00000001:12
BEGIN;
INSERT INTO `d`.`keyless` (`my_row_id`,`n`) VALUES (1,1);
INSERT INTO `d`.`keyless` (`my_row_id`,`n`) VALUES (2,2);
COMMIT;
-- mysql97-rows:6746 179a550d-e6c1-11f1-bc77-02fc00000001:13
BEGIN;
INSERT INTO `d`.`parted` (`id`,`n`) VALUES (1,1);
INSERT INTO `d`.`parted` (`id`,`n`) VALUES (20,2);
COMMIT;
-- mysql97-rows:7121 179a550d-e6c1-11f1-bc77-02fc00000001:14
BEGIN;
UPDATE `d`.`parted` SET `id`=30 WHERE `id`=1;
COMMIT;
-- mysql97-rows:7469 179a550d-e6c1-11f1-bc77-02fc00000001:15
BEGIN;
DELETE FROM `d`.`parted` WHERE `id`=20;
COMMIT;
-- mysql97-rows:7991 179a550d-e6c1-11f1-bc77-02fc00000001:16
BEGIN;
UPDATE `d`.`numbers` SET `a`=0 WHERE `id`=1;
COMMIT;
-- mysql97-rows:8411 179a550d-e6c1-11f1-bc77-02fc00000001:17
BEGIN;
UPDATE `d`.`times` SET `a`='2024-03-01', `hidden`=4 WHERE `id`=1;
COMMIT;
-- mysql97-rows:8894 179a550d-e6c1-11f1-bc77-02fc00000001:18
BEGIN;
UPDATE `d`.`texts` SET `i`='short' WHERE `a`=_latin1 x'4dfc6c6c6572' AND `b`='Grüße' LIMIT 1;
COMMIT;
-- mysql97-rows:9267 179a550d-e6c1-11f1-bc77-02fc00000001:19
BEGIN;
DELETE FROM `d`.`times` WHERE `id`=2;
COMMIT;
-- mysql97-rows:9643 179a550d-e6c1-11f1-bc77-02fc00000001:20
BEGIN;
INSERT INTO `d`.`times` (`id`) VALUES (3);
COMMIT;
-- mysql97-rows:10164 179a550d-e6c1-11f1-bc77-02fc00000001:21
BEGIN;
UPDATE `d`.`texts` SET `a`=x'4d65696572' WHERE `a`=_latin1 x'4dfc6c6c6572' AND `b`='Grüße' AND `c`=x'0001020304' AND `e`=x'ff' AND `j`=3 AND `k`=5 AND `l`='wide' LIMIT 1;
COMMIT;
-- mysql97-rows:10601 179a550d-e6c1-11f1-bc77-02fc00000001:22
SET foreign_key_checks=0, unique_checks=0;
BEGIN;
DELETE FROM `d`.`texts` WHERE `a`='' AND `b`='' AND `c`=x'0000000000' AND `e`='' AND `j`=1 AND `k`=0 AND `l`='' LIMIT 1;
COMMIT;
-- mysql97-rows:11484 179a550d-e6c1-11f1-bc77-02fc00000001:23
SET foreign_key_checks=0, unique_checks=1;
BEGIN;
UPDATE `d`.`others` SET `doc`=JSON_REPLACE(JSON_REPLACE(`doc`,'$.c',CAST('"other"' AS JSON)),'$.a[1]',CAST('5' AS JSON)), `second`=`second` WHERE `id`=1;
COMMIT;
-- mysql97-rows:12414 179a550d-e6c1-11f1-bc77-02fc00000001:24
BEGIN;
UPDATE `d`.`others` SET `doc`=JSON_REMOVE(`doc`,'$.a[2]'), `second`='[1, {"x": 1}]' WHERE `id`=1;
COMMIT;
-- mysql97-rows:13323 179a550d-e6c1-11f1-bc77-02fc00000001:25
BEGIN;
UPDATE `d`.`others` SET `doc`=`doc`, `second`=JSON_REPLACE(`second`,'$[0]',CAST('"2024-01-01"' AS JSON)) WHERE `id`=1;
COMMIT;
-- mysql97-rows:14248 179a550d-e6c1-11f1-bc77-02fc00000001:26
BEGIN;
UPDATE `d`.`others` SET `doc`=JSON_REPLACE(JSON_INSERT(`doc`,'$.new',CAST('"n"' AS JSON)),'$.d',CAST('2.5' AS JSON)), `second`='{}' WHERE `id`=1;
COMMIT;
-- mysql97-rows:14670 179a550d-e6c1-11f1-bc77-02fc00000001:27
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE mixed (id INT PRIMARY KEY, a VARCHAR(9) CHARACTER SET latin1, g GEOMETRY, b VARCHAR(9) COLLATE utf8mb4_bin, v VECTOR(2),
  c VARCHAR(9) COLLATE latin1_german2_ci, j JSON, d VARCHAR(9) CHARACTER SET ascii, k VARBINARY(9), t TEXT COLLATE utf8mb4_bin)
/*!*/;
DELIMITER ;
-- mysql97-rows:15068 179a550d-e6c1-11f1-bc77-02fc00000001:28
SET NAMES utf8mb4, time_zone='+00:00', sql_mode='STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', timestamp=DEFAULT;
SET foreign_key_checks=0, unique_checks=1;
BEGIN;
INSERT INTO `d`.`mixed` (`id`,`a`,`g`,`b`,`v`,`c`,`j`,`d`,`k`,`t`) VALUES (1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
COMMIT;
-- ERROR the names of the columns of d.mixed are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.numbers are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.texts are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.others are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.made_from are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.numbers are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
