"""The data source `wireproof.iggy_log` for Spark."""

from wireproof.spark.data_sources import LogSource


class IggyLog(LogSource):
    """`wireproof.iggy_log`: segments of the revision in the option `revision`."""

    KIND = "wireproof.iggy_log"
