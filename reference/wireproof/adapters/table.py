"""The adapters that come with this package, one row each; mutants are found in `mutants/` by themselves."""

from typing import Final

from wireproof.adapters.entry import Build, Entry


def _rust(source: str) -> Build:
    """A driver in Rust; its lock file says what is built."""
    cargo = ("cargo", "build", "--quiet", "--release", "--locked", "--target-dir", "{build}/target")
    return Build(source, (cargo,), shared=("shared-rust",))


TABLE: Final[tuple[Entry, ...]] = (
    Entry(
        "reference",
        "the reference codecs of this package",
        object="wireproof.adapters.reference:Reference",
        formats=("kafka", "iggy", "heka"),
    ),
    Entry(
        "columnar",
        "the fast decoders of this package, and the reference for what they hand over",
        object="wireproof.adapters.columnar:Columnar",
        extra="columnar",
        formats=("kafka", "heka"),
    ),
    Entry(
        "kafka-python",
        "the record classes of kafka-python, as its fetcher drives them",
        object="wireproof.adapters.bindings.kafka_python:adapter",
        extra="peers",
        formats=("kafka",),
        instrument=("kafka.record", "kafka.codec"),
    ),
    Entry(
        "aiokafka",
        "the record classes of aiokafka, its C extension",
        object="wireproof.adapters.bindings.aiokafka:adapter",
        extra="peers",
        formats=("kafka",),
        instrument=("aiokafka.record", "aiokafka.codec"),
    ),
    Entry(
        "aiokafka-pure",
        "the record classes of aiokafka, plain Python",
        object="wireproof.adapters.bindings.aiokafka:adapter",
        environment={"AIOKAFKA_NO_EXTENSIONS": "1"},
        extra="peers",
        formats=("kafka",),
        instrument=("aiokafka.record", "aiokafka.codec"),
    ),
    Entry(
        "kio",
        "kio.records: one uncompressed v2 batch",
        object="wireproof.adapters.bindings.kio:adapter",
        extra="peers",
        formats=("kafka",),
        instrument=("kio.records", "kio.serial"),
    ),
    Entry(
        "kafka-clients",
        "Apache Kafka's own record classes (Java), driven as a consumer drives them",
        command=("java", "-Xmx512m", "-jar", "{build}/target/driver.jar"),
        prepare=Build("java-kafka-clients", (("mvn", "-q", "-B", "package"),)),
        formats=("kafka",),
    ),
    Entry(
        "kafka-protocol",
        "kafka-protocol (Rust): its decoder and encoder of record batches",
        command=("{build}/target/release/driver",),
        prepare=_rust("kafka-protocol"),
        formats=("kafka",),
    ),
    Entry(
        "rskafka",
        "rskafka (Rust): the record sets of its fetch response, its record batches",
        command=("{build}/target/release/driver",),
        prepare=_rust("rskafka"),
        formats=("kafka",),
    ),
    Entry(
        "iggy-py",
        "iggy-py 0.4 (Rust SDK 0.6) behind a server on the loopback",
        object="wireproof.adapters.bindings.iggy_py:adapter",
        extra="peers",
        formats=("iggy",),
    ),
    Entry(
        "protobuf-upb",
        "Google's protobuf for Python (upb, in C) on Heka messages",
        object="wireproof.adapters.bindings.protobuf:adapter",
        environment={"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "upb"},
        extra="peers",
        formats=("heka",),
        instrument=("google.protobuf.internal",),
    ),
    Entry(
        "protobuf-python",
        "the same package's parser in Python",
        object="wireproof.adapters.bindings.protobuf:adapter",
        environment={"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
        extra="peers",
        formats=("heka",),
        instrument=("google.protobuf.internal",),
    ),
)
