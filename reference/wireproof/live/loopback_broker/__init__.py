"""A Kafka cluster on 127.0.0.1 for clients that are judged: `server.running`.

It stores what producers send as Kafka does, and serves record sets with the bytes of a case. Requests
and replies are the message classes of kafka-python, which are generated from Kafka's own message definitions.
"""
