"""The process of the adapter: `python -m wireproof.live.kafka_client.worker OPTIONS COMMAND…`.

It exchanges frames over stdin and stdout, with several cases in flight: each starts the program in a thread.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from wireproof.live.kafka_client.claims import hello_of_client
from wireproof.live.kafka_client.consume_case import Consumers
from wireproof.live.kafka_client.produce_case import Producers
from wireproof.live.kafka_client.program import ClientOptions
from wireproof.live.worker import Service, serve


@contextmanager
def opened(arguments: Sequence[str]) -> Iterator[Service]:
    """Find out what the program knows; raise `AdapterError`."""
    options, words = ClientOptions.of_json(arguments[0]), tuple(arguments[1:])
    window = min(4, os.cpu_count() or 1)  # programs that run at the same time
    hello = hello_of_client(options, words, window)
    runs = {"decode": Consumers(options, words).decode, "encode": Producers(options, words).encode}
    yield Service(hello, lambda request: runs[request.op](request), window, is_server=False)


if __name__ == "__main__":
    sys.exit(serve(opened(sys.argv[1:])))
