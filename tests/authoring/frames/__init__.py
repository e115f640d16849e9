"""The libraries of compression as witnesses of Kafka's compressed cases: they are run on the frames themselves.

Nothing here is code of the package: a small parser of its own finds the frames and reads what comes out.
"""
