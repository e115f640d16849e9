"""Kafka logs for Spark, which finds sources in top-level modules called `pyspark_…`."""

from wireproof.spark.source import KafkaLog as DefaultSource

__all__ = ["DefaultSource"]
