package wireproof.peer;

import com.google.gson.JsonObject;
import io.netty.buffer.Unpooled;
import java.io.EOFException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.iggy.exception.IggyException;
import org.apache.iggy.serde.BytesDeserializer;

/** Iggy's SDK for Java behind the adapter contract: its clients, its BytesDeserializer and BytesSerializer. */
public final class Driver {
    /** Parts of an exception's line that leave no doubt about the class; the first that matches counts. */
    private static final String[][] CLASSES = {
        {"Beyond", "invalid-value"},
        {"CharacterCoding", "invalid-value"},
        {"MalformedInput", "invalid-value"},
        {"IndexOutOfBounds", "truncated"},
        {"reserved", "reserved-nonzero"},
        {"IggyInvalidArgument", "invalid-value"},
    };

    private final Frames frames = new Frames();
    private final Clients clients = new Clients();
    private final boolean resending;

    private Driver(boolean resending) throws IOException {
        this.resending = resending;
        if (!resending) {
            clients.warm();
        }
    }

    /** Answers requests until stdin ends; with the word `resend`, messages to send are first polled. */
    public static void main(String[] args) throws IOException {
        Driver driver = new Driver(args.length > 0 && args[0].equals("resend"));
        System.setOut(System.err);
        try {
            while (true) {
                driver.answer(driver.frames.take());
            }
        } catch (EOFException end) {
            System.exit(0); // the threads of the clients know no end
        }
    }

    private void answer(Frames.Frame frame) throws IOException {
        JsonObject reply = new JsonObject();
        if (frame.head().has("hello")) {
            frames.send(hello(), null);
            return;
        }
        reply.add("id", frame.head().get("id"));
        reply.addProperty("outcome", "accepted");
        byte[] encoded = null;
        try {
            String format = frame.head().get("format").getAsString();
            switch (frame.head().get("op").getAsString()) {
                case "decode" -> reply.add("value", decoded(format, frame.blob()));
                case "encode" -> encoded = encoded(format, frame.head().getAsJsonObject("value"));
                default -> reply.addProperty("outcome", "unsupported");
            }
        } catch (Throwable error) { // an OutOfMemoryError is an answer too: this process survives it
            refuse(reply, error);
        }
        frames.send(reply, encoded);
    }

    private JsonObject decoded(String format, byte[] data) {
        return switch (format) {
            case "iggy.json.error" -> Shown.error(clients.error(data));
            case "iggy.json.poll" -> Shown.polled(clients.polled(data));
            default -> Shown.polled(BytesDeserializer.readPolledMessages(Unpooled.wrappedBuffer(data)));
        };
    }

    private byte[] encoded(String format, JsonObject value) throws IOException {
        return switch (format) {
            case "iggy.send" -> resending ? clients.resent(value) : clients.sent(value);
            case "iggy.json.send" -> clients.posted(value);
            default -> Asked.encoded(format, value);
        };
    }

    private static void refuse(JsonObject reply, Throwable error) {
        String found = Refusal.fill(reply, error, CLASSES);
        reply.addProperty("untyped", !(error instanceof IggyException || found.equals("invalid-value")));
    }

    private static Map<String, Object> error(String... observes) {
        return Map.of("ops", List.of("decode"), "profiles", List.of("reader"), "observes", List.of(observes));
    }

    private JsonObject hello() {
        Map<String, Object> written = Map.of("ops", List.of("encode"), "profiles", List.of("reader"));
        Map<String, Object> read = Map.of("ops", List.of("decode"), "profiles", List.of("reader"),
                "observes", Typed.observes());
        Map<String, Object> sent = Map.of("ops", List.of("encode"), "profiles", List.of("reader"), "features",
                List.of("headers", "message-id", "partitioning-balanced", "partitioning-messages-key"));
        Map<String, Object> claims = new TreeMap<>(Map.of("iggy.send/0.9", sent));
        if (!resending) {
            claims.putAll(Map.of("iggy.poll/0.9", read, "iggy.headers/0.10", written,
                    "iggy.identifier/0.8", written, "iggy.partitioning/0.9", written,
                    "iggy.json.send/0.10", sent, "iggy.json.poll/0.10", read,
                    "iggy.json.error/0.0.30", error("id", "reason"),
                    "iggy.json.error/0.0.40", error("id", "reason", "field")));
        }
        String jar = BytesDeserializer.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        return Frames.JSON.toJsonTree(Map.of("hello", Map.of(
                "protocol", 1, "name", resending ? "iggy-java-resend" : "iggy-java",
                "version", jar.replaceAll(".*iggy-|\\.jar$", ""), "revisions", claims,
                "errors", "coarse", "window", 16, "cost", "fast"))).getAsJsonObject();
    }
}
