"""The files beside the segments of a Kafka broker."""
