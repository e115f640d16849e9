"""The data source for Iggy segments; Spark finds it because this module's name begins with `pyspark_`."""

from wireproof.spark.logs.data_sources import LogSource


class DefaultSource(LogSource):
    """`wireproof.iggy_log`: segments of the revision in the option `revision`."""

    KIND = "wireproof.iggy_log"
