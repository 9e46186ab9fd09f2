#!/usr/bin/env bash
# session_track_transaction_info: STATE, then OFF in a transaction; what the server's OK packets say of the session's state.
# Guess: after SET … = OFF no OK packet has a transaction's state any more.
# Seen with MySQL 9.7.4: the SET itself and a DO are silent, but every later COMMIT and START TRANSACTION of the session is tracked on.
. "$(dirname "$0")/server.sh"
. "$(dirname "$0")/python.sh"
mysql97
python_with PyMySQL==1.2.4
seen 'tracked' 'True True False False True True True' "$(python '
import pymysql, pymysql.connections
packets = []
class Ok(pymysql.connections.OKPacketWrapper):
    def __init__(self, packet):
        packets.append(packet.get_all_data())
        super().__init__(packet)
pymysql.connections.OKPacketWrapper = Ok
SESSION_TRACK, STATE_CHANGED = 1 << 23, 0x4000
cursor = pymysql.connect(unix_socket=socket, user="root", client_flag=SESSION_TRACK).cursor()
packets.clear()
name = "SET session_track_transaction_info = "
for statement in [name + "STATE", "START TRANSACTION", name + "OFF", "DO 1", "COMMIT", "START TRANSACTION", "COMMIT"]:
    cursor.execute(statement)
print(*[bool(int.from_bytes(packet[3:5], "little") & STATE_CHANGED) for packet in packets])
')"
