import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonStreamParser;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A client of Kafka's own library: {@code consume ADDRESS TOPIC ISOLATION OFFSET}, {@code produce ADDRESS TOPIC CODEC MODE}. */
public final class Client {
  private static final Gson JSON = new GsonBuilder().serializeNulls().create();

  /** Prints the records of partition 0 from an offset on, for ever. */
  static void consume(String address, String topic, String isolation, String offset) throws Exception {
    var settings =
        Map.<String, Object>of("bootstrap.servers", address, "isolation.level", isolation, "auto.offset.reset", "none");
    var bytes = new ByteArrayDeserializer();
    try (var consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
      var partition = new TopicPartition(topic, 0);
      consumer.assign(List.of(partition));
      consumer.seek(partition, Long.parseLong(offset));
      while (true) {
        try {
          consumer.poll(Duration.ofMillis(100)).forEach(Client::print);
        } catch (RuntimeException error) {
          System.out.println(JSON.toJson(Map.of("error", error.toString())));
          Thread.sleep(100);
        }
      }
    }
  }

  private static void print(ConsumerRecord<byte[], byte[]> record) {
    var line = new JsonObject();
    line.addProperty("offset", "" + record.offset());
    line.addProperty("timestamp", "" + record.timestamp());
    var type = record.timestampType();
    line.addProperty("timestampType", type == TimestampType.NO_TIMESTAMP_TYPE ? null : type.toString());
    line.addProperty("key", hex(record.key()));
    line.addProperty("value", hex(record.value()));
    var headers = new JsonArray();
    for (Header header : record.headers()) {
      var pair = new JsonArray();
      pair.add(header.key());
      pair.add(hex(header.value()));
      headers.add(pair);
    }
    line.add("headers", headers);
    System.out.println(JSON.toJson(line));
  }

  /** Hands the records of stdin to the producer, and prints the answers at each flush. */
  static void produce(String address, String topic, String codec, String mode) {
    var settings =
        new java.util.HashMap<String, Object>(
            Map.of("bootstrap.servers", address, "compression.type", codec, "enable.idempotence", !mode.equals("plain")));
    settings.putAll(Map.of("linger.ms", 60_000, "batch.size", 1 << 24, "max.request.size", 1 << 25));
    if (mode.equals("transactional")) {
      settings.put("transactional.id", topic);
    }
    var bytes = new ByteArraySerializer();
    try (var producer = new KafkaProducer<>(settings, bytes, bytes)) {
      if (mode.equals("transactional")) {
        producer.initTransactions();
      }
      Queue<Future<RecordMetadata>> sent = new ArrayDeque<>();
      for (var lines = new JsonStreamParser(new InputStreamReader(System.in)); lines.hasNext(); ) {
        var line = lines.next().getAsJsonObject();
        if (line.has("begin")) {
          producer.beginTransaction();
        } else if (line.has("commit")) {
          producer.commitTransaction();
        } else if (line.has("abort")) {
          producer.abortTransaction();
        } else if (line.has("flush")) {
          producer.flush();
          while (!sent.isEmpty()) {
            System.out.println(JSON.toJson(answer(sent.remove())));
          }
        } else {
          sent.add(producer.send(record(topic, line)));
        }
      }
    }
  }

  private static ProducerRecord<byte[], byte[]> record(String topic, JsonObject line) {
    var headers = new ArrayList<Header>();
    if (line.has("headers")) {
      for (JsonElement pair : line.getAsJsonArray("headers")) {
        headers.add(new RecordHeader(pair.getAsJsonArray().get(0).getAsString(), bytes(pair.getAsJsonArray().get(1))));
      }
    }
    Long timestamp = line.has("timestamp") ? line.get("timestamp").getAsLong() : null;
    return new ProducerRecord<>(topic, 0, timestamp, bytes(line.get("key")), bytes(line.get("value")), headers);
  }

  private static Map<String, String> answer(Future<RecordMetadata> sent) {
    try {
      return Map.of("offset", "" + sent.get().offset());
    } catch (Exception error) {
      return Map.of("error", error.toString());
    }
  }

  private static String hex(byte[] data) {
    return data == null ? null : HexFormat.of().formatHex(data);
  }

  private static byte[] bytes(JsonElement text) {
    return text.isJsonNull() ? null : HexFormat.of().parseHex(text.getAsString());
  }

  public static void main(String[] words) throws Exception {
    if (words[0].equals("consume")) {
      consume(words[1], words[2], words[3], words[4]);
    } else {
      produce(words[1], words[2], words[3], words[4]);
    }
  }
}
