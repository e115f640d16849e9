package wireproof.peer;

import com.google.gson.JsonObject;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.RuntimeVersion;
import com.google.protobuf.UninitializedMessageException;
import java.io.EOFException;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** protobuf-java behind the adapter contract. */
public final class Driver {
    /** Parts of an exception's line that leave no doubt about the class; the first that matches counts. */
    private static final String[][] CLASSES = {
        {"missing required fields", "missing-field"},
        {"input ended unexpectedly", "truncated"},
        {"negative size", "negative-length"},
        {"malformed varint", "bad-varint"},
        {"invalid tag (zero)", "bad-kind"},
        {"invalid wire type", "bad-kind"},
        {"end-group tag", "bad-kind"},
        {"NumberFormatException", "invalid-value"},
        {"ArithmeticException: integer overflow", "invalid-value"},
        {"IllegalArgumentException: 8 bytes", "invalid-value"},
    };

    private final Frames frames = new Frames();
    private final Messages messages = new Messages();

    private Driver() throws IOException {}

    /** Answers requests until stdin ends. */
    public static void main(String[] args) throws IOException {
        Driver driver = new Driver();
        System.setOut(System.err);
        try {
            while (true) {
                driver.answer(driver.frames.take());
            }
        } catch (EOFException end) {
            // nothing more is asked
        }
    }

    private void answer(Frames.Frame frame) throws IOException {
        JsonObject head = frame.head();
        if (head.has("hello")) {
            frames.send(hello(), null);
            return;
        }
        JsonObject reply = new JsonObject();
        reply.add("id", head.get("id"));
        reply.addProperty("outcome", "accepted");
        byte[] encoded = null;
        try {
            switch (head.get("op").getAsString()) {
                case "decode" -> {
                    reply.add("value", messages.decode(frame.blob()));
                    reply.addProperty("consumed", frame.blob().length);
                }
                case "encode" -> encoded = messages.encode(head.getAsJsonObject("value"));
                default -> reply.addProperty("outcome", "unsupported");
            }
        } catch (Throwable error) { // an OutOfMemoryError is an answer too: this process survives it
            refuse(reply, error);
        }
        frames.send(reply, encoded);
    }

    private static void refuse(JsonObject reply, Throwable error) {
        String found = Refusal.fill(reply, error, CLASSES);
        boolean typed = error instanceof InvalidProtocolBufferException
                || error instanceof UninitializedMessageException || found.equals("invalid-value");
        reply.addProperty("untyped", !typed);
    }

    private static JsonObject hello() {
        Map<String, Object> claim = Map.of(
                "ops", List.of("decode", "encode"), "codecs", List.of("none"), "profiles", List.of("reader"));
        String version = RuntimeVersion.OSS_MAJOR + "." + RuntimeVersion.OSS_MINOR + "." + RuntimeVersion.OSS_PATCH;
        return Frames.JSON.toJsonTree(Map.of("hello", Map.of(
                "protocol", 1, "name", "protobuf-java", "version", version,
                "revisions", Map.of("heka.message/0.10", claim),
                "errors", "coarse", "window", 64, "cost", "fast"))).getAsJsonObject();
    }
}
