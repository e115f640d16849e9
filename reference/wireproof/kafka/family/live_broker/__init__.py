"""A running Kafka broker as an adapter: `kafka-broker:HOST:PORT`. See `live-servers.md`."""
