"""Peers and servers that run the same code: of them, one is a witness of a case, for the others repeat its answer."""

from collections.abc import Mapping, Sequence

SHARED_CODE = (
    ("aiokafka", "aiokafka-pure", "kafka-python", "aiokafka-client", "kafka-python-client"),
    ("kafka-go", "kafka-go-reader", "kafka-go-client"),
    ("kafka-clients", "kafka-clients-client", "apache-kafka"),
    ("librdkafka", "librdkafka-client", "confluent-kafka-client", "rdkafka-client"),
    ("franz-go", "franz-go-client"),
    ("sarama", "sarama-client"),
    ("kafkajs", "kafkajs-client"),
    ("platformatic-kafka", "platformatic-kafka-client"),
    ("rskafka", "rskafka-client"),
    ("iggy-java", "iggy-java-resend"),
    ("iggy-binary-protocol", "iggy-rust-0.11", "iggy-rust-edge", "apache-iggy-0.9"),
    (
        "iggy-rust-0.10", "iggy-rust-0.9", "iggy-rust-0.8", "iggy-rust-0.7", "iggy-rust-0.0.60", "iggy-rust-0.0.40",
        "iggy-rust-0.0.30", "apache-iggy-0.8", "apache-iggy-0.7", "apache-iggy-0.6", "apache-iggy-0.5", "iggy-py",
    ),
)  # fmt: skip
"""Each group in the order of preference.

The record classes of aiokafka share its codecs and come from kafka-python, with which half of their lines are the same
today; the two readers of kafka-go share its compression. A client runs the codec of its library, and Apache's broker
the record classes of its client. Iggy's packages for Python are bindings of the crates.
"""


def without_shared_code(witnesses: Sequence[Mapping[str, str]], revision: str) -> list[Mapping[str, str]]:
    """Return one witness of each group, the revision's own crate before others, and those of no group."""
    best: dict[object, tuple[tuple[bool, int], Mapping[str, str]]] = {}
    for one in witnesses:
        group, place = _place(one["name"])
        rank = (not one["name"].endswith(f"-{revision}"), place)
        if group not in best or rank < best[group][0]:
            best[group] = (rank, one)
    return [one for _, one in best.values()]


def _place(name: str) -> tuple[object, int]:
    for number, group in enumerate(SHARED_CODE):
        if name in group:
            return number, group.index(name)
    return name, 0
