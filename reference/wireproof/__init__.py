"""wireproof: a conformance and fuzz suite for the Kafka, Iggy and Heka message formats."""

__version__ = "0.1.0"
