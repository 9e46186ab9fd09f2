#!/usr/bin/env bash
# MySQL's Connector/Python in plain Python: negative TIME values, read by an ordinary cursor and by one with prepared=True.
# Guess: the same value both ways; the binary form of TIME has a byte for the sign.
# Seen with mysql-connector-python 26.10.0 and MySQL 9.7.4: the prepared cursor puts the sign on the days alone: '-00:00:01' is a
# second after zero, and '-25:00:00' is 23 hours before it.
. "$(dirname "$0")/server.sh"
. "$(dirname "$0")/python.sh"
mysql97
python_with mysql-connector-python==26.10.0
seen 'text, prepared' $'-1.0 1.0\n-90000.0 -82800.0' "$(python '
import mysql.connector
connection = mysql.connector.connect(unix_socket=socket, user="root", use_pure=True)
for value in ["-00:00:01", "-25:00:00"]:
    seconds = []
    for options in [{}, {"prepared": True}]:
        cursor = connection.cursor(**options)
        cursor.execute("SELECT TIME\x27" + value + "\x27")
        seconds.append(cursor.fetchone()[0].total_seconds())
        cursor.close()
    print(*seconds)
')"
