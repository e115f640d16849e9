package wireproof.peer;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import org.apache.kafka.common.KafkaException;

/** What Kafka's exceptions mean. */
final class Refusals {
    /** Parts of an exception's line that leave no doubt about the class; the first that matches counts. */
    private static final String[][] CLASSES = {
        {"OutOfMemoryError", "limit-exceeded"},
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

    private Refusals() {}

    /** Fills in the answer that an exception is; those that Kafka documents are KafkaExceptions. */
    static JsonObject refused(JsonObject reply, Throwable error, JsonElement before) {
        Refusal.fill(reply, error, CLASSES);
        reply.add("before", before);
        reply.addProperty("untyped", !(error instanceof KafkaException));
        return reply;
    }
}
