//! A client of rskafka: `client consume ADDRESS TOPIC ISOLATION OFFSET`, `client produce ADDRESS TOPIC CODEC MODE`.
use std::{env, error::Error, io, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use futures::StreamExt;
use rskafka::client::consumer::{StartOffset, StreamConsumerBuilder};
use rskafka::client::partition::{Compression, PartitionClient, UnknownTopicHandling};
use rskafka::client::ClientBuilder;
use rskafka::record::Record;
use serde_json::{json, Value};

type Failing<T> = Result<T, Box<dyn Error>>;

async fn partition(address: &str, topic: &str) -> Failing<Arc<PartitionClient>> {
    let client = ClientBuilder::new(vec![address.to_string()]).build().await?;
    Ok(Arc::new(client.partition_client(topic, 0, UnknownTopicHandling::Retry).await?))
}

/// Print the records of partition 0 from an offset on, for ever. rskafka always reads committed records; an error
/// may end the stream, and a new one goes on.
async fn consume(address: &str, topic: &str, _isolation: &str, offset: &str) -> Failing<()> {
    let (client, mut next) = (partition(address, topic).await?, offset.parse()?);
    loop {
        let mut stream = StreamConsumerBuilder::new(client.clone(), StartOffset::At(next)).build();
        while let Some(answer) = stream.next().await {
            match answer {
                Err(error) => println!("{}", json!({"error": error.to_string()})),
                Ok((r, _)) => {
                    let headers: Vec<Value> = r.record.headers.iter().map(|(name, value)| json!([name, hex::encode(value)])).collect();
                    let (key, value) = (r.record.key.map(hex::encode), r.record.value.map(hex::encode));
                    let timestamp = r.record.timestamp.timestamp_millis().to_string();
                    println!("{}", json!({"offset": r.offset.to_string(), "timestamp": timestamp, "key": key, "value": value, "headers": headers}));
                    next = r.offset + 1;
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Hand the records of stdin to the producer; print the answers at each flush. There are no other modes than plain.
async fn produce(address: &str, topic: &str, codec: &str, _mode: &str) -> Failing<()> {
    let codecs = [Compression::NoCompression, Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd];
    let codec = ["none", "gzip", "snappy", "lz4", "zstd"].iter().position(|&name| name == codec).ok_or("codec")?;
    let (client, mut waiting) = (partition(address, topic).await?, vec![]);
    for text in io::stdin().lines() {
        let line: Value = serde_json::from_str(&text?)?;
        if line.get("flush").is_none() {
            waiting.push(record(&line)?);
            continue;
        }
        let count = waiting.len();
        match client.produce(std::mem::take(&mut waiting), codecs[codec]).await {
            Ok(offsets) => offsets.iter().for_each(|offset| println!("{}", json!({"offset": offset.to_string()}))),
            Err(error) => (0..count).for_each(|_| println!("{}", json!({"error": error.to_string()}))),
        }
    }
    Ok(())
}

/// Return the record of a line. A header of rskafka has a value always, so that null is empty.
fn record(line: &Value) -> Failing<Record> {
    let unhexed = |text: &Value| text.as_str().map(hex::decode).transpose();
    let mut headers = std::collections::BTreeMap::new();
    for pair in line["headers"].as_array().into_iter().flatten() {
        headers.insert(pair[0].as_str().ok_or("name")?.to_string(), unhexed(&pair[1])?.unwrap_or_default());
    }
    let when = line["timestamp"].as_str().map(str::parse).transpose()?.and_then(DateTime::from_timestamp_millis);
    Ok(Record { key: unhexed(&line["key"])?, value: unhexed(&line["value"])?, headers, timestamp: when.unwrap_or_else(Utc::now) })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Failing<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words[0].as_str() {
        "consume" => consume(&words[1], &words[2], &words[3], &words[4]).await,
        _ => produce(&words[1], &words[2], &words[3], &words[4]).await,
    }
}
