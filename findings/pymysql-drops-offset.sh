#!/usr/bin/env bash
# PyMySQL: a datetime with a time zone as a parameter for a TIMESTAMP column.
# Guess: its offset is sent with it (MySQL takes '2024-01-01 00:00:00+05:00' since 8.0.19), or the driver refuses it; the instant holds.
# Seen with PyMySQL 1.2.4 and MySQL 9.7.4: the offset is left out without a word; what is stored is five hours late.
. "$(dirname "$0")/server.sh"
. "$(dirname "$0")/python.sh"
mysql97 --default-time-zone=+00:00
python_with PyMySQL==1.2.4
seen 'sent by the driver, and as text' '2024-01-01 00:00:00 2023-12-31 19:00:00' "$(python '
import datetime, pymysql
cursor = pymysql.connect(unix_socket=socket, user="root").cursor()
at = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))
cursor.execute("CREATE DATABASE d")
cursor.execute("CREATE TABLE d.t (driver TIMESTAMP, text TIMESTAMP)")
cursor.execute("INSERT INTO d.t VALUES (%s, %s)", (at, at.isoformat(" ")))
cursor.execute("SELECT * FROM d.t")
print(*cursor.fetchone())
')"
