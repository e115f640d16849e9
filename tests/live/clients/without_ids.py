"""A producer of a library without producer ids, as kafka-python before 2.1."""

import sys

from tests.live.clients.plain_client import put
from tests.live.clients.plain_producer import PlainProducer

if __name__ == "__main__":
    _, _, address, topic, codec, mode = sys.argv
    if mode != "plain":
        put({"error": "no producer ids"})
    else:
        PlainProducer(address, topic, codec, mode).run()
