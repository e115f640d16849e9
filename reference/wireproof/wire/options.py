"""The options of a decode, an encode or a scan: everything that a caller may set besides the input."""

from collections.abc import Mapping
from typing import Final, Literal

from attrs import field, fields, frozen

Profile = Literal["reader", "produce"]

MAX_OUTPUT: Final = 64 * 1024 * 1024
"""Default limit for the decompressed size of one entry, all its compressed regions together, in bytes."""


ResyncMode = Literal["strict", "go", "c"]
"""The reader whose rules decide how a Heka stream continues after bytes that are not a frame."""


Compression = Literal["none", "snappy"]
"""The declared compression of a Heka message."""

Content = Literal["message", "opaque"]
"""The content of a Heka frame: a message that is decoded, or bytes that are kept."""

Isolation = Literal["read_uncommitted", "read_committed"]
"""The isolation level of a Kafka consumer."""

LogSource = Literal["fetch", "segment"]
"""The origin of a Kafka log: a fetch response, or a segment file, for which Kafka has another reader."""


@frozen
class Options:
    """The options of all formats together; a codec ignores those of other formats.

    Attributes:
        profile: `reader` checks what a reader must accept, `produce` what a producer may send.
        max_output: limit for decompressed data, in bytes.
        keys: Heka: HMAC keys by `<signer>_<version>`; with None no signature is verified.
        max_message: limit for one Heka message or Kafka entry, in bytes; None means the format's default.
        resync: Heka: rules to find the next frame, `strict`, `go` or `c`: heka.md section 2.
        compression: Heka: declared compression of a message, `none` or `snappy`.
        content: Heka: `message`, or `opaque` for frames whose content is returned as bytes; `compression` has
            no effect on these.
        fetch_offset: Kafka: records below this offset are not delivered.
        isolation: Kafka: `read_uncommitted` or `read_committed`.
        aborted: Kafka: (producerId, firstOffset) of each aborted transaction.
        topic: Kafka, profile `produce`: the configuration of the topic to which a log is appended; the value
            is then the log as stored. With None it is the log as sent.
        source: Kafka: whose rules decide how a log ends, those for `fetch` responses or `segment` files.
    """

    profile: Profile = "reader"
    max_output: int = MAX_OUTPUT
    keys: Mapping[str, bytes] | None = field(default=None, hash=False)
    max_message: int | None = None
    resync: ResyncMode = "strict"
    compression: Compression = "none"
    content: Content = "message"
    fetch_offset: int | None = None
    isolation: Isolation = "read_uncommitted"
    aborted: tuple[tuple[int, int], ...] = field(default=())
    source: LogSource = "fetch"
    topic: Mapping[str, str] | None = None


DEFAULT_OPTIONS: Final = Options()

CODEC_OPTIONS: Final = frozenset(one.name for one in fields(Options)) - {"profile"}
"""The names of all options but the profile, which belongs to the caller and not to the codec."""
