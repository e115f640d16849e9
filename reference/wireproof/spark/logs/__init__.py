"""Logs on Spark: objects of any store, the parts that tasks read, and the sources for `spark.read`."""
