"""Deep states of the Heka formats; the numbers are those of heka.md."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from tests.coverage_goals.state import State, partly, refused, remarked, valued
from wireproof.heka.message import DynamicField


def _fields(test: Callable[[DynamicField], object]) -> Callable[[Any], bool]:
    return lambda message: any(test(field) for field in message.fields)


MESSAGE: Final[tuple[State, ...]] = (
    valued("field", lambda m: m.fields),
    valued("two fields", lambda m: len(m.fields) > 1),
    *(
        valued(f"values of {kind}", _fields(attrgetter(f"value_{kind}")))
        for kind in ("string", "bytes", "integer", "double", "bool")
    ),
    valued("two values packed", _fields(lambda f: len(f.value_integer) > 1)),
    valued("negative integer", _fields(lambda f: any(number < 0 for number in f.value_integer))),
    valued(
        "every scalar", lambda m: None not in (m.type, m.logger, m.severity, m.payload, m.pid, m.hostname)
    ),
    valued("payload of 128 bytes and more", lambda m: m.payload is not None and len(m.payload) > 127),
    valued("empty payload, which is not none", lambda m: m.payload == b""),
    remarked("severity out of range", "severity-range"),
    remarked("time before 1970", "timestamp-negative"),
    remarked("text that is none", "bad-utf8"),
    remarked("scalar twice", "duplicate-scalar"),
    remarked("field without value", "field-no-value"),
    refused("values of another type", "type-mismatch"),
    refused("uuid of another size", "bad-length", "uuid"),
    refused("unknown field", "unknown-field"),
    refused("uuid missing", "missing-field", "uuid"),
    refused("length past the end", "length-past-end"),
)


def _frames(test: Callable[[Any], object]) -> Callable[[Any], bool]:
    return lambda stream: any(test(frame) for frame in stream.frames)


STREAM: Final[tuple[State, ...]] = (
    valued("empty", lambda s: not s.frames),
    valued("two frames", lambda s: len(s.frames) > 1),
    valued("frame with a field", _frames(lambda f: f.message.fields)),
    valued("signer named", _frames(lambda f: f.header.hmac_signer is not None)),
    valued("hash named", _frames(lambda f: f.header.hmac_hash_function == "SHA1")),
    valued("header with an hmac", _frames(lambda f: f.header.hmac)),
    valued("message of 128 bytes and more", _frames(lambda f: f.header.message_length > 127)),
    remarked("header in another order", "header-order"),
    remarked("unknown header field", "header-unknown-field"),
    refused("no frame", "bad-separator"),
    refused("message refused", "type-mismatch"),
    refused("message length of 0", "bad-length", "message_length"),
    refused("no message length", "missing-field", "message_length"),
    partly("frames before the fault"),
)

STATES: Final = {"heka.message": MESSAGE, "heka.stream": STREAM}
"""By the name of the format."""
