package wireproof.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.iggy.identifier.StreamId;
import org.apache.iggy.message.HeaderKey;
import org.apache.iggy.message.HeaderKind;
import org.apache.iggy.message.HeaderValue;
import org.apache.iggy.message.Message;
import org.apache.iggy.message.MessageHeader;
import org.apache.iggy.message.MessageId;
import org.apache.iggy.message.Partitioning;
import org.apache.iggy.message.PartitioningKind;
import org.apache.iggy.serde.BytesSerializer;

/** Of a value in its JSON form, the library's types. */
final class Asked {
    private Asked() {}

    /** What no type of the library holds. */
    static final class Beyond extends RuntimeException {
        private static final long serialVersionUID = 1;

        Beyond(String text) {
            super(text);
        }
    }

    /** What the serialiser makes of a part that has a type of its own. */
    static byte[] encoded(String format, JsonObject value) throws CharacterCodingException {
        return Clients.bytes(switch (format) {
            case "iggy.identifier" -> BytesSerializer.toBytes(Asked.<StreamId>place(value, StreamId::of, StreamId::of));
            case "iggy.partitioning" -> BytesSerializer.toBytes(partition(value));
            default -> BytesSerializer.toBytes(headers(value.get("headers")));
        });
    }

    private static byte[] octets(JsonObject value, String field) {
        return HexFormat.of().parseHex(value.get(field).getAsString());
    }

    /** A stream or a topic, by its number or its name. */
    static <T> T place(JsonObject value, Function<Long, T> numbered, Function<String, T> named)
            throws CharacterCodingException {
        byte[] bytes = octets(value, "value");
        if (value.get("kind").getAsString().equals("numeric")) {
            if (bytes.length != 4) {
                throw new Beyond("value: a number has no " + bytes.length + " bytes");
            }
            return numbered.apply(Integer.toUnsignedLong(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt()));
        }
        return named.apply(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    }

    /** Of a send. */
    static Partitioning partitioning(JsonObject send) {
        return partition(send.getAsJsonObject("partitioning"));
    }

    private static Partitioning partition(JsonObject value) {
        String name = value.get("kind").getAsString().replace("_", "");
        PartitioningKind kind = Stream.of(PartitioningKind.values()).filter(one -> one.name().equalsIgnoreCase(name))
                .findFirst().orElseThrow(() -> new Beyond(name + " is not one of its kinds"));
        return new Partitioning(kind, octets(value, "value"));
    }

    /** Of a send, new: the server sets what stands as zero. */
    static List<Message> messages(JsonObject send) {
        List<Message> messages = new ArrayList<>();
        send.getAsJsonArray("messages").forEach(one -> messages.add(message(one.getAsJsonObject())));
        return messages;
    }

    private static Message message(JsonObject value) {
        BigInteger none = BigInteger.ZERO;
        BigInteger number = value.get("id").getAsBigInteger();
        BigInteger made = value.has("origin_timestamp") ? value.get("origin_timestamp").getAsBigInteger() : none;
        MessageId id = number.equals(none) ? MessageId.serverGenerated() : MessageId.from(number);
        MessageHeader head = new MessageHeader(none, id, none, none, made, 0L, 0L, none);
        Message bare = new Message(head, octets(value, "payload"), Map.of());
        return bare.withUserHeaders(headers(value.get("headers"))); // which notes the two lengths
    }

    private static Map<HeaderKey, HeaderValue> headers(JsonElement given) {
        if (!given.isJsonArray()) {
            throw new Beyond("its user headers are a map, and no block of bytes");
        }
        Map<HeaderKey, HeaderValue> map = new LinkedHashMap<>();
        for (JsonElement element : given.getAsJsonArray()) {
            JsonArray pair = element.getAsJsonArray();
            JsonObject key = pair.get(0).getAsJsonObject();
            JsonObject value = pair.get(1).getAsJsonObject();
            HeaderKey known = new HeaderKey(kind(key), octets(key, "value"));
            if (map.put(known, new HeaderValue(kind(value), octets(value, "value"))) != null) {
                throw new Beyond("a map has no second value of a key");
            }
        }
        return map;
    }

    private static HeaderKind kind(JsonObject tagged) {
        String name = tagged.get("kind").getAsString();
        return Stream.of(HeaderKind.values()).filter(one -> one.name().toLowerCase(Locale.ROOT).equals(name))
                .findFirst().orElseThrow(() -> new Beyond(name + " is not one of its kinds"));
    }
}
