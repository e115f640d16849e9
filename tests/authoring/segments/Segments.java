import java.io.File;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;

/** Lets Apache Kafka write the companions of the `.log` in each folder: `recover FOLDER`, or `append FOLDER`. */
public final class Segments {
    private static final LogConfig CONFIG =
            new LogConfig(Map.of("index.interval.bytes", "100", "segment.index.bytes", "240"));

    private Segments() {}

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < args.length; i += 2) {
            File folder = new File(args[i + 1]).getAbsoluteFile();
            String log = folder.list((where, name) -> name.endsWith(".log"))[0];
            long base = Long.parseLong(log.replace(".log", ""));
            if (args[i].equals("append")) {
                append(folder, base, log);
            } else {
                recover(folder, base);
            }
        }
        System.exit(0); // the scheduler of the epochs has a thread
    }

    /** As a broker does with the last segment after it was killed: closed and cut to size. */
    private static void recover(File folder, long base) throws Exception {
        TopicPartition partition = new TopicPartition("t", 0);
        LogSegment segment = LogSegment.open(folder, base, CONFIG, Time.SYSTEM, true, 0, false, "");
        ProducerStateManager state = new ProducerStateManager(partition, folder, 900000,
                new ProducerStateManagerConfig(86400000, false), Time.SYSTEM);
        LeaderEpochCheckpointFile epochs = new LeaderEpochCheckpointFile(
                LeaderEpochCheckpointFile.newFile(folder), new LogDirFailureChannel(1));
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        segment.recover(state, new LeaderEpochFileCache(partition, epochs, scheduler));
        segment.close();
    }

    /** As a broker does with what it is sent: the segment stays open, its indexes as they were allocated. */
    private static void append(File folder, long base, String log) throws Exception {
        Path source = folder.toPath().resolve(log);
        MemoryRecords all = MemoryRecords.readableRecords(ByteBuffer.wrap(Files.readAllBytes(source)));
        Files.delete(source);
        LogSegment segment = LogSegment.open(folder, base, CONFIG, Time.SYSTEM, false, 0, false, "");
        for (MutableRecordBatch batch : all.batches()) {
            ByteBuffer bytes = ByteBuffer.allocate(batch.sizeInBytes());
            batch.writeTo(bytes);
            segment.append(batch.lastOffset(), MemoryRecords.readableRecords(bytes.flip()));
        }
        segment.flush();
    }
}
