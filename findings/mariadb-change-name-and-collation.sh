#!/usr/bin/env bash
# ALTER TABLE … CHANGE that gives a column with an index another name and another collation of the same character set, and the same with one of both.
# Guess: the index is sorted anew wherever the collation is another.
# Seen with MariaDB 11.8: only if the name stays. With both the index stays in the old order; CHECK TABLE finds it corrupted, and a query by it is error 1712.
. "$(dirname "$0")/server.sh"
maria118
run() {
    sql "CREATE DATABASE IF NOT EXISTS d; USE d; DROP TABLE IF EXISTS t; CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, KEY k (c))
        ; INSERT INTO t VALUES (1, 'B'), (2, 'a'), (3, 'C'); ALTER TABLE t CHANGE c $1 VARCHAR(9) CHARACTER SET utf8mb4 COLLATE $2 ${3:-}
        ; CHECK TABLE t" | awk -F '\t' '{ print $3 ": " $4 }'
    sql "USE d; SELECT GROUP_CONCAT(id) FROM (SELECT id FROM t FORCE INDEX (k) ORDER BY $1 LIMIT 9) x" | sed 's/ at line.*//'
}
seen 'another name' $'status: OK\n1,3,2' "$(run d utf8mb4_bin)"
seen 'another collation' $'status: OK\n2,1,3' "$(run c utf8mb4_general_ci)"
seen 'both' $'Warning: InnoDB: The B-tree of index k is corrupted.\nerror: Corrupt\nERROR 1712 (HY000)' "$(run d utf8mb4_general_ci)"
seen 'both, ALGORITHM=COPY' $'status: OK\n2,1,3' "$(run d utf8mb4_general_ci ', ALGORITHM=COPY')"
