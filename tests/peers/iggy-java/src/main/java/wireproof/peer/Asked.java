package wireproof.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.iggy.identifier.Identifier;
import org.apache.iggy.identifier.StreamId;
import org.apache.iggy.message.HeaderKey;
import org.apache.iggy.message.HeaderKind;
import org.apache.iggy.message.HeaderValue;
import org.apache.iggy.message.Partitioning;
import org.apache.iggy.message.PartitioningKind;
import org.apache.iggy.serde.BytesSerializer;

/** Of a value in its JSON form, the library's types, and what its serialiser makes of them. */
final class Asked {
    private Asked() {}

    static byte[] encoded(String format, JsonObject value) throws CharacterCodingException {
        ByteBuf buffer = switch (format) {
            case "iggy.identifier" -> BytesSerializer.toBytes(place(value));
            case "iggy.partitioning" -> BytesSerializer.toBytes(partitioning(value));
            default -> BytesSerializer.toBytes(headers(value.getAsJsonArray("headers")));
        };
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        return bytes;
    }

    private static byte[] octets(JsonObject value) {
        return HexFormat.of().parseHex(value.get("value").getAsString());
    }

    private static Identifier place(JsonObject value) throws CharacterCodingException {
        byte[] bytes = octets(value);
        if (value.get("kind").getAsString().equals("numeric")) {
            if (bytes.length != 4) {
                throw new ArithmeticException("a number has no " + bytes.length + " bytes");
            }
            return StreamId.of(Integer.toUnsignedLong(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt()));
        }
        return StreamId.of(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    }

    private static Partitioning partitioning(JsonObject value) {
        String name = value.get("kind").getAsString().replace("_", "");
        PartitioningKind kind = Stream.of(PartitioningKind.values()).filter(one -> one.name().equalsIgnoreCase(name))
                .findFirst().orElseThrow(() -> new ArithmeticException(name + " is not one of its kinds"));
        return new Partitioning(kind, octets(value));
    }

    private static Map<HeaderKey, HeaderValue> headers(JsonArray pairs) {
        Map<HeaderKey, HeaderValue> map = new LinkedHashMap<>();
        for (JsonElement element : pairs) {
            JsonObject key = element.getAsJsonArray().get(0).getAsJsonObject();
            JsonObject value = element.getAsJsonArray().get(1).getAsJsonObject();
            if (map.put(new HeaderKey(kind(key), octets(key)), new HeaderValue(kind(value), octets(value))) != null) {
                throw new ArithmeticException("a map has no second value of a key");
            }
        }
        return map;
    }

    private static HeaderKind kind(JsonObject tagged) {
        String name = tagged.get("kind").getAsString();
        return Stream.of(HeaderKind.values()).filter(one -> one.name().toLowerCase(Locale.ROOT).equals(name))
                .findFirst().orElseThrow(() -> new ArithmeticException(name + " is not one of its kinds"));
    }
}
