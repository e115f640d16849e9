package wireproof.peer;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.RuntimeVersion;
import com.google.protobuf.UninitializedMessageException;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * protobuf-java behind the adapter contract: frames of a u32 header length, a JSON header and the raw
 * bytes that its "blob" announces, on stdin and stdout.
 */
public final class Driver {
    private static final Gson JSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

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

    private final DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
    private final DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
    private final Messages messages = new Messages();

    private Driver() throws IOException {}

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
        JsonObject reply = new JsonObject();
        reply.add("id", head.get("id"));
        reply.addProperty("outcome", "accepted");
        byte[] encoded = null;
        try {
            switch (head.get("op").getAsString()) {
                case "decode" -> {
                    reply.add("value", messages.decode(blob));
                    reply.addProperty("consumed", blob.length);
                }
                case "encode" -> encoded = messages.encode(head.getAsJsonObject("value"));
                default -> reply.addProperty("outcome", "unsupported");
            }
        } catch (Throwable error) { // an OutOfMemoryError is an answer too: this process survives it
            refuse(reply, error);
        }
        send(reply, encoded);
    }

    private static void refuse(JsonObject reply, Throwable error) {
        String line = error.getClass().getSimpleName() + ": " + error.getMessage();
        String found = "other";
        for (String[] row : CLASSES) {
            if (found.equals("other") && line.contains(row[0])) {
                found = row[1];
            }
        }
        boolean typed = error instanceof InvalidProtocolBufferException
                || error instanceof UninitializedMessageException || found.equals("invalid-value");
        reply.addProperty("outcome", "refused");
        reply.addProperty("class", found);
        reply.addProperty("text", line.substring(0, Math.min(line.length(), 300)));
        reply.addProperty("untyped", !typed);
    }

    private static JsonObject hello() {
        Map<String, Object> claim = Map.of(
                "ops", List.of("decode", "encode"), "codecs", List.of("none"), "profiles", List.of("reader"));
        String version = RuntimeVersion.OSS_MAJOR + "." + RuntimeVersion.OSS_MINOR + "." + RuntimeVersion.OSS_PATCH;
        return JSON.toJsonTree(Map.of("hello", Map.of(
                "protocol", 1, "name", "protobuf-java", "version", version,
                "revisions", Map.of("heka.message/0.10", claim),
                "errors", "coarse", "window", 64, "cost", "fast"))).getAsJsonObject();
    }
}
