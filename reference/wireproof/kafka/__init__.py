"""Floor 1: the reference codecs of Kafka's record batches, messages and logs. kafka.md."""
