"""The data source for Heka streams; Spark finds it because this module's name begins with `pyspark_`."""

from wireproof.heka.family.data_source import HekaStream as DefaultSource

__all__ = ["DefaultSource"]
