package wireproof.broker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.share.ShareCoordinatorRecordSerde;
import org.apache.kafka.coordinator.transaction.TransactionCoordinatorRecordSerde;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.serialization.BytesApiMessageSerde;

/**
 * Writes and reads the records of Kafka's internal topics with Kafka's own classes. Each line of the input is a
 * JSON object and gives a line of output. {"topic", "key", "value"} with "class", "version" and "json" in both
 * parts is written, to {"key", "value"} in hex; then, and with hex in the input, the bytes are read, and the
 * output has Kafka's own JSON of them, or the error. {"protocol": {"class", "version", "json"}} gives the bytes
 * that a member of a classic group sends. {"codes": CLASS, "number": METHOD, "name": METHOD} gives
 * the names of the constants of an enum by number.
 */
public final class Payloads {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String GENERATED = "org.apache.kafka.coordinator.%s.generated.";

    private static final Map<String, CoordinatorRecordSerde> KEYED = Map.of(
        "__consumer_offsets", new GroupCoordinatorRecordSerde(),
        "__transaction_state", new TransactionCoordinatorRecordSerde(),
        "__share_group_state", new ShareCoordinatorRecordSerde());

    private static final Map<String, String> PACKAGES = Map.of(
        "protocol", "org.apache.kafka.common.message.",
        "__consumer_offsets", String.format(GENERATED, "group"),
        "__transaction_state", String.format(GENERATED, "transaction"),
        "__share_group_state", String.format(GENERATED, "share"),
        "__cluster_metadata", "org.apache.kafka.common.metadata.",
        "__remote_log_metadata", "org.apache.kafka.server.log.remote.metadata.storage.generated.");

    private static final Map<String, BytesApiMessageSerde> FRAMED = Map.of(
        "__cluster_metadata", new BytesApiMessageSerde() {
            @Override
            public ApiMessage apiMessageFor(short type) {
                return MetadataRecordSerde.INSTANCE.apiMessageFor(type);
            }
        },
        "__remote_log_metadata", new BytesApiMessageSerde() {
            @Override
            public ApiMessage apiMessageFor(short type) {
                return org.apache.kafka.server.log.remote.metadata.storage.generated.MetadataRecordType
                    .fromId(type).newMetadataRecord();
            }
        });

    private Payloads() { }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode request = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            try {
                if (request.has("codes")) {
                    codes(request, answer);
                } else if (request.has("protocol")) {
                    JsonNode part = request.get("protocol");
                    byte[] data = MessageUtil.toVersionPrefixedBytes(
                        (short) part.get("version").asInt(), message("protocol", part));
                    answer.put("bytes", HexFormat.of().formatHex(data));
                } else {
                    record(request, answer);
                }
            } catch (Exception | OutOfMemoryError | StackOverflowError error) {
                Throwable cause = error instanceof InvocationTargetException && error.getCause() != null
                    ? error.getCause() : error;
                answer.put("error", cause.toString());
            }
            System.out.println(JSON.writeValueAsString(answer));
        }
    }

    private static void record(JsonNode request, ObjectNode answer) throws Exception {
        String topic = request.get("topic").asText();
        byte[] key = bytes(request.get("key"));
        byte[] value = bytes(request.get("value"));
        if (request.get("value").isObject() || request.get("key").isObject()) {
            ApiMessage message = message(topic, request.get("value"));
            ApiMessageAndVersion versioned = message == null ? null
                : new ApiMessageAndVersion(message, (short) request.get("value").get("version").asInt());
            if (KEYED.containsKey(topic)) {
                ApiMessage named = message(topic, request.get("key"));
                CoordinatorRecord record = versioned == null
                    ? CoordinatorRecord.tombstone(named) : CoordinatorRecord.record(named, versioned);
                key = KEYED.get(topic).serializeKey(record);
                value = KEYED.get(topic).serializeValue(record);
            } else {
                value = FRAMED.get(topic).serialize(versioned);
            }
        }
        answer.put("key", key == null ? null : HexFormat.of().formatHex(key));
        answer.put("value", value == null ? null : HexFormat.of().formatHex(value));
        read(topic, key, value, answer);
    }

    private static void read(String topic, byte[] key, byte[] value, ObjectNode answer) throws Exception {
        if (FRAMED.containsKey(topic)) {
            ApiMessageAndVersion read = FRAMED.get(topic).deserialize(value);
            show(answer, "value", read.message(), read.version());
            return;
        }
        CoordinatorRecord read = KEYED.get(topic)
            .deserialize(ByteBuffer.wrap(key), value == null ? null : ByteBuffer.wrap(value));
        show(answer, "key", read.key(), (short) 0);
        if (read.value() != null) {
            show(answer, "value", read.value().message(), read.value().version());
        }
    }

    private static void show(ObjectNode answer, String part, ApiMessage message, short version) throws Exception {
        Class<?> converter = Class.forName(message.getClass().getName() + "JsonConverter");
        Object json = converter.getMethod("write", message.getClass(), short.class).invoke(null, message, version);
        answer.put(part + "Class", message.getClass().getSimpleName());
        answer.put(part + "Version", version);
        answer.set(part + "Json", (JsonNode) json);
    }

    private static ApiMessage message(String topic, JsonNode part) throws Exception {
        if (part.isNull()) {
            return null;
        }
        Class<?> converter = Class.forName(PACKAGES.get(topic) + part.get("class").asText() + "JsonConverter");
        short version = (short) part.get("version").asInt();
        return (ApiMessage) converter.getMethod("read", JsonNode.class, short.class)
            .invoke(null, part.get("json"), version);
    }

    private static byte[] bytes(JsonNode part) {
        return part.isTextual() ? HexFormat.of().parseHex(part.asText()) : null;
    }

    private static void codes(JsonNode request, ObjectNode answer) throws Exception {
        for (Object constant : Class.forName(request.get("codes").asText()).getEnumConstants()) {
            String number = text(constant, request.get("number").asText());
            answer.put(number, text(constant, request.get("name").asText()));
        }
    }

    private static String text(Object constant, String member) throws Exception {
        var method = constant.getClass().getMethod(member);
        return String.valueOf(method.invoke(constant));
    }
}
