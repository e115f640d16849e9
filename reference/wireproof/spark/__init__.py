"""Read archives with Spark, as tables and as streams; scan them, and run campaigns of generated cases.

Only `session`, `data_sources` and the running of jobs need Spark; all other modules work
on files and Arrow batches.
"""
