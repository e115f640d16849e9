"""A program that uses the public interface of a Kafka client as an adapter: `kafka-client:COMMAND`.

The suite is its broker, on the loopback. See `clients.md`.
"""
