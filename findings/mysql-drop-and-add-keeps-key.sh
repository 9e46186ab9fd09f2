#!/usr/bin/env bash
# ALTER TABLE … DROP COLUMN a, ADD COLUMN a …: a new column under the old one's name, in one statement.
# Guess: keys lose the dropped column, as with DROP COLUMN alone: PRIMARY KEY (a, b) becomes (b), KEY (a) goes.
# Seen with MySQL 9.7.4: the values are new (all 0), but every key has the new column in the old one's place.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; CREATE TABLE d.t (a INT, b INT, PRIMARY KEY (a, b), KEY by_a (a)); INSERT INTO d.t VALUES (7, 1), (8, 2)'
keys="SELECT INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'd' ORDER BY 1, 2"
seen 'the statement' '' "$(sql 'ALTER TABLE d.t DROP COLUMN a, ADD COLUMN a INT NOT NULL')"
seen 'keys' $'by_a\t1\ta\nPRIMARY\t1\ta\nPRIMARY\t2\tb' "$(sql "$keys")"
seen 'rows' $'1\t0\n2\t0' "$(sql 'SELECT b, a FROM d.t ORDER BY b')"
sql 'CREATE DATABASE e; CREATE TABLE e.t (a INT, b INT, PRIMARY KEY (a, b), KEY by_a (a)); ALTER TABLE e.t DROP COLUMN a'
seen 'keys after DROP COLUMN alone' $'PRIMARY\t1\tb' "$(sql "${keys/\'d\'/\'e\'}")"
