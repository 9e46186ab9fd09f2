import java.math.BigDecimal;
import java.sql.*;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** What an application does through JDBC; the URL names the driver and its options. Ends with "ok", or throws. */
public class Jdbc {
    static void same(Object expected, Object found) {
        if (!Objects.deepEquals(expected, found)) throw new AssertionError("expected " + expected + ", found " + found);
    }

    static void fails(int code, String state, SqlAction action) throws SQLException {
        try {
            action.run();
        } catch (SQLException e) {
            same(code, e.getErrorCode());
            same(state, e.getSQLState());
            return;
        }
        throw new AssertionError("no error " + code);
    }

    interface SqlAction { void run() throws SQLException; }

    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(args[0], args[1], args[2])) {
            tables(c);
            types(c);
            batches(c);
            cursor(c);
            transactions(c);
            metadata(c);
            same(true, c.isValid(5));
        }
        System.out.println("ok");
    }

    static void tables(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute("DROP DATABASE IF EXISTS jdbc");
            s.execute("CREATE DATABASE jdbc");
        }
        c.setCatalog("jdbc");
        same("jdbc", c.getCatalog());
        try (Statement s = c.createStatement()) {
            s.execute("CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(50), d DECIMAL(10,2), at DATETIME(6), "
                + "day DATE, b BLOB, f DOUBLE, u INT UNSIGNED, yes TINYINT(1), bits BIT(1))");
            s.execute("CREATE TABLE n (id INT PRIMARY KEY, v INT, UNIQUE KEY by_v (v))");
        }
    }

    static void types(Connection c) throws SQLException {
        byte[] bytes = new byte[256];
        for (int i = 0; i < 256; i++) bytes[i] = (byte) i;
        LocalDateTime at = LocalDateTime.of(2024, 2, 29, 1, 2, 3, 456789000);
        String sql = "INSERT INTO t (s, d, at, day, b, f, u, yes, bits) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        try (PreparedStatement p = c.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
            p.setString(1, "gr\u00fc\u00dfe \ud83d\ude42 ' \\ \"");
            p.setBigDecimal(2, new BigDecimal("-12.34"));
            p.setObject(3, at);
            p.setObject(4, LocalDate.of(2024, 2, 29));
            p.setBytes(5, bytes);
            p.setDouble(6, 0.1);
            p.setLong(7, 4294967295L);
            p.setBoolean(8, true);
            p.setBoolean(9, true);
            same(1, p.executeUpdate());
            try (ResultSet keys = p.getGeneratedKeys()) {
                same(true, keys.next());
                same(1L, keys.getLong(1));
            }
            for (int i = 1; i <= 9; i++) p.setNull(i, Types.NULL);
            same(1, p.executeUpdate());
        }
        try (PreparedStatement p = c.prepareStatement("SELECT * FROM t WHERE id = ?")) {
            p.setLong(1, 1);
            try (ResultSet r = p.executeQuery()) {
                same(true, r.next());
                same("gr\u00fc\u00dfe \ud83d\ude42 ' \\ \"", r.getString("s"));
                same(new BigDecimal("-12.34"), r.getBigDecimal("d"));
                same(at, r.getObject("at", LocalDateTime.class));
                same(LocalDate.of(2024, 2, 29), r.getObject("day", LocalDate.class));
                same(bytes, r.getBytes("b"));
                same(0.1, r.getDouble("f"));
                same(4294967295L, r.getLong("u"));
                same(true, r.getBoolean("yes"));
                same(true, r.getBoolean("bits"));
                ResultSetMetaData m = r.getMetaData();
                same(10, m.getColumnCount());
                same("t", m.getTableName(1));
                same(true, m.isAutoIncrement(1));
                same(Types.DECIMAL, m.getColumnType(3));
                same(10, m.getPrecision(3));
                same(2, m.getScale(3));
                same(false, r.next());
            }
            p.setLong(1, 2);
            try (ResultSet r = p.executeQuery()) {
                same(true, r.next());
                for (int i = 2; i <= 10; i++) same(null, r.getObject(i));
            }
        }
        try (Statement s = c.createStatement()) {
            fails(1062, "23000", () -> s.executeUpdate("INSERT INTO t (id) VALUES (1)"));
            fails(1146, "42S02", () -> s.executeQuery("SELECT * FROM nosuch"));
            fails(1064, "42000", () -> s.execute("SELEC 1"));
        }
    }

    static void batches(Connection c) throws SQLException {
        try (PreparedStatement p = c.prepareStatement("INSERT INTO n (id, v) VALUES (?, ?)")) {
            for (int i = 1; i <= 500; i++) {
                p.setInt(1, i);
                p.setInt(2, -i);
                p.addBatch();
            }
            int[] counts = p.executeBatch();
            same(500, counts.length);
            for (int n : counts) if (n != 1 && n != Statement.SUCCESS_NO_INFO) throw new AssertionError(n);
        }
        try (PreparedStatement p = c.prepareStatement("UPDATE n SET v = v - ? WHERE id = ?")) {
            for (int i = 500; i >= 490; i--) {
                p.setInt(1, 1000);
                p.setInt(2, i);
                p.addBatch();
            }
            same(11, p.executeBatch().length);
        }
        try (Statement s = c.createStatement()) {
            s.addBatch("INSERT INTO n VALUES (1001, 1001)");
            s.addBatch("UPDATE n SET v = 1002 WHERE id = 1001");
            s.addBatch("DELETE FROM n WHERE id = 1001");
            same(new int[] {1, 1, 1}, s.executeBatch());
        }
        try (PreparedStatement p = c.prepareStatement("INSERT INTO n (id, v) VALUES (?, ?)")) {
            for (int id : new int[] {2000, 1, 2001}) {
                p.setInt(1, id);
                p.setInt(2, id);
                p.addBatch();
            }
            try {
                p.executeBatch();
                throw new AssertionError("no error");
            } catch (BatchUpdateException e) {
                same(1062, e.getErrorCode());
            }
        }
        try (Statement s = c.createStatement()) {
            s.executeUpdate("DELETE FROM n WHERE id >= 2000");
        }
    }

    static void cursor(Connection c) throws SQLException {
        try (PreparedStatement p = c.prepareStatement("SELECT id, v FROM n WHERE id > ? ORDER BY id",
                ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            p.setFetchSize(7);
            p.setInt(1, 100);
            int next = 101;
            try (ResultSet r = p.executeQuery()) {
                while (r.next()) {
                    same(next, r.getInt(1));
                    next++;
                }
            }
            same(501, next);
            p.setMaxRows(3);
            int rows = 0;
            try (ResultSet r = p.executeQuery()) {
                while (r.next()) rows++;
            }
            same(3, rows);
        }
    }

    static int count(Connection c) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT COUNT(*) FROM n")) {
            r.next();
            return r.getInt(1);
        }
    }

    static void transactions(Connection c) throws SQLException {
        c.setAutoCommit(false);
        for (int level : new int[] {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_SERIALIZABLE,
                Connection.TRANSACTION_REPEATABLE_READ}) {
            c.setTransactionIsolation(level);
            same(level, c.getTransactionIsolation());
        }
        try (Statement s = c.createStatement()) {
            s.executeUpdate("INSERT INTO n VALUES (600, 600)");
            Savepoint point = c.setSavepoint("p");
            s.executeUpdate("INSERT INTO n VALUES (601, 601)");
            c.rollback(point);
            c.commit();
            same(501, count(c));
            s.executeUpdate("DELETE FROM n");
            c.rollback();
            same(501, count(c));
        }
        c.rollback();
        c.setReadOnly(true);
        same(501, count(c));
        c.rollback();
        c.setReadOnly(false);
        c.setAutoCommit(true);
        try (Statement s = c.createStatement()) {
            s.setQueryTimeout(1);
            try {
                s.executeQuery("SELECT BENCHMARK(1 << 60, 1 + 1)");
                throw new AssertionError("no timeout");
            } catch (SQLTimeoutException e) {
                // As it should be.
            }
        }
        same(501, count(c));
    }

    static List<String> column(ResultSet r, String name) throws SQLException {
        List<String> values = new ArrayList<>();
        while (r.next()) values.add(r.getString(name));
        r.close();
        return values;
    }

    static void metadata(Connection c) throws SQLException {
        DatabaseMetaData m = c.getMetaData();
        if (m.getDatabaseProductVersion().isEmpty()) throw new AssertionError("no version");
        same(true, m.supportsTransactions());
        same(true, column(m.getCatalogs(), "TABLE_CAT").contains("jdbc"));
        same(Arrays.asList("n", "t"), column(m.getTables("jdbc", null, "%", new String[] {"TABLE"}), "TABLE_NAME"));
        same(Arrays.asList("id", "s", "d", "at", "day", "b", "f", "u", "yes", "bits"),
            column(m.getColumns("jdbc", null, "t", "%"), "COLUMN_NAME"));
        same(Arrays.asList("id"), column(m.getPrimaryKeys("jdbc", null, "t"), "COLUMN_NAME"));
        same(Arrays.asList("PRIMARY", "by_v"), sorted(column(m.getIndexInfo("jdbc", null, "n", true, false), "INDEX_NAME")));
        same(Arrays.asList(), column(m.getImportedKeys("jdbc", null, "t"), "FKCOLUMN_NAME"));
        same(Arrays.asList(), column(m.getExportedKeys("jdbc", null, "t"), "FKCOLUMN_NAME"));
        same(Arrays.asList(), column(m.getProcedures("jdbc", null, "%"), "PROCEDURE_NAME"));
        same(Arrays.asList(), column(m.getFunctions("jdbc", null, "%"), "FUNCTION_NAME"));
        same(Arrays.asList("id"), column(m.getBestRowIdentifier("jdbc", null, "t", DatabaseMetaData.bestRowSession, false),
            "COLUMN_NAME"));
        m.getTypeInfo().close();
        m.getTableTypes().close();
        m.getTablePrivileges("jdbc", null, "%").close();
        m.getColumnPrivileges("jdbc", null, "t", "%").close();
        m.getVersionColumns("jdbc", null, "t").close();
        if (m.getSQLKeywords().isEmpty()) throw new AssertionError("no keywords");
    }

    static List<String> sorted(List<String> values) {
        values.sort(null);
        return values;
    }
}
