"""Makes the tables and the queries of TPC-DS with DuckDB, which has the generator and the 99 texts in it, for MySQL's dialect.

tpcds.py FOLDER SCALE

FOLDER gets `schema.sql`, a definition a line; `TABLE.rows`, a row in parentheses a line, for each table; and `N.sql`, for each query.

What a query is rewritten for is all in REWRITES, and in `without_full_join`.
"""

import datetime
import decimal
import pathlib
import re
import sys

import duckdb

# Tables of facts, whose primary key is of several columns. Each of their other keys to another table gets an index.
FACTS = {
    "catalog_returns": ["cr_item_sk", "cr_order_number"],
    "catalog_sales": ["cs_item_sk", "cs_order_number"],
    "inventory": ["inv_date_sk", "inv_item_sk", "inv_warehouse_sk"],
    "store_returns": ["sr_item_sk", "sr_ticket_number"],
    "store_sales": ["ss_item_sk", "ss_ticket_number"],
    "web_returns": ["wr_item_sk", "wr_order_number"],
    "web_sales": ["ws_item_sk", "ws_order_number"],
}

# Lengths that texts have in the specification; a column gets the first into which its longest value fits.
LENGTHS = [1, 2, 10, 16, 20, 50, 100, 200]

# Pattern, what stands in its place, and why.
REWRITES = [
    # Ascending order has them first. Of descending keys they are last in MySQL; the specification does not say where they are.
    (r"\s+NULLS FIRST\b", ""),
    # Names in double quotes are strings.
    (r'"([^"]+)"', r"`\1`"),
    # The form that both peers know.
    (r"\bGROUP BY ROLLUP\s*\(([^()]*)\)", r"GROUP BY \1 WITH ROLLUP"),
    # A date plus a number is a number.
    (r"(\w+\.d_date) \+ (\d+)", r"\1 + INTERVAL \2 DAY"),
    # A function's parenthesis follows its name at once.
    (r"\b(CAST|SUM) \(", r"\1("),
    (r"\bAS int\)", "AS SIGNED)"),
    # All columns behind others need a table's name.
    (r", \* FROM (\w+)", r", \1.* FROM \1"),
    # Aliases of tables may differ by their letters' case; query 49 has one in both.
    (r"\bCATALOG\b(?= WHERE)", "catalog"),
    (r";\s*$", ""),
]

FULL_JOIN = re.compile(r"FROM (\w+)(?: (\w+))?\s+FULL OUTER JOIN (\w+)(?: (\w+))? ON \(([^()]*)\)")


def without_full_join(query):
    """MySQL has no FULL OUTER JOIN: the rows of a LEFT JOIN, and those of the right table that join none."""
    found = FULL_JOIN.search(query)
    if not found:
        return query
    left_table, left, right_table, right, condition = found.groups()
    left, right = left or left_table, right or right_table
    qualified = re.compile(rf"\b({left}|{right})\.(\w+)")
    before, behind = query[: found.start()], query[found.end() :]
    columns = sorted(set(qualified.findall(before + behind)))
    selected = ", ".join(f"{table}.{column} AS {table}_{column}" for table, column in columns)
    key = re.search(rf"\b{left}\.\w+", condition).group()
    first, second = f"{left_table} {left}", f"{right_table} {right}"
    joined = (
        f"FROM (SELECT {selected} FROM {first} LEFT JOIN {second} ON ({condition})"
        f" UNION ALL SELECT {selected} FROM {second} LEFT JOIN {first} ON ({condition}) WHERE {key} IS NULL) joined"
    )
    renamed = [qualified.sub(r"joined.\1_\2", part) for part in (before, behind)]
    return renamed[0] + joined + renamed[1]


def in_mysql(query):
    """A query in MySQL's dialect, on one line."""
    query = " ".join(re.sub(r"--[^\n]*", "", query).split())
    for pattern, replacement in REWRITES:
        query = re.sub(pattern, replacement, query, flags=re.IGNORECASE)
    return without_full_join(query)


def literal(value):
    """What an INSERT says of a value."""
    if value is None:
        return "NULL"
    if isinstance(value, (int, decimal.Decimal)):
        return str(value)
    if isinstance(value, datetime.date):
        return f"'{value}'"
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def definition(source, table):
    """A table's definition: DuckDB's columns, with keys, and with lengths of texts."""
    columns = source.execute(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index", [table]
    ).fetchall()
    primary = FACTS.get(table, [columns[0][0]])
    parts = []
    for name, kind in columns:
        if kind == "VARCHAR":
            longest = source.execute(f"SELECT COALESCE(MAX(LENGTH({name})), 1) FROM {table}").fetchone()[0]
            kind = f"VARCHAR({next(length for length in LENGTHS if length >= longest)})"
        parts.append(f"{name} {kind}" + (" NOT NULL" if name in primary else ""))
    parts.append(f"PRIMARY KEY ({', '.join(primary)})")
    if table in FACTS:
        parts += [f"KEY ({name})" for name, _ in columns if name.endswith("_sk") and name != primary[0]]
    return f"CREATE TABLE {table} ({', '.join(parts)})"


def write_table(source, table, folder):
    """A table's rows."""
    rows = source.execute(f"SELECT * FROM {table}")
    with open(folder / f"{table}.rows", "w", encoding="utf-8") as file:
        while batch := rows.fetchmany(10_000):
            file.writelines("(" + ",".join(map(literal, row)) + ")\n" for row in batch)


def main():
    folder, scale = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    source = duckdb.connect()
    source.execute(f"CALL dsdgen(sf={scale})")
    tables = [name for (name,) in source.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
    (folder / "schema.sql").write_text("\n".join(definition(source, table) for table in tables) + "\n")
    for table in tables:
        write_table(source, table, folder)
    for number, query in source.execute("SELECT query_nr, query FROM tpcds_queries() ORDER BY 1").fetchall():
        (folder / f"{number}.sql").write_text(in_mysql(query))


main()
