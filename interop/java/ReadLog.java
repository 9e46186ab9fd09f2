import com.github.shyiko.mysql.binlog.BinaryLogClient;
import com.github.shyiko.mysql.binlog.event.*;
import java.io.Serializable;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.TimeZone;

/** Reads a server's log with mysql-binlog-connector-java, from a file's beginning or behind a GTID set up to a position, and prints it. */
public class ReadLog {
    static final Map<Long, String> tables = new HashMap<>();

    static String plain(Serializable value) {
        if (value instanceof byte[] bytes) return "x" + HexFormat.of().formatHex(bytes);
        if (value instanceof BitSet bits) return "b" + Arrays.toString(bits.toLongArray());
        return String.valueOf(value);
    }

    static String plain(Serializable[] row) {
        return Arrays.stream(row).map(ReadLog::plain).toList().toString();
    }

    static String file, lastFile;
    static long lastPosition;

    static void read(Event event) {
        EventHeaderV4 header = event.getHeader();
        if (event.getData() instanceof RotateEventData rotate) file = rotate.getBinlogFilename();
        else print(event);
        if (lastFile.equals(file) && header.getNextPosition() >= lastPosition) {
            System.out.println("end");
            System.out.flush();
            System.exit(0);
        }
    }

    static void print(Event event) {
        EventData data = event.getData();
        if (data instanceof TableMapEventData map) {
            TableMapEventMetadata metadata = map.getEventMetadata();
            tables.put(map.getTableId(), map.getDatabase() + "." + map.getTable());
            System.out.println("map " + tables.get(map.getTableId()) + " " + (metadata == null ? null : metadata.getColumnNames()));
        } else if (data instanceof WriteRowsEventData rows) {
            for (Serializable[] row : rows.getRows()) System.out.println("write " + tables.get(rows.getTableId()) + " " + plain(row));
        } else if (data instanceof UpdateRowsEventData rows) {
            for (Map.Entry<Serializable[], Serializable[]> row : rows.getRows())
                System.out.println("update " + tables.get(rows.getTableId()) + " " + plain(row.getKey()) + " " + plain(row.getValue()));
        } else if (data instanceof DeleteRowsEventData rows) {
            for (Serializable[] row : rows.getRows()) System.out.println("delete " + tables.get(rows.getTableId()) + " " + plain(row));
        } else if (data instanceof GtidEventData gtid) {
            System.out.println("gtid " + gtid.getMySqlGtid());
        } else if (data instanceof XidEventData) {
            System.out.println("xid");
        }
    }

    /** PORT file FILE, or PORT gtids SET; then the last file and position */
    public static void main(String[] args) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        BinaryLogClient client = new BinaryLogClient("127.0.0.1", Integer.parseInt(args[0]), "root", "");
        client.setServerId(4712);
        client.setKeepAlive(false);
        if (args[1].equals("gtids")) {
            client.setGtidSet(args[2]);
        } else {
            client.setBinlogFilename(args[2]);
            client.setBinlogPosition(4);
        }
        client.registerEventListener(ReadLog::read);
        lastFile = args[3];
        lastPosition = Long.parseLong(args[4]);
        client.registerLifecycleListener(new BinaryLogClient.AbstractLifecycleListener() {
            @Override public void onEventDeserializationFailure(BinaryLogClient c, Exception e) { fail(e); }
            @Override public void onCommunicationFailure(BinaryLogClient c, Exception e) { fail(e); }
        });
        client.connect();
    }

    static void fail(Exception e) {
        e.printStackTrace();
        System.exit(1);
    }
}
