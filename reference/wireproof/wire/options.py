"""What a caller may ask of a codec beside the bytes: design, section 4, "options" and "limits"."""

from collections.abc import Mapping
from typing import Final, Literal

from attrs import field, frozen

Profile = Literal["reader", "produce"]

MAX_OUTPUT: Final = 64 * 1024 * 1024
"""Bytes that one decoded entry may unpack to, all its compressed regions together."""


Resync = Literal["strict", "go", "c"]
"""How a reader of Heka streams goes on behind what is no frame."""


@frozen
class Options:
    """One set of options serves every format; each codec reads those that concern it.

    Attributes:
        profile: what the bytes are held to: what a reader must take, or what a producer may send.
        max_output: bytes that may come out of decompression.
        max_message: bytes of one Heka message or Kafka entry; None takes the format's own default.
        keys: Heka: key bytes by `<signer>_<version>`; None does not verify signatures.
        resync: Heka: `strict`, `go` or `c`, heka.md section 2.
        compression: the declared outer compression of a Heka message: `none` or `snappy`.
        fetch_offset: Kafka: records below it are not delivered.
        isolation: Kafka: `read_uncommitted` or `read_committed`.
        aborted: Kafka: (producerId, firstOffset) of each aborted transaction.
    """

    profile: Profile = "reader"
    max_output: int = MAX_OUTPUT
    max_message: int | None = None
    keys: Mapping[str, bytes] | None = None
    resync: Resync = "strict"
    compression: Literal["none", "snappy"] = "none"
    fetch_offset: int | None = None
    isolation: Literal["read_uncommitted", "read_committed"] = "read_uncommitted"
    aborted: tuple[tuple[int, int], ...] = field(default=())


DEFAULT: Final = Options()
