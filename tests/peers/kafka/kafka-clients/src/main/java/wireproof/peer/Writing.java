package wireproof.peer;

import static wireproof.peer.Asked.*;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;

/** Writes one entry with Kafka's MemoryRecordsBuilder; what the builder decides otherwise is not asked of it. */
final class Writing {
    private static final int CODEC = 0x07;
    private static final int APPEND_TIME = 0x08;
    private static final int TRANSACTIONAL = 0x10;
    private static final int CONTROL = 0x20;
    private static final int HORIZON = 0x40;
    private static final int ROOM = 4096;
    private static final Header[] NO_HEADERS = {};

    private Writing() {}

    /** The builder writes of the magic that it is given: a value of another revision cannot be told it. */
    static byte[] write(JsonObject value, String revision) {
        byte magic = number(value, "magic", Byte::parseByte);
        int known = List.of("v0", "v1", "v2").indexOf(revision);
        check("magic", magic == known || magic > RecordBatch.CURRENT_MAGIC_VALUE);
        return value.has("records") ? batch(value, magic) : message(value, magic);
    }

    private static byte[] batch(JsonObject value, byte magic) {
        JsonArray records = value.getAsJsonArray("records");
        if (records.isEmpty()) {
            return emptyBatch(value, magic);
        }
        int attributes = number(value, "attributes", Integer::parseInt);
        boolean horizon = (attributes & HORIZON) != 0;
        long base = whole(value, "baseTimestamp");
        long baseOffset = whole(value, "baseOffset");
        check("attributes", attributes >>> 7 == 0);
        check("baseTimestamp", horizon || whole(records.get(0).getAsJsonObject(), "timestampDelta") == 0);
        long most = RecordBatch.NO_TIMESTAMP;
        for (JsonElement record : records) {
            most = Math.max(most, base + whole(record.getAsJsonObject(), "timestampDelta"));
            check("records[].attributes", text(record.getAsJsonObject(), "attributes").equals("0"));
        }
        check("maxTimestamp", (attributes & APPEND_TIME) != 0 || whole(value, "maxTimestamp") == most);
        MemoryRecordsBuilder builder = builder(magic, attributes, baseOffset, whole(value, "maxTimestamp"),
                whole(value, "producerId"), number(value, "producerEpoch", Short::parseShort),
                number(value, "baseSequence", Integer::parseInt), number(value, "partitionLeaderEpoch", Integer::parseInt),
                horizon ? base : RecordBatch.NO_TIMESTAMP);
        for (JsonElement element : records) {
            append(builder, element.getAsJsonObject(), base, baseOffset);
        }
        builder.overrideLastOffset(baseOffset + number(value, "lastOffsetDelta", Integer::parseInt));
        return bytes(builder.build().buffer());
    }

    private static void append(MemoryRecordsBuilder builder, JsonObject record, long base, long baseOffset) {
        long offset = baseOffset + whole(record, "offsetDelta");
        long timestamp = base + whole(record, "timestampDelta");
        byte[] key = data(record.get("key"));
        byte[] value = data(record.get("value"));
        Header[] headers = headers(record.getAsJsonArray("headers"));
        if (builder.isControlBatch()) {
            builder.appendControlRecordWithOffset(offset, new SimpleRecord(timestamp, key, value, headers));
        } else {
            builder.appendWithOffset(offset, timestamp, key, value, headers);
        }
    }

    /** The empty batch that the cleaner leaves: it is never compressed and has no base timestamp. */
    private static byte[] emptyBatch(JsonObject value, byte magic) {
        int attributes = number(value, "attributes", Integer::parseInt);
        check("attributes", (attributes & ~(APPEND_TIME | TRANSACTIONAL | CONTROL)) == 0);
        check("baseTimestamp", whole(value, "baseTimestamp") == RecordBatch.NO_TIMESTAMP);
        ByteBuffer buffer = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        long baseOffset = whole(value, "baseOffset");
        DefaultRecordBatch.writeEmptyHeader(buffer, magic, whole(value, "producerId"),
                number(value, "producerEpoch", Short::parseShort), number(value, "baseSequence", Integer::parseInt),
                baseOffset, baseOffset + number(value, "lastOffsetDelta", Integer::parseInt),
                number(value, "partitionLeaderEpoch", Integer::parseInt), type(attributes),
                whole(value, "maxTimestamp"), (attributes & TRANSACTIONAL) != 0, (attributes & CONTROL) != 0);
        return bytes(buffer.flip());
    }

    private static byte[] message(JsonObject value, byte magic) {
        int attributes = number(value, "attributes", Integer::parseInt);
        boolean wrapped = value.get("messages").isJsonArray();
        check("attributes", (attributes & ~(CODEC | (magic == 0 ? 0 : APPEND_TIME))) == 0);
        check("messages", wrapped == ((attributes & CODEC) != 0));
        JsonArray messages = new JsonArray();
        if (wrapped) {
            messages = value.getAsJsonArray("messages");
            wrapper(value, messages, magic);
        } else {
            messages.add(value);
        }
        long baseOffset = whole(messages.get(0).getAsJsonObject(), "offset");
        MemoryRecordsBuilder builder = builder(magic, attributes, baseOffset, whole(value, "timestamp"),
                RecordBatch.NO_PRODUCER_ID, RecordBatch.NO_PRODUCER_EPOCH, RecordBatch.NO_SEQUENCE,
                RecordBatch.NO_PARTITION_LEADER_EPOCH, RecordBatch.NO_TIMESTAMP);
        for (JsonElement element : messages) {
            JsonObject message = element.getAsJsonObject();
            builder.appendWithOffset(whole(message, "offset"), whole(message, "timestamp"),
                    data(message.get("key")), data(message.get("value")), NO_HEADERS);
        }
        return bytes(builder.build().buffer());
    }

    /** A wrapper has no key, the offset of its last message and the greatest of their timestamps. */
    private static void wrapper(JsonObject value, JsonArray messages, byte magic) {
        long most = RecordBatch.NO_TIMESTAMP;
        for (JsonElement element : messages) {
            most = Math.max(most, whole(element.getAsJsonObject(), "timestamp"));
            check("messages[].magic", text(element.getAsJsonObject(), "magic").equals(text(value, "magic")));
            check("messages[].attributes", text(element.getAsJsonObject(), "attributes").equals("0"));
        }
        check("messages", !messages.isEmpty());
        check("key", value.get("key").isJsonNull());
        check("offset", whole(value, "offset") == whole(messages.get(messages.size() - 1).getAsJsonObject(), "offset"));
        check("timestamp", magic == 0 || whole(value, "timestamp") == most);
    }

    private static MemoryRecordsBuilder builder(byte magic, int attributes, long baseOffset, long appendTime,
            long producerId, short epoch, int sequence, int leaderEpoch, long horizon) {
        return new MemoryRecordsBuilder(new ByteBufferOutputStream(ROOM), magic,
                Compression.of(CompressionType.forId(attributes & CODEC)).build(), type(attributes), baseOffset,
                (attributes & APPEND_TIME) != 0 ? appendTime : RecordBatch.NO_TIMESTAMP, producerId, epoch, sequence,
                (attributes & TRANSACTIONAL) != 0, (attributes & CONTROL) != 0, leaderEpoch, ROOM, horizon);
    }

    private static TimestampType type(int attributes) {
        return (attributes & APPEND_TIME) != 0 ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }
}
