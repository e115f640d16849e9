package wireproof.peer;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.EOFException;
import java.io.IOException;

/** Apache Kafka's record classes behind the adapter contract. */
public final class Driver {
    private final Frames frames = new Frames();

    private Driver() {}

    /** Answers requests until stdin ends. */
    public static void main(String[] args) throws IOException {
        Driver driver = new Driver();
        System.setOut(System.err);
        try {
            while (true) {
                driver.answer(driver.frames.take());
            }
        } catch (EOFException end) { // the suite has no more questions
            return;
        }
    }

    private void answer(Frames.Frame frame) throws IOException {
        JsonObject head = frame.head();
        if (head.has("hello")) {
            frames.send(Claims.hello(), null);
            return;
        }
        JsonObject reply = new JsonObject();
        reply.add("id", head.get("id"));
        String revision = head.get("revision").getAsString();
        switch (asksTheFetcher(head) ? "fetch" : head.get("op").getAsString()) {
            case "decode" -> decode(reply, new Reading(revision), frame.blob());
            case "encode" -> encode(reply, head.getAsJsonObject("value"), revision);
            case "fetch" -> frames.send(unsupported(reply, "offsets and aborted transactions are the fetcher's"), null);
            default -> frames.send(unsupported(reply, "has decode and encode"), null);
        }
    }

    /** Offsets and aborted transactions are left out of a log by the fetcher, not by the record classes. */
    private static boolean asksTheFetcher(JsonObject head) {
        JsonObject options = head.has("options") ? head.getAsJsonObject("options") : new JsonObject();
        return options.has("fetch_offset") || options.has("isolation");
    }

    private void decode(JsonObject reply, Reading reading, byte[] data) throws IOException {
        try {
            reading.read(data);
            JsonElement value = reading.value();
            reply.addProperty("outcome", "accepted");
            reply.add("value", value);
            reply.addProperty("consumed", reading.consumed());
        } catch (Throwable error) { // an OutOfMemoryError is an answer too: this process survives it
            Refusals.refused(reply, error, reading.delivered());
        }
        frames.send(reply, null);
    }

    private void encode(JsonObject reply, JsonObject value, String revision) throws IOException {
        byte[] bytes = null;
        try {
            bytes = Writing.write(value, revision);
            reply.addProperty("outcome", "accepted");
        } catch (Asked.Beyond beyond) {
            unsupported(reply, beyond.getMessage());
        } catch (Throwable error) {
            Refusals.refused(reply, error, JsonNull.INSTANCE);
        }
        frames.send(reply, bytes);
    }

    private static JsonObject unsupported(JsonObject reply, String text) {
        reply.addProperty("outcome", "unsupported");
        reply.addProperty("text", text);
        return reply;
    }
}
