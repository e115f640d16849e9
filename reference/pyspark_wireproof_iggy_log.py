"""Iggy segments for Spark, which finds sources in top-level modules called `pyspark_…`."""

from wireproof.spark.source import IggyLog as DefaultSource

__all__ = ["DefaultSource"]
