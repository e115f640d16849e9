"""The data source for Kafka logs; Spark finds it because this module's name begins with `pyspark_`."""

from wireproof.spark.logs.data_sources import LogSource


class DefaultSource(LogSource):
    """`wireproof.kafka_log`: log segments, or any consecutive entries."""

    KIND = "wireproof.kafka_log"
