package wireproof.broker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.charset.StandardCharsets;
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
import org.apache.kafka.common.utils.AppInfoParser;

/** Carries out a plan with kafka-clients: a batch of the plan is a flush. Arguments: bootstrap, plan. */
public final class Produce {
    private Produce() { }

    public static void main(String[] arguments) throws Exception {
        JsonNode plan = new ObjectMapper().readTree(new File(arguments[1]));
        int number = 0;
        for (JsonNode step : plan.get("steps")) {
            step(arguments[0], step, "wireproof-java-" + number++);
        }
        System.out.println(AppInfoParser.getVersion());
    }

    private static void step(String bootstrap, JsonNode step, String id) throws Exception {
        String mode = step.get("mode").asText();
        boolean transactional = mode.equals("commit") || mode.equals("abort");
        Map<String, Object> settings = new HashMap<>(Map.of(
            "bootstrap.servers", bootstrap,
            "compression.type", step.get("codec").asText(),
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
            for (JsonNode batch : step.get("batches")) {
                send(producer, step.get("topic").asText(), batch);
            }
            if (mode.equals("commit")) {
                producer.commitTransaction();
            } else if (mode.equals("abort")) {
                producer.abortTransaction();
            }
        }
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, String topic, JsonNode batch)
            throws Exception {
        List<Future<?>> sent = new ArrayList<>();
        for (JsonNode record : batch) {
            List<Header> headers = new ArrayList<>();
            for (JsonNode header : record.get("headers")) {
                headers.add(new RecordHeader(header.get(0).asText(), bytes(header.get(1))));
            }
            sent.add(producer.send(new ProducerRecord<>(topic, 0, record.get("timestamp").asLong(),
                bytes(record.get("key")), bytes(record.get("value")), headers)));
        }
        producer.flush();
        for (Future<?> one : sent) {
            one.get();
        }
    }

    private static byte[] bytes(JsonNode text) {
        return text.isNull() ? null : text.asText().getBytes(StandardCharsets.UTF_8);
    }
}
