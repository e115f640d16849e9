"""The data source for Heka streams; Spark finds it because this module's name begins with `pyspark_`."""

from wireproof.spark.logs.data_sources import LogSource


class DefaultSource(LogSource):
    """`wireproof.heka_stream`: framed messages."""

    KIND = "wireproof.heka_stream"
