import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Reads changes of the database d with Debezium's connector for MySQL: a snapshot at the first run, then the log from where the last run
 * ended. A line for each change, without times and positions, until a row of the table marks with this number has come, and the snapshot is
 * over: one that is broken off is made again by the next run.
 *
 * <p>Arguments: port, folder for what is kept between runs, number of the mark.
 */
public class Debezium {
    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        Path folder = Path.of(arguments[1]);
        long mark = Long.parseLong(arguments[2]);
        ObjectMapper mapper = new ObjectMapper();
        CountDownLatch end = new CountDownLatch(1);
        AtomicBoolean isMarked = new AtomicBoolean();
        StringBuilder failure = new StringBuilder();
        DebeziumEngine<ChangeEvent<String, String>> engine = DebeziumEngine.create(Json.class)
                .using(settings(port, folder))
                .using((success, message, error) -> {
                    if (!success) {
                        failure.append(message).append(' ').append(error);
                    }
                    end.countDown();
                })
                .notifying(event -> {
                    if (event.value() == null || end.getCount() == 0) {
                        return;
                    }
                    JsonNode change = read(mapper, event.value());
                    JsonNode source = change.path("source");
                    String table = source.path("table").asText();
                    System.out.println(change.path("op").asText() + " " + table + " " + change.path("before") + " -> " + change.path("after"));
                    if (table.equals("marks") && change.path("after").path("id").asLong() == mark) {
                        isMarked.set(true);
                    }
                    String snapshot = source.path("snapshot").asText("false");
                    if (isMarked.get() && (snapshot.equals("last") || snapshot.equals("false"))) {
                        end.countDown();
                    }
                })
                .build();
        Thread thread = new Thread(engine);
        thread.start();
        boolean isEnded = end.await(60, TimeUnit.SECONDS);
        engine.close();
        thread.join();
        if (!isEnded || failure.length() > 0) {
            System.err.println(isEnded ? failure.toString() : "no mark within 60 seconds");
            System.exit(1);
        }
    }

    private static JsonNode read(ObjectMapper mapper, String text) {
        try {
            return mapper.readTree(text);
        } catch (java.io.IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Properties settings(int port, Path folder) {
        String[][] settings = {
            {"name", "reader"},
            {"connector.class", "io.debezium.connector.mysql.MySqlConnector"},
            {"offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore"},
            {"offset.storage.file.filename", folder.resolve("offsets").toString()},
            {"offset.flush.interval.ms", "0"},
            {"schema.history.internal", "io.debezium.storage.file.history.FileSchemaHistory"},
            {"schema.history.internal.file.filename", folder.resolve("history").toString()},
            {"database.hostname", "127.0.0.1"},
            {"database.port", Integer.toString(port)},
            {"database.user", "root"},
            {"database.password", ""},
            {"database.ssl.mode", "disabled"},
            {"database.server.id", "987654"},
            {"topic.prefix", "reader"},
            {"database.include.list", "d"},
            {"include.schema.changes", "false"},
            {"decimal.handling.mode", "string"},
            {"value.converter.schemas.enable", "false"},
            {"key.converter.schemas.enable", "false"},
        };
        Properties properties = new Properties();
        for (String[] setting : settings) {
            properties.setProperty(setting[0], setting[1]);
        }
        return properties;
    }
}
