"""Spark: archives as tables and as streams. Design, section 2, floor 8.

Everything but `session`, `source` and `following` works on files and Arrow batches and needs no Spark.
"""
