"""Real brokers to judge, each started by its name: `python -m tests.live.brokers start kafka-4.4`."""
