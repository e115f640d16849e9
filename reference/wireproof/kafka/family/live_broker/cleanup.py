"""Remove the topics of a run: `python -m wireproof.kafka.family.live_broker.cleanup SPEC TOKEN`.

It runs after the process of the adapter, however that ended, and prints one line if a topic is left.
"""

import sys

from kafka import errors

from wireproof.adapters.errors import AdapterError
from wireproof.adapters.live_servers import ServerAddress
from wireproof.kafka.family.live_broker import topics
from wireproof.kafka.family.live_broker.client_properties import read_properties
from wireproof.kafka.family.live_broker.cluster import Cluster
from wireproof.wire.safe_text import one_line


def main(arguments: list[str]) -> int:
    """Remove the topics; return 0 if none is left."""
    spec, token = arguments
    try:
        address = ServerAddress.of(spec)
        with Cluster(address, read_properties(address.properties).settings) as cluster:
            left = topics.remove(cluster, token)
    except (AdapterError, errors.KafkaError) as error:
        return _report(f"topics named {topics.PREFIX}{token}-… may be left: {one_line(str(error), 200)}")
    if not left:
        return 0
    return _report("topics left: " + ", ".join(f"{name} ({reason})" for name, reason in left.items()))


def _report(text: str) -> int:
    sys.stderr.write(f"{text}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
