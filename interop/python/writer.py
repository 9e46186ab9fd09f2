"""Writes numbered transactions from many connections until the server goes away; prints what was acknowledged.

writer.py PORT CLIENTS SECONDS FIRST_RUN
Client c's transaction s inserts (c, s) and adds one to its counter: atomicity shows as count = maximum = counter,
and durability as maximum >= the last acknowledged s. One line per client at the end: "c acknowledged".
"""

import sys
import threading
import time

import pymysql

port, clients, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])


def connect():
    return pymysql.connect(host="127.0.0.1", port=port, user="root", database="kills", read_timeout=30)


def setup():
    connection = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS kills")
        cursor.execute("USE kills")
        cursor.execute("CREATE TABLE IF NOT EXISTS entries (client INT, seq INT, note VARCHAR(100), PRIMARY KEY (client, seq), KEY (note))")
        cursor.execute("CREATE TABLE IF NOT EXISTS counters (client INT PRIMARY KEY, n INT NOT NULL)")
        for client in range(clients):
            cursor.execute("INSERT IGNORE INTO counters VALUES (%s, 0)", (client,))
    connection.close()


acknowledged = {}


def write(client, until):
    try:
        connection = connect()
        cursor = connection.cursor()
        cursor.execute("SELECT n FROM counters WHERE client = %s", (client,))
        seq = cursor.fetchone()[0]
        connection.commit()
        acknowledged[client] = seq
        while time.monotonic() < until:
            seq += 1
            cursor.execute("INSERT INTO entries VALUES (%s, %s, %s)", (client, seq, "note %d" % (seq * 7919 % 1000)))
            cursor.execute("UPDATE counters SET n = n + 1 WHERE client = %s", (client,))
            connection.commit()
            acknowledged[client] = seq
    except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError):
        pass  # the server was killed, as it should be


setup()
print("ready", flush=True)
end = time.monotonic() + seconds
threads = [threading.Thread(target=write, args=(client, end)) for client in range(clients)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for client, seq in sorted(acknowledged.items()):
    print(client, seq)
