"""Reads a server's log with python-mysql-replication, from a file's beginning or behind a GTID set, and prints it: an object a line."""

import json
import sys

from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.event import GtidEvent, QueryEvent, XidEvent
from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent


def plain(value):
    """What JSON can say."""
    if isinstance(value, bytes):
        return "x" + value.hex()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def shown(event):
    """An event as objects: one, or one for each row."""
    if isinstance(event, GtidEvent):
        return [{"gtid": event.gtid}]
    if isinstance(event, QueryEvent):
        return [{"query": event.query}]
    if isinstance(event, XidEvent):
        return [{"xid": True}]
    kind, table = type(event).__name__.removesuffix("Event"), f"{event.schema}.{event.table}"
    return [{"row": kind, "table": table, "values": plain(row)} for row in event.rows]


def main():
    """`read_log.py PORT file FILE` or `read_log.py PORT gtids SET`"""
    port, how, start = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    begin = {"auto_position": start} if how == "gtids" else {"log_file": start, "log_pos": 4, "resume_stream": True}
    stream = BinLogStreamReader(
        connection_settings={"host": "127.0.0.1", "port": port, "user": "root", "passwd": ""},
        server_id=4711,
        blocking=False,
        only_events=[GtidEvent, QueryEvent, XidEvent, DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent],
        **begin,
    )
    for event in stream:
        for thing in shown(event):
            print(json.dumps(thing, sort_keys=True))
    stream.close()


main()
