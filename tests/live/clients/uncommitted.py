"""A client program of a library that has read_uncommitted alone, as kafka-python before 2.1."""

import sys

from tests.live.clients.subscriber import main, put

if __name__ == "__main__":
    if sys.argv[4] != "read_uncommitted":
        put({"error": "read_uncommitted only"})
    else:
        main(*sys.argv[1:])
