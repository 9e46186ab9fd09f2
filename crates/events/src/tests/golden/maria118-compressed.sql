-- maria118-compressed:445 0-1-1
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
-- maria118-compressed:676 0-1-2
USE `d`;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(2000), some_column_with_a_long_name INT, some_other_column_with_a_long_name INT) ENGINE=InnoDB
/*!*/;
DELIMITER ;
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- maria118-compressed:5981 0-1-9
BEGIN;
SET timestamp=1700000000, explicit_defaults_for_timestamp=1, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_server=utf8mb4;
/*M!100201 SET check_constraint_checks=1 */;
/*M!100502 SET sql_if_exists=0 */;
/*M!101100 SET system_versioning_insert_history=0 */;
/*!50700 SET sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_TRUNCATE_FRACTIONAL' */;
/*M!100401 SET sql_mode=1411383296 */;
/*M!100000 SET collation_connection=2304, collation_server=2304 */;
DELIMITER /*!*/;
INSERT INTO t (id, s) VALUES (5, 'a statement that says the same again and again, the same again and again, the same again and again')
/*!*/;
DELIMITER ;
COMMIT;
