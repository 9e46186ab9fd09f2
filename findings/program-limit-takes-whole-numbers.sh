#!/usr/bin/env bash
# A variable of a stored procedure behind LIMIT, that is a whole number in a type that is none: YEAR, BIT, DECIMAL(5,0).
# Guess: the procedure is made, and the value is converted or refused when it runs.
# Seen with MySQL 9.7.4: error 1064 while it is made, also for YEAR and BIT, with the text from the variable on, as if the word could not stand there at all; TINYINT is taken. (MariaDB 11.8.9
# says 1691 for DECIMAL, and takes YEAR and BIT.)
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d'
made() {
    sql "CREATE PROCEDURE d.p_$2() BEGIN DECLARE v $1; SET v = 1; SELECT 1 LIMIT v; END" --delimiter=// | sed -n 's/^\(ERROR [0-9]* ([0-9A-Z]*)\).*\(near .*\)/\1 \2/p'
}
for type in 'TINYINT tiny' 'BIGINT big'; do seen "$type" '' "$(made $type)"; done
for type in 'YEAR year' 'BIT(8) bit' 'DECIMAL(5,0) dec' 'VARCHAR(5) text'; do
    seen "$type" "ERROR 1064 (42000) near 'v; END' at line 1" "$(made $type)"
done
