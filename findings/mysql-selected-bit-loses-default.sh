#!/usr/bin/env bash
# CREATE TABLE … SELECT of columns with defaults and comments.
# Guess: the new columns have them, as the manual says of attributes that are kept.
# Seen with MySQL 9.7.4: all types have them but BIT, whose default is NULL, or b'0' with NOT NULL, and whose comment is gone.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; CREATE TABLE d.t (i INT DEFAULT 5 COMMENT 'i', y YEAR DEFAULT 2001 COMMENT 'y', b BIT(10) DEFAULT b'101' COMMENT 'b', n BIT NOT NULL DEFAULT b'1')
    ; CREATE TABLE d.u SELECT * FROM d.t"
seen 'the new columns' $'i\t5\ti\ny\t2001\ty\nb\tNULL\t\nn\tb\'0\'\t' "$(sql "SELECT column_name, column_default, column_comment FROM information_schema.columns WHERE table_schema = 'd' AND table_name = 'u' ORDER BY ordinal_position")"
