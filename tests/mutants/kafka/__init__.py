"""Mutants of the Kafka formats, by topic."""
