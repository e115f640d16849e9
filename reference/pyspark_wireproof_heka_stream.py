"""Heka streams for Spark, which finds sources in top-level modules called `pyspark_…`."""

from wireproof.spark.source import HekaStream as DefaultSource

__all__ = ["DefaultSource"]
