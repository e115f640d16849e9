"""The data source `wireproof.kafka_log` for Spark."""

from wireproof.spark.data_sources import LogSource


class KafkaLog(LogSource):
    """`wireproof.kafka_log`: log segments, or any consecutive entries."""

    KIND = "wireproof.kafka_log"
