package wireproof.peer;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.utils.internals.AppInfoParser;

/**
 * Apache Kafka's record classes behind the adapter contract: frames of a u32 header length, a JSON
 * header and the raw bytes that its "blob" announces, on stdin and stdout.
 */
public final class Driver {
    private static final Gson JSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    /** Parts of an exception's line that leave no doubt about the class; the first that matches counts. */
    private static final String[][] CLASSES = {
        {"OutOfMemoryError", "limit-exceeded"},
        {"NumberFormatException", "invalid-value"},
        {"Record is corrupt (stored crc", "crc-mismatch"},
        {"Record batch is corrupt (the size", "bad-length"},
        {"smaller than minimum record overhead", "bad-length"},
        {"is less than the minimum record overhead", "bad-length"},
        {"Invalid magic found in record", "bad-magic"},
        {"an entry of magic", "bad-magic"},
        {"Unknown compression type id", "unknown-codec"},
        {"ZStandard compression is not supported", "unknown-codec"},
        {"Found invalid wrapper compressionType", "unknown-codec"},
        {"no whole entry", "truncated"},
        {"number of record headers -", "negative-length"},
        {"Found invalid number of record headers", "count-mismatch"},
        {"but instead the buffer has only", "length-past-end"},
        {"payload reached EOF", "length-past-end"},
        {"newLimit > capacity", "length-past-end"},
        {"is negative.", "negative-length"},
        {"Maximum offset delta exceeded", "invalid-value"},
        {"records still remaining", "trailing-data"},
        {"premature EOF reached", "count-mismatch"},
        {"Found invalid record count", "negative-length"},
        {"Invalid record size: expected to read", "length-mismatch"},
        {"negative header key size", "null-not-allowed"},
        {"Null header keys", "null-not-allowed"},
        {"null value (magic", "null-not-allowed"},
        {"is too long, ", "bad-varint"},
        {"Inner messages must not be compressed", "bad-nesting"},
        {"no inner records", "count-mismatch"},
        {"Found invalid wrapper offset", "bad-offset"},
        {"control record", "bad-control"},
        {"end transaction marker", "bad-control"},
        {"Failed to decompress record stream", "decompress-failed"},
        {"Error checking for remaining bytes", "decompress-failed"},
        {"ZipException", "decompress-failed"},
        {"FAILED_TO_UNCOMPRESS", "decompress-failed"},
        {"INVALID_CHUNK_SIZE", "decompress-failed"},
        {"Stream frame descriptor corrupted", "decompress-failed"},
        {"Stream unsupported", "decompress-failed"},
        {"Dependent block stream", "decompress-failed"},
        {"Block size value must be", "decompress-failed"},
        {"Reserved", "decompress-failed"},
    };

    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final List<String> LEGACY_CODECS = List.of("none", "gzip", "snappy", "lz4");
    private static final List<String> MODERN =
            List.of("headers", "empty-batch", "log-append-time", "delete-horizon", "idempotent", "transactional",
                    "control-batch");
    private static final List<String> LEGACY = List.of("wrapper", "log-append-time");
    private static final List<String> LOG = List.of("wrapper", "headers", "empty-batch", "log-append-time",
            "delete-horizon", "idempotent", "transactional", "control-batch", "partial-tail", "mixed-magic");

    private final DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
    private final DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));

    private Driver() {}

    /** Answers requests until stdin ends. */
    public static void main(String[] args) throws IOException {
        Driver driver = new Driver();
        System.setOut(System.err);
        try {
            while (true) {
                driver.turn();
            }
        } catch (EOFException end) {
            driver.out.flush();
        }
    }

    private void turn() throws IOException {
        JsonObject head = JSON.fromJson(new String(take(in.readInt()), StandardCharsets.UTF_8), JsonObject.class);
        byte[] blob = head.has("blob") ? take(head.get("blob").getAsInt()) : new byte[0];
        if (head.has("hello")) {
            send(hello(), null);
        } else {
            answer(head, blob);
        }
        if (in.available() == 0) {
            out.flush();
        }
    }

    private byte[] take(int length) throws IOException {
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    private void send(JsonObject head, byte[] blob) throws IOException {
        if (blob != null) {
            head.addProperty("blob", blob.length);
        }
        byte[] bytes = JSON.toJson(head).getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
        out.write(blob == null ? new byte[0] : blob);
    }

    private void answer(JsonObject head, byte[] blob) throws IOException {
        String op = head.get("op").getAsString();
        JsonObject reply = new JsonObject();
        reply.add("id", head.get("id"));
        Reading reading = new Reading(head.get("revision").getAsString());
        try {
            switch (asksTheFetcher(head) ? "unsupported" : op) {
                case "decode" -> {
                    reading.read(blob);
                    reply.addProperty("outcome", "accepted");
                    reply.add("value", reading.value());
                    reply.addProperty("consumed", reading.consumed());
                    send(reply, null);
                }
                case "encode" -> {
                    byte[] bytes = Writing.write(head.getAsJsonObject("value"));
                    reply.addProperty("outcome", "accepted");
                    send(reply, bytes);
                }
                default -> {
                    reply.addProperty("outcome", "unsupported");
                    send(reply, null);
                }
            }
        } catch (Throwable error) { // an OutOfMemoryError is an answer too: this process survives it
            send(refused(reply, error, op.equals("decode") ? reading.delivered() : JsonNull.INSTANCE), null);
        }
    }

    /** Offsets and aborted transactions are left out of a log by the fetcher, not by the record classes. */
    private static boolean asksTheFetcher(JsonObject head) {
        JsonObject options = head.has("options") ? head.getAsJsonObject("options") : new JsonObject();
        return options.has("fetch_offset") || options.has("isolation");
    }

    private static JsonObject refused(JsonObject reply, Throwable error, JsonElement before) {
        String line = error.getClass().getSimpleName() + ": " + error.getMessage();
        String found = error instanceof Beyond ? "invalid-value" : "other";
        for (String[] row : CLASSES) {
            if (found.equals("other") && line.contains(row[0])) {
                found = row[1];
            }
        }
        reply.addProperty("outcome", "refused");
        reply.addProperty("class", found);
        reply.addProperty("text", line.substring(0, Math.min(line.length(), 300)));
        reply.add("before", before);
        reply.addProperty("untyped", !(error instanceof KafkaException || error instanceof Beyond));
        return reply;
    }

    private static JsonObject hello() {
        List<String> both = List.of("decode", "encode");
        Map<String, Object> revisions = Map.of(
                "kafka.log/mixed", claim(List.of("decode"), CODECS, LOG, Reading.observes(true, true, "batches[].")),
                "kafka.batch/v0", claim(both, LEGACY_CODECS, LEGACY, Reading.observes(true, false, "")),
                "kafka.batch/v1", claim(both, LEGACY_CODECS, LEGACY, Reading.observes(true, false, "")),
                "kafka.batch/v2", claim(both, CODECS, MODERN, Reading.observes(false, true, "")));
        Map<String, Object> hello = Map.of(
                "protocol", 1, "name", "kafka-clients", "version", AppInfoParser.getVersion(),
                "revisions", revisions, "errors", "coarse", "window", 64, "cost", "fast");
        return JSON.toJsonTree(Map.of("hello", hello)).getAsJsonObject();
    }

    private static Map<String, Object> claim(
            List<String> ops, List<String> codecs, List<String> features, List<String> observes) {
        return Map.of("ops", ops, "codecs", codecs, "features", features,
                "profiles", List.of("reader"), "observes", observes);
    }

    /** A value that Kafka's builder has no way to write. */
    static final class Beyond extends RuntimeException {
        Beyond(String field) {
            super("the builder has no say over " + field);
        }
    }
}
