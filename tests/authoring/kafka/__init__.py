"""Parts of Kafka's bytes for new cases."""
