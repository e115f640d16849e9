package wireproof.fuzz;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.CloseableIterator;

/**
 * The records of a fetch, read as Kafka's consumer reads them with check.crcs: each batch is made sure of before its
 * records. What Kafka documents is a KafkaException. Anything else is told once for each place and ends the input,
 * not the fuzzer, because this target measures how far a fuzzer gets.
 */
public final class KafkaRecords {
    private static final Set<String> TOLD = new HashSet<>();

    private KafkaRecords() {}

    public static void fuzzerTestOneInput(byte[] data) {
        try {
            read(data);
        } catch (KafkaException documented) {
            return;
        } catch (RuntimeException | OutOfMemoryError | StackOverflowError found) {
            tell(found);
        }
    }

    private static void read(byte[] data) {
        for (RecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(data)).batches()) {
            batch.ensureValid();
            try (CloseableIterator<Record> records = batch.streamingIterator(BufferSupplier.NO_CACHING)) {
                while (records.hasNext()) {
                    Record record = records.next();
                    record.ensureValid();
                    for (Header header : record.headers()) {
                        header.value();
                    }
                }
            }
        }
    }

    private static void tell(Throwable found) {
        StackTraceElement[] stack = found.getStackTrace();
        String place = stack.length == 0 ? "nowhere" : stack[0].toString();
        for (StackTraceElement frame : stack) {
            if (frame.getClassName().startsWith("org.apache.kafka.")) {
                place = frame.toString();
                break;
            }
        }
        if (TOLD.add(found.getClass().getSimpleName() + " at " + place)) {
            System.err.println("finding: " + found.getClass().getSimpleName() + " at " + place);
        }
    }
}
