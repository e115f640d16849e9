"""The data source for Iggy segments; Spark finds it because this module's name begins with `pyspark_`."""

from wireproof.iggy.family.data_source import IggyLog as DefaultSource

__all__ = ["DefaultSource"]
