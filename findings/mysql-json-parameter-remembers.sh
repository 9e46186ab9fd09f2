#!/usr/bin/env bash
# PREPARE … WHERE JSON_EXTRACT(j, '$.n') = ?, executed with the text '123' where the document has the number 123.
# Guess: the same answer each time.
# Seen with MySQL 9.7.4: no row; after one EXECUTE with the integer 123 the same text finds the row.
. "$(dirname "$0")/server.sh"
mysql97
table="CREATE DATABASE d; USE d; CREATE TABLE t (j JSON); INSERT INTO t VALUES ('{\"n\": 123}')"
ask="PREPARE p FROM 'SELECT COUNT(*) FROM t WHERE JSON_EXTRACT(j, \"\$.n\") = ?'"
seen 'text, integer, text' $'0\n1\n1' "$(sql "$table; $ask; SET @text = '123', @number = 123; EXECUTE p USING @text; EXECUTE p USING @number; EXECUTE p USING @text")"
