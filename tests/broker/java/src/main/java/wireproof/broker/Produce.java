package wireproof.broker;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.internals.AppInfoParser;

/** Carries out a plan with kafka-clients: a batch of the plan is a flush. Arguments: bootstrap, plan. */
public final class Produce {
    private Produce() { }

    public static void main(String[] arguments) throws Exception {
        JsonElement plan = JsonParser.parseString(Files.readString(Path.of(arguments[1])));
        int number = 0;
        for (JsonElement step : plan.getAsJsonObject().getAsJsonArray("steps")) {
            step(arguments[0], step.getAsJsonObject(), "wireproof-java-" + number++);
        }
        System.out.println(AppInfoParser.getVersion());
    }

    private static void step(String bootstrap, JsonObject step, String id) throws Exception {
        String mode = step.get("mode").getAsString();
        boolean transactional = mode.equals("commit") || mode.equals("abort");
        Map<String, Object> settings = new HashMap<>(Map.of(
            "bootstrap.servers", bootstrap,
            "compression.type", step.get("codec").getAsString(),
            "linger.ms", 60_000,
            "batch.size", 1 << 20,
            "enable.idempotence", !mode.equals("plain")));
        if (transactional) {
            settings.put("transactional.id", id);
        }
        ByteArraySerializer raw = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, raw, raw)) {
            if (transactional) {
                producer.initTransactions();
                producer.beginTransaction();
            }
            for (JsonElement batch : step.getAsJsonArray("batches")) {
                send(producer, step.get("topic").getAsString(), batch.getAsJsonArray());
            }
            if (mode.equals("commit")) {
                producer.commitTransaction();
            } else if (mode.equals("abort")) {
                producer.abortTransaction();
            }
        }
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, String topic, JsonArray batch)
            throws Exception {
        List<Future<?>> sent = new ArrayList<>();
        for (JsonElement element : batch) {
            JsonObject record = element.getAsJsonObject();
            List<Header> headers = new ArrayList<>();
            for (JsonElement header : record.getAsJsonArray("headers")) {
                JsonArray pair = header.getAsJsonArray();
                headers.add(new RecordHeader(pair.get(0).getAsString(), bytes(pair.get(1))));
            }
            sent.add(producer.send(new ProducerRecord<>(topic, 0, record.get("timestamp").getAsLong(),
                bytes(record.get("key")), bytes(record.get("value")), headers)));
        }
        producer.flush();
        for (Future<?> one : sent) {
            one.get();
        }
    }

    private static byte[] bytes(JsonElement text) {
        return text.isJsonNull() ? null : text.getAsString().getBytes(StandardCharsets.UTF_8);
    }
}
