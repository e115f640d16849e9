"""The compressed regions of Kafka: codec number to frame reader and frame writer. kafka.md, section 3.

`decompress` takes the rest of a reader's window as one compressed region and gives a reader of what
was in it, in a space of its own. `compress` writes a region as Kafka's own writer would.
"""
