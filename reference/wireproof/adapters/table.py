"""The adapters that come with this package, one row each; mutants are found in `mutants/` by themselves."""

from typing import Final

from wireproof.adapters.entry import Entry

TABLE: Final[tuple[Entry, ...]] = (
    Entry(
        "reference",
        "the reference codecs of this package",
        object="wireproof.adapters.reference:Reference",
        formats=("kafka", "iggy", "heka"),
    ),
    Entry(
        "kafka-python",
        "the record classes of kafka-python, as its fetcher drives them",
        object="wireproof.adapters.bindings.kafka_python:adapter",
        extra="peers",
        formats=("kafka",),
    ),
    Entry(
        "aiokafka",
        "the record classes of aiokafka, its C extension",
        object="wireproof.adapters.bindings.aiokafka:adapter",
        extra="peers",
        formats=("kafka",),
    ),
    Entry(
        "aiokafka-pure",
        "the record classes of aiokafka, plain Python",
        object="wireproof.adapters.bindings.aiokafka:adapter",
        environment={"AIOKAFKA_NO_EXTENSIONS": "1"},
        extra="peers",
        formats=("kafka",),
    ),
    Entry(
        "kio",
        "kio.records: one uncompressed v2 batch",
        object="wireproof.adapters.bindings.kio:adapter",
        extra="peers",
        formats=("kafka",),
    ),
)
