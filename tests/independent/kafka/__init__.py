"""Readers of Kafka's batches, messages, logs and compressed frames, and what consumers and topics see."""
