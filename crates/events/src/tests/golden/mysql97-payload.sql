-- mysql97-payload:334 1ae4545a-e6c1-11f1-9642-02fc00000001:1
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE DATABASE d
/*!*/;
DELIMITER ;
-- mysql97-payload:545 1ae4545a-e6c1-11f1-9642-02fc00000001:2
USE `d`;
SET timestamp=1700000000, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, character_set_client=255, collation_connection=255, collation_server=255;
/*!50700 SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */;
/*M!100401 SET sql_mode=18347982880 */;
/*!80011 SET default_collation_for_utf8mb4=255 */;
DELIMITER /*!*/;
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(2000))
/*!*/;
DELIMITER ;
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
-- ERROR the names of the columns of d.t are not known: the source's log does not have them (binlog_row_metadata=FULL), and the source does not have a table of as many columns
