"""The data source `wireproof.heka_stream` for Spark."""

from wireproof.spark.data_sources import LogSource


class HekaStream(LogSource):
    """`wireproof.heka_stream`: framed messages."""

    KIND = "wireproof.heka_stream"
