"""The table of remark classes: where the formats leave the answer open, and which other answers are allowed.

A codec adds a remark by the name of its class. Only this table decides if a codec may reject the input
there. The other allowed *values* are computed by the codec, under the names listed in `others`.
architecture.md#verdicts. The classes of numbers and compressed data are here, those of a family with it.
"""

from collections.abc import Mapping
from typing import Final

from attrs import frozen


@frozen
class RemarkClass:
    """A class of remarks.

    Attributes:
        source: document, section and test vectors.
        meaning: what is unusual in the bytes, for a person who looks at them. It is no fault: the bytes may
            be correct.
        rejectable: True if a codec may reject the input here.
        others: names of the other allowed answers, whose values the codec computes.
        mismatch: True if a checksum or count is wrong: a reader may ignore it, but the bytes are damaged.
    """

    source: str
    meaning: str
    rejectable: bool = True
    others: tuple[str, ...] = ()
    mismatch: bool = False


COMMON_REMARKS: Final[dict[str, RemarkClass]] = {
    # Numbers of variable length: kafka.md, section 4, and heka.md, section 4.
    "varint-overlong": RemarkClass(
        "kafka.md section 4, T01, T02, T10, T15", "a number takes more bytes than it needs"
    ),
    "varint-dropped-bits": RemarkClass(
        "kafka.md section 4, T04, T05, T13, T14",
        "a number has bits that do not fit into its type",
        others=("kept-bits",),
    ),
    "varint-nonminimal": RemarkClass(
        "heka.md section 4, M12, M13", "a number takes more bytes than it needs", rejectable=False
    ),
    # Compressed data that Kafka's reader accepts although no conforming writer makes it: kafka.md, section 3.
    "gzip-trailing-garbage": RemarkClass(
        "kafka.md section 3, N13", "there are bytes after the end of the gzip stream"
    ),
    "gzip-reserved-flags": RemarkClass(
        "kafka.md section 3, X07: rejected, but the JDK ignores them",
        "reserved flags of gzip are set",
        others=("ignored",),
    ),
    "snappy-version": RemarkClass(
        "kafka.md section 3.2, Z02 to Z05: readers compare the magic alone",
        "the snappy framing has another version",
        rejectable=False,
    ),
    "snappy-trailing-bytes": RemarkClass(
        "kafka.md section 3, Z08", "there are bytes after the last snappy block"
    ),
    "snappy-concatenated": RemarkClass("kafka.md section 3, Z11", "more than one snappy frame"),
    "lz4-content-checksum": RemarkClass(
        "kafka.md section 3, Z26: rejected, but Kafka passes over it, KAFKA-20528",
        "the content checksum of the lz4 frame is wrong",
        others=("passed-over",),
    ),
    "lz4-content-size": RemarkClass("kafka.md section 3, Z44", "the content size of the lz4 frame is wrong"),
    "lz4-after-endmark": RemarkClass(
        "kafka.md section 3, Z37, Z38, X10", "there are bytes after the end of the lz4 frame"
    ),
    "lz4-endmark-stored": RemarkClass(
        "kafka.md section 3, X10: others read an empty block", "an empty lz4 block that is not the end mark"
    ),
    "lz4-v0-hc-good": RemarkClass(
        "kafka.md section 2.3, Z23", "the lz4 header checksum is correct; old clients write another one"
    ),
    "lz4-v0-hc-neither": RemarkClass(
        "kafka.md section 2.3: the reader of v0 ignores the byte",
        "the lz4 header checksum is neither correct nor that of old clients",
    ),
    "zstd-empty-packed-block": RemarkClass(
        "RFC 8878, section 3.1.1.3, requires 2 bytes; zstandard accepts 0 when it streams",
        "a compressed zstd block is empty",
    ),
}
"""The classes that the readers of numbers and of compressed data use."""

REMARK_CLASSES: Final[dict[str, RemarkClass]] = dict(COMMON_REMARKS)
"""The classes of all packages that are imported, by name."""


def register(classes: Mapping[str, RemarkClass]) -> None:
    """Add the classes of a package, which does this in its `__init__`; to add them again changes nothing.

    Raises:
        ValueError: another class has one of the names.
    """
    for name, added in classes.items():
        if REMARK_CLASSES.setdefault(name, added) != added:
            raise ValueError(f"there is another class of remarks {name} already")
