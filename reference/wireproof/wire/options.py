"""The options of a decode, an encode or a scan: everything that a caller may set besides the input."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from attrs import field, fields, frozen

from wireproof.strict_parsing import Hook, count, decimal, to_tree, whole_number, wrong

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
    keys: Mapping[str, bytes] | None = None
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

# --- JSON ---
#
# The attributes are the table of the names, types and defaults. `profile` and `max_output` are not in the
# object: a request has them among its own fields and its limits, a case has its profile. In fixtures and
# tokens the numbers of `aborted` are decimal texts, as in values; in requests they are JSON numbers.

_ELSEWHERE: Final = frozenset({"profile", "max_output"})


def options_to_json(options: Options) -> dict[str, Any]:
    """Return the JSON for a fixture or a token, without the options that have their default."""
    tree = options_to_request(options)
    if options.aborted:
        tree["aborted"] = [[str(number) for number in pair] for pair in options.aborted]
    return tree


def options_to_request(options: Options) -> dict[str, Any]:
    """Return the JSON for a request, without the options that have their default."""
    tree: dict[str, Any] = to_tree(options, without_defaults=True)
    return {name: part for name, part in tree.items() if name not in _ELSEWHERE}


def _fields(number: Hook) -> Mapping[object, object]:
    """Return the fields of options for a `Reader`; `number` reads a number of `aborted`."""

    def aborted(pairs: object) -> tuple[tuple[int, int], ...]:
        if not isinstance(pairs, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in pairs
        ):
            raise wrong("a list of [producerId, firstOffset]", pairs)
        return tuple((number(producer), number(first)) for producer, first in pairs)

    special = {
        **dict.fromkeys(_ELSEWHERE),
        "max_message": count,
        "keys": Mapping[str, bytes],
        "fetch_offset": count,
        "aborted": aborted,
        "topic": Mapping[str, str],
    }
    return {(Options, name): how for name, how in special.items()}


OPTIONS_IN_CASES: Final = _fields(decimal)
"""How the options of a fixture or a token are read."""

OPTIONS_IN_REQUESTS: Final = _fields(whole_number)
"""How the options of a request are read."""
