"""Numbers of typed headers whose text is hard to get right: iggy.md §2.3, §10.1.

The text is the derived field `typed` (`tests.authoring.derived_fields`).
"""

from struct import pack

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.headers_from_0_9 import block, shown
from tests.authoring.iggy.message_bytes import entry, map_value

NUMBERS = (
    ("int64-least", "The least int64", "int64", pack("<q", -(1 << 63)), "Beyond 2^53 a double loses digits."),
    ("uint64-above-2-53", "2^53 + 1 as uint64", "uint64", pack("<Q", (1 << 53) + 1), "No double holds it."),
    ("int128-minus-one", "−1 as int128", "int128", b"\xff" * 16, "A sign over 128 bits."),
    ("uint128-high-half", "2^64 as uint128", "uint128", pack("<QQ", 0, 1), "The low half alone is 0."),
    ("float32-tenth", "0.1 as float32", "float32", pack("<f", 0.1), "As a double it has 17 other digits."),
    ("float32-largest", "The largest float32", "float32", pack("<I", 0x7F7FFFFF), "39 digits, no exponent."),
    ("float32-least", "The least float32", "float32", pack("<I", 1), "A subnormal number."),
    ("float64-sum", "0.1 + 0.2", "float64", pack("<d", 0.1 + 0.2), "17 digits, and not 0.3."),
    ("float64-1e23", "1e23", "float64", pack("<d", 1e23), "The shortest text that reads back is 1e23."),
    ("float64-minus-infinity", "−∞", "float64", pack("<d", float("-inf")), "It is a float64 as any other."),
)
"""Name, title, kind, bytes, reason."""


def write(writer: FixtureWriter) -> None:
    """Add the cases of each layout of header entries."""
    for revision in ("0.0.30", "0.9", "0.10"):
        s = CaseBuilder(writer, "iggy.headers", revision)
        for name, title, kind, data, why in NUMBERS:
            keyed = revision != "0.0.30"
            s.accepts(
                f"numbers/{name}",
                title,
                block(("string", b"k", kind, data)) if keyed else entry(b"k", kind, data),
                shown(("string", b"k", kind, data)) if keyed else {"headers": map_value((b"k", kind, data))},
                doc="iggy.md §2.3",
                rules=("iggy.headers.kinds",),
                why=why,
            )
