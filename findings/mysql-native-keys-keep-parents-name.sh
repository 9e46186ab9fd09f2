#!/usr/bin/env bash
# innodb_native_foreign_keys = ON, the way that rows of a replicated log without 9.7's own flag take, too: a parent is renamed by the
# ALTER TABLE that also builds it anew, then its child gets a row.
# Guess: the row is stored; RENAME TO is RENAME TABLE, alone or beside other clauses.
# Seen with MySQL 9.7.4: RENAME TO alone, beside an index, and beside a column that is added in no time, lets the row in. Beside FORCE, both or a
# copy it is refused with 1452, by the parent's old name, while SHOW CREATE TABLE has the new one. With the setting's default, OFF, all are stored.
. "$(dirname "$0")/server.sh"
mysql97 --innodb-native-foreign-keys=ON
after() {
    sql "DROP DATABASE IF EXISTS d; CREATE DATABASE d; USE d; CREATE TABLE p (id INT PRIMARY KEY)
        ; CREATE TABLE c (p INT, FOREIGN KEY (p) REFERENCES p (id)); INSERT INTO p VALUES (1)
        ; ALTER TABLE p $1 RENAME TO q; INSERT INTO c VALUES (1)" | cut -c1-18
}
seen 'RENAME TO alone' '' "$(after '')"
seen 'beside a column' '' "$(after 'ADD x INT,')"
seen 'beside an index' '' "$(after 'ADD KEY (id),')"
seen 'beside both' 'ERROR 1452 (23000)' "$(after 'ADD x INT, ADD KEY (x),')"
seen 'beside FORCE' 'ERROR 1452 (23000)' "$(after 'FORCE,')"
seen 'beside a copy' 'ERROR 1452 (23000)' "$(after 'ADD x INT, ALGORITHM=COPY,')"
seen 'the parent' 'q' "$(sql "SELECT REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS")"
