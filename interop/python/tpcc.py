"""A TPC-C load with small tables, and its consistency conditions.

tpcc.py PORT load|run|check [WAREHOUSES] [CLIENTS] [SECONDS]

Tables, the five transactions and the mix follow the standard (clause 2); cardinalities are reduced (customers and
items per district), keying and thinking times are left out. `check` is clause 3.3.2, conditions 1 to 10 as far as
they can be told from the tables alone. Statements go as text and, in odd clients, as prepared statements.
"""

import random
import sys
import threading
import time

import mysql.connector
import pymysql

PORT = int(sys.argv[1])
ACTION = sys.argv[2]
WAREHOUSES = int(sys.argv[3]) if len(sys.argv) > 3 else 1
CLIENTS = int(sys.argv[4]) if len(sys.argv) > 4 else 8
SECONDS = float(sys.argv[5]) if len(sys.argv) > 5 else 5
DISTRICTS, CUSTOMERS, ITEMS, ORDERS = 10, 60, 1000, 60

SCHEMA = """
CREATE TABLE warehouse (w_id SMALLINT NOT NULL, w_name VARCHAR(10), w_street_1 VARCHAR(20), w_city VARCHAR(20), w_state CHAR(2), w_zip CHAR(9), w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2), PRIMARY KEY (w_id));
CREATE TABLE district (d_id TINYINT NOT NULL, d_w_id SMALLINT NOT NULL, d_name VARCHAR(10), d_tax DECIMAL(4,4), d_ytd DECIMAL(12,2), d_next_o_id INT, PRIMARY KEY (d_w_id, d_id));
CREATE TABLE customer (c_id INT NOT NULL, c_d_id TINYINT NOT NULL, c_w_id SMALLINT NOT NULL, c_first VARCHAR(16), c_middle CHAR(2), c_last VARCHAR(16), c_since DATETIME, c_credit CHAR(2), c_credit_lim DECIMAL(12,2), c_discount DECIMAL(4,4), c_balance DECIMAL(12,2), c_ytd_payment DECIMAL(12,2), c_payment_cnt SMALLINT, c_delivery_cnt SMALLINT, c_data TEXT, PRIMARY KEY (c_w_id, c_d_id, c_id), KEY idx_customer (c_w_id, c_d_id, c_last, c_first));
CREATE TABLE history (h_c_id INT, h_c_d_id TINYINT, h_c_w_id SMALLINT, h_d_id TINYINT, h_w_id SMALLINT, h_date DATETIME, h_amount DECIMAL(6,2), h_data VARCHAR(24));
CREATE TABLE new_orders (no_o_id INT NOT NULL, no_d_id TINYINT NOT NULL, no_w_id SMALLINT NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE orders (o_id INT NOT NULL, o_d_id TINYINT NOT NULL, o_w_id SMALLINT NOT NULL, o_c_id INT, o_entry_d DATETIME, o_carrier_id TINYINT, o_ol_cnt TINYINT, o_all_local TINYINT, PRIMARY KEY (o_w_id, o_d_id, o_id), KEY idx_orders (o_w_id, o_d_id, o_c_id, o_id));
CREATE TABLE order_line (ol_o_id INT NOT NULL, ol_d_id TINYINT NOT NULL, ol_w_id SMALLINT NOT NULL, ol_number TINYINT NOT NULL, ol_i_id INT, ol_supply_w_id SMALLINT, ol_delivery_d DATETIME, ol_quantity TINYINT, ol_amount DECIMAL(6,2), ol_dist_info CHAR(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number), KEY idx_order_line (ol_supply_w_id, ol_i_id));
CREATE TABLE item (i_id INT NOT NULL, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50), PRIMARY KEY (i_id));
CREATE TABLE stock (s_i_id INT NOT NULL, s_w_id SMALLINT NOT NULL, s_quantity SMALLINT, s_dist_01 CHAR(24), s_ytd DECIMAL(8,0), s_order_cnt SMALLINT, s_remote_cnt SMALLINT, s_data VARCHAR(50), PRIMARY KEY (s_w_id, s_i_id));
"""

SYLLABLES = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"]


def last_name(number):
    return "".join(SYLLABLES[int(digit)] for digit in "%03d" % (number % 1000))


def connect(prepared=False, database="tpcc"):
    if prepared:
        return mysql.connector.connect(host="127.0.0.1", port=PORT, user="root", database=database, use_pure=True)
    return pymysql.connect(host="127.0.0.1", port=PORT, user="root", database=database)


def load():
    connection = connect(database=None)
    cursor = connection.cursor()
    cursor.execute("DROP DATABASE IF EXISTS tpcc")
    cursor.execute("CREATE DATABASE tpcc")
    cursor.execute("USE tpcc")
    for statement in SCHEMA.strip().split(";\n"):
        cursor.execute(statement.rstrip(";"))
    many = cursor.executemany
    many("INSERT INTO item VALUES (%s,%s,%s,%s,%s)", [(i, i, "item %d" % i, "%.2f" % random.uniform(1, 100), "data") for i in range(1, ITEMS + 1)])
    for w in range(1, WAREHOUSES + 1):
        cursor.execute("INSERT INTO warehouse VALUES (%s,'w','s','c','ST','123456789',0.1,300000)", (w,))
        many("INSERT INTO stock VALUES (%s,%s,%s,'d',0,0,0,'data')", [(i, w, random.randint(10, 100)) for i in range(1, ITEMS + 1)])
        for d in range(1, DISTRICTS + 1):
            cursor.execute("INSERT INTO district VALUES (%s,%s,'d',0.1,30000,%s)", (d, w, ORDERS + 1))
            many("INSERT INTO customer VALUES (%s,%s,%s,%s,'OE',%s,NOW(),'GC',50000,0.1,-10,10,1,0,%s)", [(c, d, w, "first%d" % c, last_name(c), "x" * 300) for c in range(1, CUSTOMERS + 1)])
            many("INSERT INTO history VALUES (%s,%s,%s,%s,%s,NOW(),%s,'h')", [(c, d, w, d, w, "%.2f" % (30000.0 / CUSTOMERS)) for c in range(1, CUSTOMERS + 1)])
            for o in range(1, ORDERS + 1):
                delivered = o <= ORDERS * 7 // 10
                lines = random.randint(5, 15)
                cursor.execute("INSERT INTO orders VALUES (%s,%s,%s,%s,NOW(),%s,%s,1)", (o, d, w, o, 1 if delivered else None, lines))
                many("INSERT INTO order_line VALUES (%s,%s,%s,%s,%s,%s,%s,5,%s,'info')", [(o, d, w, n, random.randint(1, ITEMS), w, "2026-01-01" if delivered else None, 0 if delivered else "%.2f" % random.uniform(1, 999)) for n in range(1, lines + 1)])
                if not delivered:
                    cursor.execute("INSERT INTO new_orders VALUES (%s,%s,%s)", (o, d, w))
        connection.commit()
    # h_amount per district must sum to d_ytd, and w_ytd to the sum of its districts.
    cursor.execute("UPDATE warehouse SET w_ytd = (SELECT SUM(d_ytd) FROM district WHERE d_w_id = w_id)")
    connection.commit()


class Client(threading.Thread):
    def __init__(self, number):
        super().__init__()
        self.number, self.random, self.counts, self.error = number, random.Random(number), {}, None

    def execute(self, sql, values=()):
        self.cursor.execute(sql, values)

    def rows(self, sql, values=()):
        self.cursor.execute(sql, values)
        return self.cursor.fetchall()

    def run(self):
        prepared = self.number % 2 == 1
        self.connection = connect(prepared)
        self.cursor = self.connection.cursor(prepared=True) if prepared else self.connection.cursor()
        end = time.monotonic() + SECONDS
        mix = [self.new_order] * 45 + [self.payment] * 43 + [self.order_status] * 4 + [self.delivery] * 4 + [self.stock_level] * 4
        while time.monotonic() < end:
            transaction = self.random.choice(mix)
            try:
                transaction(self.random.randint(1, WAREHOUSES), self.random.randint(1, DISTRICTS))
                self.count(transaction.__name__)
            except (pymysql.err.MySQLError, mysql.connector.Error) as error:
                code = error.args[0]
                if code not in (1020, 1205, 1213):  # 1020: MariaDB, under innodb_snapshot_isolation
                    self.error = "%s: %s" % (transaction.__name__, error)
                    return
                self.connection.rollback()
                self.count("retried")

    def count(self, name):
        self.counts[name] = self.counts.get(name, 0) + 1

    def new_order(self, w, d):
        c, lines = self.random.randint(1, CUSTOMERS), self.random.randint(5, 15)
        self.rows("SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse WHERE w_id = %s AND c_w_id = w_id AND c_d_id = %s AND c_id = %s", (w, d, c))
        next_id = int(self.rows("SELECT d_next_o_id, d_tax FROM district WHERE d_id = %s AND d_w_id = %s FOR UPDATE", (d, w))[0][0])
        self.execute("UPDATE district SET d_next_o_id = %s WHERE d_id = %s AND d_w_id = %s", (next_id + 1, d, w))
        self.execute("INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (%s,%s,%s,%s,NOW(),%s,1)", (next_id, d, w, c, lines))
        self.execute("INSERT INTO new_orders (no_o_id, no_d_id, no_w_id) VALUES (%s,%s,%s)", (next_id, d, w))
        items = sorted(self.random.sample(range(1, ITEMS + 1), lines))
        if self.random.randint(1, 100) == 1:
            self.rows("SELECT i_price FROM item WHERE i_id = %s", (ITEMS + 1,))
            self.connection.rollback()
            return
        for number, item in enumerate(items, 1):
            price = self.rows("SELECT i_price, i_name, i_data FROM item WHERE i_id = %s", (item,))[0][0]
            quantity, ordered = int(self.rows("SELECT s_quantity, s_data FROM stock WHERE s_i_id = %s AND s_w_id = %s FOR UPDATE", (item, w))[0][0]), self.random.randint(1, 10)
            left = quantity - ordered if quantity - ordered >= 10 else quantity - ordered + 91
            self.execute("UPDATE stock SET s_quantity = %s, s_ytd = s_ytd + %s, s_order_cnt = s_order_cnt + 1 WHERE s_i_id = %s AND s_w_id = %s", (left, ordered, item, w))
            self.execute("INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES (%s,%s,%s,%s,%s,%s,%s,%s,'info')", (next_id, d, w, number, item, w, ordered, str(price * ordered)))
        self.connection.commit()

    def customer(self, w, d):
        if self.random.randint(1, 100) <= 60:
            name = last_name(self.random.randint(1, CUSTOMERS))
            self.rows("SELECT COUNT(c_id) FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_last = %s", (w, d, name))
            found = self.rows("SELECT c_id FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_last = %s ORDER BY c_first", (w, d, name))
            return int(found[len(found) // 2][0])
        return self.random.randint(1, CUSTOMERS)

    def payment(self, w, d):
        amount = "%.2f" % self.random.uniform(1, 5000)
        self.execute("UPDATE warehouse SET w_ytd = w_ytd + %s WHERE w_id = %s", (amount, w))
        self.rows("SELECT w_street_1, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = %s", (w,))
        self.execute("UPDATE district SET d_ytd = d_ytd + %s WHERE d_w_id = %s AND d_id = %s", (amount, w, d))
        c = self.customer(w, d)
        self.rows("SELECT c_first, c_last, c_balance, c_data FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s FOR UPDATE", (w, d, c))
        self.execute("UPDATE customer SET c_balance = c_balance - %s, c_ytd_payment = c_ytd_payment + %s, c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s", (amount, amount, w, d, c))
        self.execute("INSERT INTO history VALUES (%s,%s,%s,%s,%s,NOW(),%s,'payment')", (c, d, w, d, w, amount))
        self.connection.commit()

    def order_status(self, w, d):
        c = self.customer(w, d)
        found = self.rows("SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = %s AND o_d_id = %s AND o_c_id = %s ORDER BY o_id DESC LIMIT 1", (w, d, c))
        for row in found:
            self.rows("SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = %s AND ol_d_id = %s AND ol_o_id = %s", (w, d, int(row[0])))
        self.connection.commit()

    def delivery(self, w, _):
        for d in range(1, DISTRICTS + 1):
            oldest = self.rows("SELECT COALESCE(MIN(no_o_id), 0) FROM new_orders WHERE no_d_id = %s AND no_w_id = %s", (d, w))[0][0]
            if not int(oldest):
                continue
            o = int(oldest)
            if not self.rows("SELECT no_o_id FROM new_orders WHERE no_o_id = %s AND no_d_id = %s AND no_w_id = %s FOR UPDATE", (o, d, w)):
                continue
            self.execute("DELETE FROM new_orders WHERE no_o_id = %s AND no_d_id = %s AND no_w_id = %s", (o, d, w))
            c = int(self.rows("SELECT o_c_id FROM orders WHERE o_id = %s AND o_d_id = %s AND o_w_id = %s", (o, d, w))[0][0])
            self.execute("UPDATE orders SET o_carrier_id = %s WHERE o_id = %s AND o_d_id = %s AND o_w_id = %s", (self.random.randint(1, 10), o, d, w))
            self.execute("UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_o_id = %s AND ol_d_id = %s AND ol_w_id = %s", (o, d, w))
            total = self.rows("SELECT SUM(ol_amount) FROM order_line WHERE ol_o_id = %s AND ol_d_id = %s AND ol_w_id = %s", (o, d, w))[0][0]
            self.execute("UPDATE customer SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_id = %s AND c_d_id = %s AND c_w_id = %s", (str(total), c, d, w))
        self.connection.commit()

    def stock_level(self, w, d):
        next_id = int(self.rows("SELECT d_next_o_id FROM district WHERE d_w_id = %s AND d_id = %s", (w, d))[0][0])
        self.rows("SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = %s AND ol_d_id = %s AND ol_o_id < %s AND ol_o_id >= %s AND s_w_id = %s AND s_i_id = ol_i_id AND s_quantity < %s", (w, d, next_id, next_id - 20, w, self.random.randint(10, 20)))
        self.connection.commit()


def run():
    clients = [Client(number) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    counts = {}
    for client in clients:
        client.join()
        if client.error:
            sys.exit("client %d: %s" % (client.number, client.error))
        for name, count in client.counts.items():
            counts[name] = counts.get(name, 0) + count
    print(" ".join("%s=%d" % pair for pair in sorted(counts.items())))
    if counts.get("new_order", 0) == 0:
        sys.exit("no new order in %s seconds" % SECONDS)


# Each must give no row.
CONDITIONS = {
    "1: W_YTD = sum(D_YTD)": "SELECT w_id, w_ytd, SUM(d_ytd) s FROM warehouse JOIN district ON d_w_id = w_id GROUP BY w_id, w_ytd HAVING w_ytd <> s",
    "2: D_NEXT_O_ID - 1 = max(O_ID)": "SELECT d_w_id, d_id, d_next_o_id, MAX(o_id) m FROM district JOIN orders ON o_w_id = d_w_id AND o_d_id = d_id GROUP BY d_w_id, d_id, d_next_o_id HAVING d_next_o_id - 1 <> m",
    "2: max(NO_O_ID) = max(O_ID)": "SELECT no_w_id, no_d_id, MAX(no_o_id) n, (SELECT MAX(o_id) FROM orders WHERE o_w_id = no_w_id AND o_d_id = no_d_id) m FROM new_orders GROUP BY no_w_id, no_d_id HAVING n <> m",
    "3: new orders without gaps": "SELECT no_w_id, no_d_id FROM new_orders GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)",
    "4: sum(O_OL_CNT) = lines": "SELECT o_w_id, o_d_id, SUM(o_ol_cnt) s, (SELECT COUNT(*) FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id) n FROM orders GROUP BY o_w_id, o_d_id HAVING s <> n",
    "5: carrier NULL iff new order": "SELECT o_id FROM orders LEFT JOIN new_orders ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)",
    "6: O_OL_CNT = lines of the order": "SELECT o_w_id, o_d_id, o_id FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id GROUP BY o_w_id, o_d_id, o_id, o_ol_cnt HAVING o_ol_cnt <> COUNT(*)",
    "7: delivery date NULL iff carrier NULL": "SELECT o_id FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)",
    "8: W_YTD = sum(H_AMOUNT)": "SELECT w_id, w_ytd, SUM(h_amount) s FROM warehouse JOIN history ON h_w_id = w_id GROUP BY w_id, w_ytd HAVING w_ytd <> s",
    "9: D_YTD = sum(H_AMOUNT)": "SELECT d_w_id, d_id, d_ytd, SUM(h_amount) s FROM district JOIN history ON h_w_id = d_w_id AND h_d_id = d_id GROUP BY d_w_id, d_id, d_ytd HAVING d_ytd <> s",
    "10: C_BALANCE = delivered - paid": "SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment FROM customer WHERE c_balance + c_ytd_payment <> (SELECT COALESCE(SUM(ol_amount), 0) FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id AND ol_delivery_d IS NOT NULL)",
}


def check():
    cursor = connect().cursor()
    broken = 0
    for name, sql in CONDITIONS.items():
        cursor.execute(sql)
        rows = cursor.fetchall()
        if rows:
            broken += 1
            print("condition %s is broken by %d rows, as %s" % (name, len(rows), rows[0]))
    if broken:
        sys.exit(1)
    print("%d conditions hold" % len(CONDITIONS))


{"load": load, "run": run, "check": check}[ACTION]()
