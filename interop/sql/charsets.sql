-- Text has the bytes of its own character set. (The scripts are UTF-8: under latin1 each of their bytes is a character.)
SET NAMES latin1
SELECT LENGTH('é'), CHAR_LENGTH('é'), BIT_LENGTH('é'), OCTET_LENGTH('é€'), HEX('é'), ASCII('é'), ORD('é'), CRC32('é'), TO_BASE64('é'), SHA2('é', 256)
SELECT HEX(CAST('é' AS BINARY)), HEX(CAST('é' AS BINARY(5))), HEX(CONVERT('é' USING binary)), HEX(CONVERT('é' USING utf8mb4)), HEX(CONVERT('é' USING latin1))
SELECT HEX(CAST(x'E9' AS CHAR)), CAST(x'E9' AS CHAR) = _utf8mb4 x'C3A9', HEX(CONVERT(x'C3A9' USING utf8mb4))
SELECT 'é' = x'C3A9', x'C3A9' = 'é', 'é' IN (1, x'C3A9'), x'C3A9' IN ('a', 'é'), 'é' BETWEEN x'C3A9' AND x'C3A9', 'é' LIKE x'C3A9', 'é' LIKE CONCAT(x'C3', '%')
SELECT HEX(CONCAT('é', x'00')), HEX(CONCAT_WS(x'00', 'é', 'a')), REPLACE(x'C3A900', 'é', 'a') = x'6100', LOCATE('é', x'00C3A9'), INSTR(x'00C3A9', 'é'), HEX(LPAD(x'00', 4, 'é')), HEX(TRIM('é' FROM x'C3A900C3A9')), HEX(INSERT(x'0000', 1, 1, 'é')), FIND_IN_SET(x'C3A9', 'a,é'), FIELD(x'C3A9', 'a', 'é')
SELECT HEX(IF(1, 'é', x'00')), HEX(IFNULL(NULL, IF(1, 'é', x'00'))), HEX(COALESCE('é', x'00')), HEX(CASE 1 WHEN 1 THEN 'é' ELSE x'00' END)
SELECT HEX(a) FROM (SELECT 'é' AS a UNION ALL SELECT x'E9') AS u
CREATE TABLE c (id INT PRIMARY KEY, l VARCHAR(20) CHARACTER SET latin1, u VARCHAR(20) CHARACTER SET utf8mb4, b VARBINARY(4), bl BLOB, f BINARY(4))
INSERT INTO c VALUES (1, 'é', 'é', 'é', 'é', 'é')
INSERT INTO c SET id = 2, l = 'é', b = CONCAT('é', 'a'), bl = l, f = NULL
INSERT INTO c SELECT 3, l, l, l, l, l FROM c WHERE id = 1
INSERT INTO c SELECT 4, 'é', 'é', 'é', CONCAT('é', 'é'), 'é'
INSERT INTO c VALUES (5, 'ééé', 'é', 'ééé', 'é', 'é')
UPDATE c SET b = l, bl = CONCAT(l, l) WHERE id = 3
INSERT INTO c VALUES (1, 'é', 'é', 'é', 'é', 'é') ON DUPLICATE KEY UPDATE b = CONCAT(l, 'x'), bl = VALUES(l)
SELECT id, HEX(l), HEX(u), HEX(b), HEX(bl), HEX(f), LENGTH(l), LENGTH(u), l = b, b = l, l = u FROM c ORDER BY id
SELECT HEX(GROUP_CONCAT(b ORDER BY id SEPARATOR 'é')), HEX(GROUP_CONCAT(l ORDER BY id SEPARATOR 'é')), HEX(GROUP_CONCAT(l, x'00' ORDER BY id SEPARATOR 'é')) FROM c
CREATE TABLE c2 (id INT PRIMARY KEY, f BINARY(3) DEFAULT 'é', v VARBINARY(9) DEFAULT 'éé', l VARCHAR(9) CHARACTER SET latin1 DEFAULT 'é')
INSERT INTO c2 (id) VALUES (1)
ALTER TABLE c2 ADD g VARBINARY(3) NOT NULL DEFAULT 'é', ALTER COLUMN v SET DEFAULT 'é'
INSERT INTO c2 (id) VALUES (2)
SELECT id, HEX(f), HEX(v), HEX(l), HEX(g) FROM c2 ORDER BY id
DROP TABLE c2
SELECT id, l, u FROM c ORDER BY id
SELECT COUNT(*) FROM c WHERE l = x'C3A9'
SELECT COUNT(*) FROM c WHERE b = l
SELECT LEFT(HEX(GROUP_CONCAT(l, b ORDER BY id)), 99) FROM c
SELECT HEX(MAX(l)), HEX(MIN(b)), LENGTH(MAX(l)) FROM c
SET @a = 'é'
SELECT LEFT(HEX(@a), 8), LENGTH(@a), CHARSET(@a), @a = x'C3A9'
SET NAMES utf8mb4
SELECT LEFT(HEX(@a), 8), LENGTH(@a), LEFT(@a, 3)
SELECT id, HEX(l), LENGTH(l), l, HEX(CONCAT(l, 'é')), HEX(CONCAT(l, x'00')), l = 'é' FROM c ORDER BY id
SELECT HEX(CONVERT('日é€' USING latin1)), LENGTH(CONVERT('é' USING latin1)), CONVERT('日' USING latin1)
SELECT HEX(_latin1'é'), LENGTH(_latin1 x'E9'), HEX(CAST(_latin1 x'E9' AS BINARY)), _latin1 x'E9' = 'é', HEX(CAST(_latin1 x'E9' AS CHAR))
SET character_set_results = NULL
SELECT id, l, u, 'é', _latin1 x'E9' FROM c ORDER BY id
SET character_set_results = binary
SELECT 1, id, l, u, 'é', _latin1 x'E9' FROM c ORDER BY id
SET NAMES binary
SELECT LENGTH('é'), CHARSET('a'), HEX('é'), HEX(_latin1'é'), HEX(_utf8mb4'é'), CHAR_LENGTH(_utf8mb4'é'), HEX(_binary'é'), CONCAT('é', 'a')
INSERT INTO c VALUES (6, 'é', 'é', 'é', 'é', 'é')
SELECT id, l, u, HEX(l), HEX(u), HEX(b) FROM c WHERE id = 6
SELECT * FROM c WHERE nosuch = 'é'
SET NAMES latin1
SELECT * FROM c WHERE `é` = 1
SELECT l AS `é`, _utf8mb4'é' AS u, _latin1'é', HEX(_utf8mb4'é'), HEX(_binary'é'), _binary'12' + 0 FROM c WHERE id = 6
INSERT INTO c VALUES (6, 'é', 'é', 'é', 'é', 'é')
SELECT HEX(N'é')
SET NAMES utf8mb4
SELECT HEX(N'é')
SELECT HEX(_latin1'é'), HEX(_binary'é'), _latin1'é' = 'Ã©', HEX(_latin1'\'\\é')
ALTER TABLE c MODIFY l VARBINARY(20)
SELECT id, HEX(l) FROM c ORDER BY id
ALTER TABLE c MODIFY l VARCHAR(20) CHARACTER SET latin1
SELECT id, HEX(l), l FROM c ORDER BY id
ALTER TABLE c MODIFY l VARCHAR(20) CHARACTER SET utf8mb4
SELECT id, HEX(l), l FROM c ORDER BY id
DROP TABLE c
-- GROUP_CONCAT is as strong as its columns.
SET NAMES utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE joined (a VARCHAR(20) COLLATE utf8mb4_0900_ai_ci, b VARBINARY(5));
INSERT INTO joined VALUES ('John', 'x'), ('Anna', 'y');
SELECT 1 FROM joined HAVING GROUP_CONCAT(a ORDER BY a SEPARATOR '||') LIKE '%An%';
SELECT GROUP_CONCAT(a ORDER BY a) = 'x', COERCIBILITY(GROUP_CONCAT(a)), COERCIBILITY(GROUP_CONCAT('x')), COERCIBILITY(GROUP_CONCAT(1)), COERCIBILITY(GROUP_CONCAT(a, 'x')), COERCIBILITY(GROUP_CONCAT(b)), COLLATION(GROUP_CONCAT('x')) = 'utf8mb4_general_ci', COLLATION(GROUP_CONCAT(1)) = 'utf8mb4_general_ci' FROM joined;
SELECT x = 'a' FROM (SELECT GROUP_CONCAT(a ORDER BY a) x FROM joined) d;
DROP TABLE joined;
SET NAMES utf8mb4;
-- Bytes of a parameter within an expression
CREATE TABLE bytes_of_params (y BLOB, t TEXT);
SET @bytes = x'ff80c3a9';
PREPARE p FROM 'INSERT INTO bytes_of_params (y) VALUES (LEFT(?, 3)), (CONCAT(?, 1))';
EXECUTE p USING @bytes, @bytes;
SET @bytes = 'äöü€';
EXECUTE p USING @bytes, @bytes;
PREPARE p FROM 'UPDATE bytes_of_params SET y = REVERSE(?), t = LEFT(?, 3)';
EXECUTE p USING @bytes, @bytes;
SELECT HEX(y), t FROM bytes_of_params;
DROP TABLE bytes_of_params;
