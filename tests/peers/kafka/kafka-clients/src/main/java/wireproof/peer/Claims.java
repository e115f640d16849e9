package wireproof.peer;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.internals.AppInfoParser;

/** What Kafka's classes can do, as the hello tells it. */
final class Claims {
    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final List<String> LEGACY_CODECS = List.of("none", "gzip", "snappy", "lz4");
    private static final List<String> MODERN =
            List.of("headers", "empty-batch", "log-append-time", "delete-horizon", "idempotent", "transactional",
                    "control-batch");
    private static final List<String> LEGACY = List.of("wrapper", "log-append-time");
    private static final List<String> LOG = List.of("wrapper", "headers", "empty-batch", "log-append-time",
            "delete-horizon", "idempotent", "transactional", "control-batch", "partial-tail", "mixed-magic");
    private static final String[] MESSAGE = {"offset", "magic", "attributes", "timestamp", "key", "value",
        "nextOffset", "timestampType"};
    private static final String[] HEADER = {"baseOffset", "partitionLeaderEpoch", "magic", "attributes",
        "lastOffsetDelta", "baseTimestamp", "maxTimestamp", "producerId", "producerEpoch", "baseSequence",
        "nextOffset"};
    private static final String[] RECORD = {"attributes", "offset", "timestamp", "key", "value", "headers",
        "sequence", "timestampType"};

    private Claims() {}

    static JsonObject hello() {
        List<String> both = List.of("decode", "encode");
        Map<String, Object> revisions = Map.of(
                "kafka.log/mixed", claim(List.of("decode"), CODECS, LOG, logObserves()),
                "kafka.batch/v0", claim(both, LEGACY_CODECS, LEGACY, observes(true, false, "")),
                "kafka.batch/v1", claim(both, LEGACY_CODECS, LEGACY, observes(true, false, "")),
                "kafka.batch/v2", claim(both, CODECS, MODERN, observes(false, true, "")));
        Map<String, Object> hello = Map.of(
                "protocol", 1, "name", "kafka-clients", "version", AppInfoParser.getVersion(),
                "revisions", revisions, "errors", "coarse", "window", 64, "cost", "fast");
        return Frames.JSON.toJsonTree(Map.of("hello", hello)).getAsJsonObject();
    }

    private static Map<String, Object> claim(
            List<String> ops, List<String> codecs, List<String> features, List<String> observes) {
        return Map.of("ops", ops, "codecs", codecs, "features", features,
                "profiles", List.of("reader"), "observes", observes);
    }

    private static List<String> logObserves() {
        List<String> patterns = observes(true, true, "batches[].");
        patterns.add("nextOffset");
        return patterns;
    }

    private static List<String> observes(boolean legacy, boolean modern, String prefix) {
        List<String> patterns = new ArrayList<>();
        for (String name : legacy ? MESSAGE : new String[0]) {
            patterns.add(prefix + name);
            patterns.add(prefix + "messages[]." + name);
        }
        for (String name : modern ? HEADER : new String[0]) {
            patterns.add(prefix + name);
        }
        for (String name : modern ? RECORD : new String[0]) {
            patterns.add(prefix + "records[]." + name);
        }
        return patterns;
    }
}
