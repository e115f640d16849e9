"""The data source for Kafka logs; Spark finds it because this module's name begins with `pyspark_`."""

from wireproof.kafka.family.data_source import KafkaLog as DefaultSource

__all__ = ["DefaultSource"]
