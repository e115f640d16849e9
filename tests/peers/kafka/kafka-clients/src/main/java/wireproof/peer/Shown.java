package wireproof.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.AbstractLegacyRecordBatch;
import org.apache.kafka.common.record.internal.DefaultRecord;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.LegacyRecord;
import org.apache.kafka.common.record.internal.Record;

/** How Kafka's objects are shown as values: integers in decimal digits, bytes as hex. */
final class Shown {
    private static final int ATTRIBUTES_AT = 21;
    private static final int KNOWN_BITS = 0x7F;

    private Shown() {}

    static JsonObject header(DefaultRecordBatch batch) {
        JsonObject entry = new JsonObject();
        number(entry, "baseOffset", batch.baseOffset());
        number(entry, "partitionLeaderEpoch", batch.partitionLeaderEpoch());
        number(entry, "magic", batch.magic());
        number(entry, "attributes", attributes(batch));
        number(entry, "lastOffsetDelta", batch.lastOffset() - batch.baseOffset());
        number(entry, "baseTimestamp", batch.baseTimestamp());
        number(entry, "maxTimestamp", batch.maxTimestamp());
        number(entry, "producerId", batch.producerId());
        number(entry, "producerEpoch", batch.producerEpoch());
        number(entry, "baseSequence", batch.baseSequence());
        number(entry, "nextOffset", batch.nextOffset());
        return entry;
    }

    /** The bits that Kafka reads, as it reads them; the unused ones as it hands them on. */
    private static int attributes(DefaultRecordBatch batch) {
        ByteBuffer bytes = ByteBuffer.allocate(batch.sizeInBytes());
        batch.writeTo(bytes);
        return bytes.getShort(ATTRIBUTES_AT) & ~KNOWN_BITS
                | batch.compressionType().id
                | Math.max(batch.timestampType().id, 0) << 3
                | (batch.isTransactional() ? 0x10 : 0)
                | (batch.isControlBatch() ? 0x20 : 0)
                | (batch.deleteHorizonMs().isPresent() ? 0x40 : 0);
    }

    /** @param kind that of the batch, which a consumer gives to its records */
    static JsonObject record(DefaultRecord record, TimestampType kind) {
        JsonObject fields = new JsonObject();
        number(fields, "attributes", record.attributes());
        number(fields, "sequence", record.sequence());
        timestampType(fields, kind);
        common(fields, record);
        JsonArray headers = new JsonArray();
        for (Header header : record.headers()) {
            JsonArray pair = new JsonArray();
            pair.add(HexFormat.of().formatHex(header.key().getBytes(StandardCharsets.UTF_8)));
            pair.add(hex(header.value() == null ? null : ByteBuffer.wrap(header.value())));
            headers.add(pair);
        }
        fields.add("headers", headers);
        return fields;
    }

    /** A wrapper without its messages. */
    static JsonObject wrapper(AbstractLegacyRecordBatch batch) {
        JsonObject entry = new JsonObject();
        LegacyRecord outer = batch.outerRecord();
        number(entry, "offset", batch.lastOffset());
        number(entry, "timestamp", outer.timestamp());
        entry.add("key", hex(outer.key()));
        entry.add("value", JsonNull.INSTANCE); // compressed bytes, of which no value speaks
        number(entry, "magic", outer.magic());
        number(entry, "attributes", outer.attributes());
        number(entry, "nextOffset", batch.nextOffset());
        timestampType(entry, outer.timestampType());
        return entry;
    }

    /** A message of its own, or one in a wrapper. */
    static JsonObject message(Record record) {
        JsonObject fields = new JsonObject();
        common(fields, record);
        AbstractLegacyRecordBatch batch = (AbstractLegacyRecordBatch) record;
        LegacyRecord inner = batch.outerRecord();
        number(fields, "magic", inner.magic());
        number(fields, "attributes", inner.attributes());
        number(fields, "nextOffset", batch.nextOffset());
        timestampType(fields, inner.timestampType());
        fields.add("messages", JsonNull.INSTANCE);
        return fields;
    }

    private static void timestampType(JsonObject fields, TimestampType kind) {
        fields.addProperty("timestampType", switch (kind) {
            case NO_TIMESTAMP_TYPE -> "none";
            case CREATE_TIME -> "create";
            case LOG_APPEND_TIME -> "log-append";
        });
    }

    private static void common(JsonObject fields, Record record) {
        number(fields, "offset", record.offset());
        number(fields, "timestamp", record.timestamp());
        fields.add("key", hex(record.key()));
        fields.add("value", hex(record.value()));
    }

    private static void number(JsonObject fields, String name, long value) {
        fields.addProperty(name, Long.toString(value));
    }

    private static JsonElement hex(ByteBuffer data) {
        if (data == null) {
            return JsonNull.INSTANCE;
        }
        byte[] bytes = new byte[data.remaining()];
        data.duplicate().get(bytes);
        return new JsonPrimitive(HexFormat.of().formatHex(bytes));
    }
}
