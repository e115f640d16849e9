package wireproof.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.AbstractLegacyRecordBatch;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecord;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.LegacyRecord;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.CloseableIterator;

/**
 * Reads as the consumer's CompletedFetch does with check.crcs: each batch of magic 2 is made sure of
 * before its records, each message of magic 0 and 1 when it is reached, the wrapper never. The control
 * records that a consumer looks into are parsed by Kafka's own classes.
 */
final class Reading {
    private static final int ATTRIBUTES_AT = 21;
    private static final int KNOWN_BITS = 0x7F;
    private static final String[] MESSAGE = {"offset", "magic", "attributes", "timestamp", "key", "value"};
    private static final String[] HEADER = {"baseOffset", "partitionLeaderEpoch", "magic", "attributes",
        "lastOffsetDelta", "baseTimestamp", "maxTimestamp", "producerId", "producerEpoch", "baseSequence"};
    private static final String[] RECORD = {"attributes", "offset", "timestamp", "key", "value", "headers"};

    private final boolean whole;
    private final int revision;
    private final JsonArray batches = new JsonArray();
    private long consumed;
    private int delivered;

    /** @param revision v0, v1 or v2: one entry of that magic, and what follows it is left alone; else a log */
    Reading(String revision) {
        this.revision = List.of("v0", "v1", "v2").indexOf(revision);
        this.whole = this.revision < 0;
    }

    static List<String> observes(boolean legacy, boolean modern, String prefix) {
        List<String> patterns = new ArrayList<>();
        for (String name : legacy ? MESSAGE : new String[0]) {
            patterns.add(prefix + name);
            patterns.add(prefix + "messages[]." + name);
        }
        for (String name : modern ? HEADER : new String[0]) {
            patterns.add(prefix + name);
        }
        for (String name : modern ? RECORD : new String[0]) {
            patterns.add(prefix + "records[]." + name);
        }
        return patterns;
    }

    void read(byte[] data) {
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(data)).batches()) {
            if (!whole && batch.magic() != revision) { // Kafka has readers of logs only, which take any
                throw new CorruptRecordException("an entry of magic " + batch.magic() + ", not " + revision);
            }
            if (batch instanceof AbstractLegacyRecordBatch legacy) {
                message(legacy);
            } else {
                batch.ensureValid();
                batch((DefaultRecordBatch) batch);
            }
            consumed += batch.sizeInBytes();
            delivered = batches.size();
            if (!whole) {
                return;
            }
        }
        if (!whole) {
            throw new CorruptRecordException("no whole entry: the iterator over batches ended");
        }
    }

    JsonElement value() {
        return whole ? log(batches) : batches.get(0);
    }

    /** What was read before an error: the entry at fault counts once it has delivered a record. */
    JsonElement delivered() {
        if (batches.size() > delivered && empty(batches.get(batches.size() - 1).getAsJsonObject())) {
            batches.remove(batches.size() - 1);
        }
        if (whole) {
            return log(batches);
        }
        return batches.isEmpty() ? JsonNull.INSTANCE : batches.get(0);
    }

    long consumed() {
        return consumed;
    }

    private static boolean empty(JsonObject entry) {
        return entry.has("records") ? entry.getAsJsonArray("records").isEmpty()
                : entry.get("messages").isJsonArray() && entry.getAsJsonArray("messages").isEmpty();
    }

    private static JsonObject log(JsonArray batches) {
        JsonObject log = new JsonObject();
        log.add("batches", batches);
        return log;
    }

    private void batch(DefaultRecordBatch batch) {
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
        JsonArray records = new JsonArray();
        entry.add("records", records);
        batches.add(entry);
        try (CloseableIterator<Record> iterator = batch.streamingIterator(BufferSupplier.NO_CACHING)) {
            while (iterator.hasNext()) {
                Record record = iterator.next();
                if (batch.isControlBatch()) {
                    control(record);
                }
                records.add(record((DefaultRecord) record));
            }
        }
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

    private static void control(Record record) {
        ControlRecordType type = ControlRecordType.parse(record.key());
        if (type == ControlRecordType.ABORT || type == ControlRecordType.COMMIT) {
            EndTransactionMarker.deserialize(record);
        }
    }

    private static JsonObject record(DefaultRecord record) {
        JsonObject fields = new JsonObject();
        number(fields, "attributes", record.attributes());
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

    /** A plain message is a batch of itself; the records of a wrapper are its inner messages. */
    private void message(AbstractLegacyRecordBatch batch) {
        JsonArray messages = new JsonArray();
        JsonObject entry = new JsonObject();
        if (batch.isCompressed()) {
            LegacyRecord outer = batch.outerRecord();
            number(entry, "offset", batch.lastOffset());
            number(entry, "timestamp", outer.timestamp());
            entry.add("key", hex(outer.key()));
            entry.add("value", JsonNull.INSTANCE); // compressed bytes, of which no value speaks
            number(entry, "magic", outer.magic());
            number(entry, "attributes", outer.attributes());
            entry.add("messages", messages);
            batches.add(entry);
        }
        try (CloseableIterator<Record> iterator = batch.streamingIterator(BufferSupplier.NO_CACHING)) {
            while (iterator.hasNext()) {
                Record record = iterator.next();
                record.ensureValid();
                JsonObject fields = new JsonObject();
                common(fields, record);
                LegacyRecord inner = ((AbstractLegacyRecordBatch) record).outerRecord();
                number(fields, "magic", inner.magic());
                number(fields, "attributes", inner.attributes());
                fields.add("messages", JsonNull.INSTANCE);
                (batch.isCompressed() ? messages : batches).add(fields);
            }
        }
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
