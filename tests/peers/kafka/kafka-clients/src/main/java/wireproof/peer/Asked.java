package wireproof.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.function.Function;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** What a value asks to be written; a field of it that Kafka's builder has no say over is `Beyond`. */
final class Asked {
    private Asked() {}

    static Header[] headers(JsonArray pairs) {
        Header[] headers = new Header[pairs.size()];
        for (int i = 0; i < headers.length; i++) {
            byte[] key = data(pairs.get(i).getAsJsonArray().get(0));
            headers[i] = new RecordHeader(key == null ? null : new String(key, StandardCharsets.UTF_8),
                    data(pairs.get(i).getAsJsonArray().get(1)));
        }
        return headers;
    }

    static void check(String field, boolean possible) {
        if (!possible) {
            throw new Beyond(field);
        }
    }

    static String text(JsonObject fields, String name) {
        return fields.get(name).getAsString();
    }

    static long whole(JsonObject fields, String name) {
        return number(fields, name, Long::parseLong);
    }

    /** Reads a number of the type that the builder's parameter has. */
    static <N> N number(JsonObject fields, String name, Function<String, N> type) {
        try {
            return type.apply(text(fields, name));
        } catch (NumberFormatException error) {
            throw new Beyond("a " + name + " that its type does not hold");
        }
    }

    static byte[] data(JsonElement hex) {
        return hex.isJsonNull() ? null : HexFormat.of().parseHex(hex.getAsString());
    }

    /** A value that Kafka's builder has no way to write: it is not asked to. */
    static final class Beyond extends RuntimeException {
        Beyond(String field) {
            super("the builder has no say over " + field);
        }
    }
}
