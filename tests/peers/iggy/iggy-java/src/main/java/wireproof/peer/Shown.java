package wireproof.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.iggy.exception.IggyServerException;
import org.apache.iggy.message.HeaderKey;
import org.apache.iggy.message.HeaderKind;
import org.apache.iggy.message.HeaderValue;
import org.apache.iggy.message.Message;
import org.apache.iggy.message.MessageHeader;
import org.apache.iggy.message.PolledMessages;

/** What the library delivered, in the JSON form of values. */
final class Shown {
    private Shown() {}

    static JsonObject polled(PolledMessages polled) {
        JsonArray messages = new JsonArray();
        polled.messages().forEach(one -> messages.add(message(one)));
        JsonObject value = new JsonObject();
        value.addProperty("partition_id", polled.partitionId().toString());
        value.addProperty("current_offset", polled.currentOffset().toString());
        value.add("messages", messages);
        return value;
    }

    /** An error without its name, which the library turns into a constant of its own. */
    static JsonObject error(IggyServerException error) {
        JsonObject value = new JsonObject();
        value.addProperty("id", error.getErrorId().orElse(null));
        value.addProperty("reason", hex(error.getReason().getBytes(StandardCharsets.UTF_8)));
        value.addProperty("field", error.getField().map(text -> hex(text.getBytes(StandardCharsets.UTF_8))).orElse(null));
        return value;
    }

    private static JsonObject message(Message one) {
        MessageHeader head = one.header();
        JsonObject value = new JsonObject();
        value.addProperty("checksum", head.checksum().toString());
        value.addProperty("id", head.id().toBigInteger().toString());
        value.addProperty("offset", head.offset().toString());
        value.addProperty("timestamp", head.timestamp().toString());
        value.addProperty("origin_timestamp", head.originTimestamp().toString());
        value.add("headers", headers(one.userHeaders()));
        value.addProperty("payload", hex(one.payload()));
        return value;
    }

    /** The map, by its keys; a block that the library could not read is none to it. */
    private static JsonArray headers(Map<HeaderKey, HeaderValue> map) {
        Comparator<HeaderKey> order = Comparator.comparingInt(key -> key.kind().asCode());
        List<HeaderKey> keys = map.keySet().stream()
                .sorted(order.thenComparing(HeaderKey::value, Arrays::compareUnsigned)).toList();
        JsonArray pairs = new JsonArray();
        for (HeaderKey key : keys) {
            JsonArray pair = new JsonArray();
            pair.add(tagged(key.kind(), key.value()));
            pair.add(tagged(map.get(key).kind(), map.get(key).value()));
            pairs.add(pair);
        }
        return pairs;
    }

    private static JsonObject tagged(HeaderKind kind, byte[] bytes) {
        JsonObject value = new JsonObject();
        value.addProperty("kind", kind.name().toLowerCase(Locale.ROOT));
        value.addProperty("value", hex(bytes));
        if (Typed.shows(kind)) {
            value.add("typed", Typed.of(new HeaderValue(kind, bytes))); // a key has no accessors of its own
        }
        return value;
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
