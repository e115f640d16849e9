"""Deep states of the Heka formats; the numbers are those of heka.md."""

from operator import attrgetter
from typing import Final

from tests.coverage_goals.state import State, partly, refused, remarked, some, valued

MESSAGE: Final[tuple[State, ...]] = (
    valued("field", lambda m: m.fields),
    valued("two fields", lambda m: len(m.fields) > 1),
    *(
        valued(f"values of {kind}", some("fields", attrgetter(f"value_{kind}")))
        for kind in ("string", "bytes", "integer", "double", "bool")
    ),
    valued("two values packed", some("fields", lambda f: len(f.value_integer) > 1)),
    valued("negative integer", some("fields", lambda f: any(number < 0 for number in f.value_integer))),
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


STREAM: Final[tuple[State, ...]] = (
    valued("empty", lambda s: not s.frames),
    valued("two frames", lambda s: len(s.frames) > 1),
    valued("frame with a field", some("frames", lambda f: f.message.fields)),
    valued("signer named", some("frames", lambda f: f.header.hmac_signer is not None)),
    valued("hash named", some("frames", lambda f: f.header.hmac_hash_function == "SHA1")),
    valued("header with an hmac", some("frames", lambda f: f.header.hmac)),
    valued("message of 128 bytes and more", some("frames", lambda f: f.header.message_length > 127)),
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
