package wireproof.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;

/**
 * Heka messages as protobuf-java's dynamic messages, by the descriptor beside the driver. parseFrom and
 * build both ask for required fields, as the generated classes do.
 */
final class Messages {
    private static final Path SCHEMA = Path.of("_shared", "heka", "message.textproto");
    private static final HexFormat HEX = HexFormat.of();

    private final Descriptor type;

    Messages() throws IOException {
        FileDescriptorProto.Builder proto = FileDescriptorProto.newBuilder();
        Path build = Path.of(System.getProperty("build", "."));
        TextFormat.merge(Files.readString(build.resolve(SCHEMA)), proto);
        try {
            type = FileDescriptor.buildFrom(proto.build(), new FileDescriptor[0]).findMessageTypeByName("Message");
        } catch (DescriptorValidationException error) {
            throw new IOException(error);
        }
    }

    JsonObject decode(byte[] data) throws InvalidProtocolBufferException {
        return shown(DynamicMessage.parseFrom(type, data));
    }

    byte[] encode(JsonObject value) {
        DynamicMessage.Builder builder = DynamicMessage.newBuilder(type);
        fill(builder, value);
        return builder.build().toByteArray();
    }

    /** Every field; one that is not there is null, also where the schema has a default. */
    private static JsonObject shown(Message message) {
        JsonObject fields = new JsonObject();
        for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
            if (field.isRepeated()) {
                JsonArray items = new JsonArray();
                ((List<?>) message.getField(field)).forEach(item -> items.add(json(item)));
                fields.add(field.getName(), items);
            } else {
                boolean there = message.hasField(field);
                fields.add(field.getName(), there ? json(message.getField(field)) : JsonNull.INSTANCE);
            }
        }
        return fields;
    }

    private static JsonElement json(Object value) {
        if (value instanceof Message message) {
            return shown(message);
        } else if (value instanceof Boolean flag) {
            return new JsonPrimitive(flag);
        } else if (value instanceof String text) {
            return new JsonPrimitive(HEX.formatHex(text.getBytes(StandardCharsets.UTF_8)));
        } else if (value instanceof ByteString bytes) {
            return new JsonPrimitive(HEX.formatHex(bytes.toByteArray()));
        } else if (value instanceof Double number) {
            return new JsonPrimitive(HEX.toHexDigits(Double.doubleToRawLongBits(number)));
        } else if (value instanceof EnumValueDescriptor named) {
            return new JsonPrimitive(named.getName());
        }
        return new JsonPrimitive(value.toString());
    }

    private static void fill(Message.Builder message, JsonObject value) {
        for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
            JsonElement part = value.get(field.getName());
            if (part == null || part.isJsonNull()) {
                continue;
            }
            if (field.isRepeated()) {
                part.getAsJsonArray().forEach(item -> message.addRepeatedField(field, taken(message, field, item)));
            } else {
                message.setField(field, taken(message, field, part));
            }
        }
    }

    private static Object taken(Message.Builder message, FieldDescriptor field, JsonElement part) {
        return switch (field.getJavaType()) {
            case MESSAGE -> {
                Message.Builder inner = message.newBuilderForField(field);
                fill(inner, part.getAsJsonObject());
                yield inner.build();
            }
            case INT -> Math.toIntExact(part.getAsLong());
            case LONG -> Long.parseLong(part.getAsString());
            case BOOLEAN -> part.getAsBoolean();
            case STRING -> new String(HEX.parseHex(part.getAsString()), StandardCharsets.UTF_8);
            case BYTE_STRING -> ByteString.copyFrom(HEX.parseHex(part.getAsString()));
            case DOUBLE -> real(part.getAsString());
            case ENUM -> field.getEnumType().findValueByName(part.getAsString());
            default -> throw new IllegalStateException(field.getFullName());
        };
    }

    private static double real(String bits) {
        if (bits.length() != 2 * Double.BYTES) {
            throw new IllegalArgumentException("8 bytes make a double, not " + bits.length() / 2);
        }
        return Double.longBitsToDouble(Long.parseUnsignedLong(bits, 16));
    }
}
