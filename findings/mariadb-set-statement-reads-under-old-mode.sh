#!/usr/bin/env bash
# SET STATEMENT with an sql_mode that changes how a statement is read.
# Guess: the statement is read under that mode.
# Seen with MariaDB 11.8: it is read under the session's mode, and executed under the new one: `||` is OR, REAL is DOUBLE.
. "$(dirname "$0")/server.sh"
maria118
seen '|| is OR' '1' "$(sql "SET STATEMENT sql_mode = 'PIPES_AS_CONCAT' FOR SELECT '1' || '2'")"
seen 'with SET it is not' '12' "$(sql "SET sql_mode = 'PIPES_AS_CONCAT'; SELECT '1' || '2'")"
sql "CREATE DATABASE d; SET STATEMENT sql_mode = 'REAL_AS_FLOAT' FOR CREATE TABLE d.t (a REAL)"
seen 'the type of REAL' 'double' "$(sql "SELECT data_type FROM information_schema.columns WHERE table_schema = 'd'")"
