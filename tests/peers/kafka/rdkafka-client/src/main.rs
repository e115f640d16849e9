//! A client of rdkafka: `client consume ADDRESS TOPIC ISOLATION OFFSET`, `client produce ADDRESS TOPIC CODEC MODE`.
use std::{env, error::Error, io, time::Duration};

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::{Header, Headers, Message, OwnedHeaders, Timestamp};
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer, ProducerContext, ThreadedProducer};
use rdkafka::{ClientContext, Offset, TopicPartitionList};
use serde_json::{json, Value};

type Failing<T> = Result<T, Box<dyn Error>>;

const LONG: Duration = Duration::from_secs(60);

/// Print the records of partition 0 from an offset on, for ever.
fn consume(address: &str, topic: &str, isolation: &str, offset: &str) -> Failing<()> {
    let options = [("bootstrap.servers", address), ("group.id", topic), ("isolation.level", isolation), ("check.crcs", "true")];
    let rest = [("enable.auto.commit", "false"), ("auto.offset.reset", "error")].map(|(name, value)| (name.to_string(), value.to_string()));
    let consumer: BaseConsumer = ClientConfig::from_iter(options.map(|(name, value)| (name.to_string(), value.to_string())).into_iter().chain(rest)).create()?;
    let mut start = TopicPartitionList::new();
    start.add_partition_offset(topic, 0, Offset::Offset(offset.parse()?))?;
    consumer.assign(&start)?;
    for answer in consumer.iter() {
        match answer {
            Err(error) => println!("{}", json!({"error": error.to_string()})),
            Ok(r) => {
                let headers: Vec<Value> = r.headers().iter().flat_map(|all| all.iter()).map(|h| json!([h.key, h.value.map(hex::encode)])).collect();
                let (kind, timestamp) = match r.timestamp() {
                    Timestamp::NotAvailable => (None, -1),
                    Timestamp::CreateTime(at) => (Some("CreateTime"), at),
                    Timestamp::LogAppendTime(at) => (Some("LogAppendTime"), at),
                };
                println!("{}", json!({"offset": r.offset().to_string(), "timestamp": timestamp.to_string(), "timestampType": kind,
                    "key": r.key().map(hex::encode), "value": r.payload().map(hex::encode), "headers": headers}));
            }
        }
    }
    Ok(())
}

struct Answers;

impl ClientContext for Answers {}

impl ProducerContext for Answers {
    type DeliveryOpaque = ();

    fn delivery(&self, answer: &DeliveryResult<'_>, _: ()) {
        match answer {
            Ok(r) => println!("{}", json!({"offset": r.offset().to_string()})),
            Err((error, _)) => println!("{}", json!({"error": error.to_string()})),
        }
    }
}

/// Hand the records of stdin to the producer; print the answers at each flush, which may wait for `linger.ms`.
fn produce(address: &str, topic: &str, codec: &str, mode: &str) -> Failing<()> {
    let mut options = ClientConfig::new();
    options.set("bootstrap.servers", address).set("compression.type", codec).set("linger.ms", "1000").set("batch.size", "16777216");
    options.set("batch.num.messages", "1000000").set("queue.buffering.max.messages", "1000000").set("message.max.bytes", "33554432");
    options.set("enable.idempotence", (mode != "plain").to_string());
    if mode == "transactional" {
        options.set("transactional.id", topic);
    }
    let producer: ThreadedProducer<Answers> = options.create_with_context(Answers)?;
    if mode == "transactional" {
        producer.init_transactions(LONG)?;
    }
    for text in io::stdin().lines() {
        let line: Value = serde_json::from_str(&text?)?;
        match line.as_object().and_then(|fields| fields.keys().next()).map(String::as_str) {
            Some("flush") => producer.flush(LONG)?,
            Some("begin") => producer.begin_transaction()?,
            Some("commit") => producer.commit_transaction(LONG)?,
            Some("abort") => producer.abort_transaction(LONG)?,
            _ => send(&producer, topic, &line)?,
        }
    }
    Ok(())
}

/// Hand the record of a line to the producer.
fn send(producer: &ThreadedProducer<Answers>, topic: &str, line: &Value) -> Failing<()> {
    let unhexed = |text: &Value| text.as_str().map(hex::decode).transpose();
    let (key, value, mut headers) = (unhexed(&line["key"])?, unhexed(&line["value"])?, OwnedHeaders::new());
    for pair in line["headers"].as_array().into_iter().flatten() {
        headers = headers.insert(Header { key: pair[0].as_str().ok_or("name")?, value: unhexed(&pair[1])?.as_ref() });
    }
    let mut record = BaseRecord::<[u8], [u8]>::to(topic).partition(0).headers(headers);
    record.key = key.as_deref();
    record.payload = value.as_deref();
    record.timestamp = line["timestamp"].as_str().map(str::parse).transpose()?;
    producer.send(record).map_err(|(error, _)| error.into())
}

fn main() -> Failing<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let run = if words[0] == "consume" { consume } else { produce };
    run(&words[1], &words[2], &words[3], &words[4])
}
