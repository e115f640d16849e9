package wireproof.peer;

import com.google.gson.JsonObject;
import io.netty.buffer.Unpooled;
import java.io.EOFException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.iggy.exception.IggyException;
import org.apache.iggy.message.PolledMessages;
import org.apache.iggy.serde.BytesDeserializer;

/** Iggy's SDK for Java behind the adapter contract: its BytesDeserializer and BytesSerializer. */
public final class Driver {
    /** Parts of an exception's line that leave no doubt about the class; the first that matches counts. */
    private static final String[][] CLASSES = {
        {"IndexOutOfBounds", "truncated"},
        {"reserved", "reserved-nonzero"},
        {"is not one of", "invalid-value"},
        {"has no", "invalid-value"},
        {"IggyInvalidArgument", "invalid-value"},
        {"NumberFormatException", "invalid-value"},
        {"ArithmeticException", "invalid-value"},
    };

    private final Frames frames = new Frames();

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
                case "decode" -> {
                    PolledMessages polled = BytesDeserializer.readPolledMessages(Unpooled.wrappedBuffer(frame.blob()));
                    reply.add("value", Shown.polled(polled));
                }
                case "encode" -> encoded = Asked.encoded(format, frame.head().getAsJsonObject("value"));
                default -> reply.addProperty("outcome", "unsupported");
            }
        } catch (Throwable error) { // an OutOfMemoryError is an answer too: this process survives it
            refuse(reply, error);
        }
        frames.send(reply, encoded);
    }

    private static void refuse(JsonObject reply, Throwable error) {
        String line = error.getClass().getSimpleName() + ": " + error.getMessage();
        String found = "other";
        for (String[] row : CLASSES) {
            if (found.equals("other") && line.contains(row[0])) {
                found = row[1];
            }
        }
        reply.addProperty("outcome", "refused");
        reply.addProperty("class", found);
        reply.addProperty("text", line.substring(0, Math.min(line.length(), 300)));
        reply.addProperty("untyped", !(error instanceof IggyException || found.equals("invalid-value")));
    }

    private static JsonObject hello() {
        Map<String, Object> written = Map.of("ops", List.of("encode"), "profiles", List.of("reader"));
        Map<String, Object> read = Map.of("ops", List.of("decode"), "profiles", List.of("reader"));
        String jar = BytesDeserializer.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        return Frames.JSON.toJsonTree(Map.of("hello", Map.of(
                "protocol", 1, "name", "iggy-java", "version", jar.replaceAll(".*iggy-|\\.jar$", ""),
                "revisions", Map.of("iggy.poll/0.9", read, "iggy.headers/0.10", written,
                        "iggy.identifier/0.8", written, "iggy.partitioning/0.9", written),
                "errors", "coarse", "window", 16, "cost", "fast"))).getAsJsonObject();
    }
}
