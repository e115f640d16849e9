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
    private final boolean whole;
    private final int revision;
    private final JsonArray batches = new JsonArray();
    private long consumed;
    private int delivered;
    private Long nextOffset;

    /** @param revision v0, v1 or v2: one entry of that magic, and what follows it is left alone; else a log */
    Reading(String revision) {
        this.revision = List.of("v0", "v1", "v2").indexOf(revision);
        this.whole = this.revision < 0;
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
            nextOffset = batch.nextOffset(); // as CompletedFetch, at the end of each batch
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
        return whole ? log(batches, nextOffset) : batches.get(0);
    }

    /** What was read before an error: the entry at fault counts once it has delivered a record. */
    JsonElement delivered() {
        if (batches.size() > delivered && empty(batches.get(batches.size() - 1).getAsJsonObject())) {
            batches.remove(batches.size() - 1);
        }
        if (whole) {
            return log(batches, null);
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

    private static JsonObject log(JsonArray batches, Long nextOffset) {
        JsonObject log = new JsonObject();
        log.add("batches", batches);
        log.addProperty("nextOffset", nextOffset == null ? null : nextOffset.toString());
        return log;
    }

    private void batch(DefaultRecordBatch batch) {
        JsonObject entry = Shown.header(batch);
        JsonArray records = new JsonArray();
        entry.add("records", records);
        batches.add(entry);
        try (CloseableIterator<Record> iterator = batch.streamingIterator(BufferSupplier.NO_CACHING)) {
            while (iterator.hasNext()) {
                Record record = iterator.next();
                if (batch.isControlBatch()) {
                    control(record);
                }
                records.add(Shown.record((DefaultRecord) record, batch.timestampType()));
            }
        }
    }

    private static void control(Record record) {
        ControlRecordType type = ControlRecordType.parse(record.key());
        if (type == ControlRecordType.ABORT || type == ControlRecordType.COMMIT) {
            EndTransactionMarker.deserialize(record);
        }
    }

    /** A plain message is a batch of itself; the records of a wrapper are its inner messages. */
    private void message(AbstractLegacyRecordBatch batch) {
        JsonArray messages = new JsonArray();
        if (batch.isCompressed()) {
            JsonObject entry = Shown.wrapper(batch);
            entry.add("messages", messages);
            batches.add(entry);
        }
        try (CloseableIterator<Record> iterator = batch.streamingIterator(BufferSupplier.NO_CACHING)) {
            while (iterator.hasNext()) {
                Record record = iterator.next();
                record.ensureValid();
                (batch.isCompressed() ? messages : batches).add(Shown.message(record));
            }
        }
    }
}
