"""Sizes of Kafka entries: values around 64 KiB, of 1.5 MiB and of 40 MiB; 6, 1,000 and 131,071 records; wrappers.

A case of 40 MiB is small on the wire, so it is of compressed entries only. Codecs of v0 and v1 have no zstd.
"""

from collections.abc import Iterator
from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.generated import KIB, MIB, add_generated

V2, OLD = ("none", "gzip", "snappy", "snappy-raw", "lz4", "zstd"), ("none", "gzip", "snappy", "snappy-raw", "lz4")
NAMES = {"none": "Uncompressed", "gzip": "gzip", "snappy": "snappy in xerial blocks", "snappy-raw": "one raw snappy block", "lz4": "LZ4", "zstd": "zstd"}

MOST_RECORDS = {False: ("none", "gzip", "snappy", "lz4", "zstd"), True: ("none", "lz4")}
"""The codecs whose batches of 131,071 records are read, and written: each takes the reference seconds, and the number
of records is outside what is compressed."""

EDGE = "A buffer of 64 KiB, or a length of 16 bits, ends here."
EDGES = {
    "none": "zendesk/ruby-kafka#680: messages above 98,295 bytes were corrupt.",
    "gzip": EDGE,
    "snappy": "eapache/go-xerial-snappy#2: what is larger than one block was unreadable.",
    "snappy-raw": EDGE,
    "lz4": "KAFKA-5150: the size of a block was compared wrongly, and a block has 64 KiB.",
    "zstd": EDGE,
}
UNSIZED = "dpkp/kafka-python#2594, dpkp/kafka-python#2021: a zstd frame above 1 MiB that does not state its size was refused."
GROWTH = "confluentinc/librdkafka#5260, confluentinc/librdkafka#5596: an output above the last step of the buffer stalled the consumer for ever."
RATIO = "A reader that guesses the size of the output from that of the input needs a second attempt."
STEPS = "confluentinc/librdkafka#5260: a buffer that starts at twice the input and grows by three does not reach 40 MiB below its limit of 100 MB."
WORST = "confluentinc/librdkafka#1445: a frame without content size was given 255 times its size, 380 MiB for 1.5 MiB."
WHOLE = "eapache/go-xerial-snappy#2: sets above the size of a block were written as one raw block, which brokers failed on."
COUNT = "IBM/sarama#1225, IBM/sarama#3119: more than 131,070 records were an invalid array length."
SOME = "A buffer for a few records, or for a count of one byte, is too small."

VALUE, RECORDS, WRAPPER, BLOCKS = "kafka.size.value", "kafka.size.records", "kafka.size.wrapper", "kafka.size.blocks"
RATIO_RULE, UNSIZED_RULE = "kafka.size.ratio", "kafka.size.zstd.unsized"
FEW = {"ms": 30_000, "rss_mb": 320}
"""Less memory than 255 times 1.5 MiB, and 200 times that of the value."""

V2_DOC, OLD_DOC = "kafka.md §1.1, §1.3, §3", "kafka.md §2.1, §2.2, §3"


def write(writer: FixtureWriter) -> None:
    for kind, codecs in (("kafka.batch/v0", OLD), ("kafka.batch/v1", OLD), ("kafka.batch/v2", V2)):
        for codec in codecs:
            for name, title, row, rules, why in (*_values(kind, codec), *_counts(kind, codec), *_special(codec)):
                _read(writer, f"size/{codec}-{name}", title, {"kind": kind, **row, **_codec(codec)}, rules, why)
            if (kind, codec) == ("kafka.batch/v2", "lz4"):
                row = {"kind": kind, "value": 1536 * KIB, **_codec(codec)}
                _read(writer, f"size/{codec}-value-1536k-in-320m", "LZ4: a value of 1.5 MiB, within 320 MiB of memory", row, (VALUE,), WORST, FEW)
            if codec == "snappy-raw":
                continue  # no recipe names the framing to an encoder
            if codec == "snappy":
                _produced(writer, {"kind": kind, "records": 6, "value": 10_000, "fill": "runs", "codec": codec})
            for name, title, row, rules, why in (*_values(kind, codec, encode=True), *_counts(kind, codec, encode=True)):
                _written(writer, f"size-encode/{codec}-{name}", title, {"kind": kind, **row, **_codec(codec)}, rules, why)


def _codec(codec: str) -> dict[str, str]:
    return {} if codec == "none" else {"codec": codec}


def _values(kind: str, codec: str, *, encode: bool = False) -> Iterator[tuple[str, str, dict[str, Any], tuple[str, ...], str]]:
    """One record, or one message, whose value has the size.

    Some writers send what compression would make larger as it is, so what is written compressed must become smaller.
    """
    fill = {"fill": "runs"} if encode and codec != "none" else {}
    several = (VALUE,) if codec in ("none", "snappy-raw") else (VALUE, BLOCKS)
    for size in (65535, 65536, 65537):
        yield f"value-{size}", f"{NAMES[codec]}: a value of {size:,} bytes", {"value": size, **fill}, several, EDGES[codec]
    noise = {"value": 1536 * KIB}
    if not fill:
        yield "value-1536k", f"{NAMES[codec]}: a value of 1.5 MiB that does not compress", noise, several, UNSIZED if codec == "zstd" else EDGES[codec]
    if codec == "none":
        return
    runs = {"value": 1536 * KIB, "fill": "runs"}
    yield "value-1536k-runs", f"{NAMES[codec]}: a value of 1.5 MiB that compresses well", runs, (VALUE, RATIO_RULE), UNSIZED if codec == "zstd" else RATIO
    if not encode and (codec != "snappy-raw" or kind.endswith("v2")):
        yield "value-40m", f"{NAMES[codec]}: a value of 40 MiB", {"value": 40 * MIB, "fill": "runs"}, (VALUE, RATIO_RULE), GROWTH


def _counts(kind: str, codec: str, *, encode: bool = False) -> Iterator[tuple[str, str, dict[str, Any], tuple[str, ...], str]]:
    """Numbers of records of a batch, or of messages in a wrapper."""
    row: dict[str, Any] = {"value": 100, "fill": "runs"} if encode and codec != "none" else {"value": 10}
    if kind.endswith("v2"):
        yield "records-6", f"{NAMES[codec]}: 6 records", {"records": 6, **row}, (RECORDS,), SOME
        yield "records-1000", f"{NAMES[codec]}: 1,000 records", {"records": 1000, **row}, (RECORDS,), SOME
        if codec in MOST_RECORDS[encode]:
            yield "records-131071", f"{NAMES[codec]}: 131,071 records", {"records": 131071}, (RECORDS,), COUNT
    elif codec != "none":
        yield "wrapper-1", f"{NAMES[codec]}: a wrapper of one message", {"records": 1, **row}, (WRAPPER,), "A wrapper of one message is one too."
        yield "wrapper-1000", f"{NAMES[codec]}: a wrapper of 1,000 messages", {"records": 1000, **row}, (WRAPPER,), SOME


def _special(codec: str) -> Iterator[tuple[str, str, dict[str, Any], tuple[str, ...], str]]:
    """Forms of a codec that its own writer does not choose."""
    match codec:
        case "zstd":
            yield "value-1536k-sized", "zstd: a value of 1.5 MiB in a frame that states its size", {"value": 1536 * KIB, "sized": True}, (VALUE, BLOCKS), "The twin of the frame that does not state it."
            yield "value-40m-sized", "zstd: a value of 40 MiB in a frame that states its size", {"value": 40 * MIB, "fill": "runs", "sized": True}, (VALUE, RATIO_RULE), GROWTH
            yield "value-40m-750-blocks", "zstd: a value of 40 MiB in about 750 RLE blocks", {"value": 40 * MIB, "fill": "runs", "block": 384 * KIB}, (VALUE, RATIO_RULE), STEPS
            yield "value-65537-small-blocks", "zstd: a value of 65,537 bytes in blocks of 1,000 bytes", {"value": 65537, "block": 1000}, (VALUE, BLOCKS), EDGE
        case "lz4":
            yield "value-1536k-4m-block", "LZ4: a value of 1.5 MiB in one block", {"value": 1536 * KIB, "block": 4 * MIB}, (VALUE,), "librdkafka writes blocks of 4 MB, Kafka of 64 KiB."
        case "snappy":
            yield "value-65537-small-blocks", "snappy: a value of 65,537 bytes in xerial blocks of 1 KiB", {"value": 65537, "block": KIB}, (VALUE, BLOCKS), EDGES["snappy"]


def _needs(kind: str, codec: str) -> tuple[str, ...]:
    if codec == "none":
        return ()
    name = codec.removesuffix("-raw")
    return (f"codec:{name}",) if kind.endswith("v2") else (f"codec:{name}", "feature:wrapper")


def _read(writer: FixtureWriter, name: str, title: str, recipe: dict[str, Any], rules: tuple[str, ...], why: str, limits: dict[str, int] | None = None) -> None:
    codec, kind = recipe.get("codec", "none"), recipe["kind"]
    unsized = (UNSIZED_RULE,) if codec == "zstd" and not recipe.get("sized") and UNSIZED_RULE not in rules else ()
    add_generated(
        writer, name, title, recipe, rules=(*rules, *unsized), why=why, doc=V2_DOC if kind.endswith("v2") else OLD_DOC,
        needs=_needs(kind, codec), limits=limits,
    )  # fmt: skip


def _written(writer: FixtureWriter, name: str, title: str, recipe: dict[str, Any], rules: tuple[str, ...], why: str) -> None:
    codec, kind = recipe.get("codec", "none"), recipe["kind"]
    linked = codec == "lz4" and recipe.get("value", 0) > 64 * KIB
    add_generated(
        writer, name, title, recipe, op="encode", rules=(*rules, "kafka.lz4.frame") if linked else rules,
        why="dpkp/kafka-python#1476: blocks above 64 KiB were linked, which Kafka's Java refuses." if linked else why,
        doc=V2_DOC if kind.endswith("v2") else OLD_DOC, needs=_needs(kind, codec),
    )  # fmt: skip


def _produced(writer: FixtureWriter, recipe: dict[str, Any]) -> None:
    add_generated(
        writer, "produce/encode-snappy-60000", "snappy of 60,000 bytes: xerial framing, in more than one block", recipe, op="encode",
        rules=("kafka.produce.snappy",), why=WHOLE, doc="kafka.md §3", needs=_needs(recipe["kind"], "snappy"), level="should", profile="produce",
    )  # fmt: skip
