"""Generators of Kafka segments and Heka streams, each with a manifest of the results to expect."""
