"""Snappy without the framing of xerial, where it is easily taken for another thing: kafka.md §3.2."""

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import (
    batch,
    batch_value,
    message,
    message_value,
    record,
    record_value,
    snappy_block,
)

SNAPPY = 2

ALIKE = "xerial/snappy-java #142: 130 unpacked bytes are 82 01 in front of the block, and xerial's magic begins with 82. A reader that looks at one byte refuses the block."
SHORT = "There are fewer bytes than a xerial header has: a reader that takes 16 bytes first runs past the end."


def write(writer: FixtureWriter) -> None:
    v0, v1, v2 = (CaseBuilder(writer, "kafka.batch", f"v{magic}") for magic in (0, 1, 2))
    for name, title, size, why in (("82", "Raw snappy of 130 bytes, which begins with 82", 120, ALIKE), ("short", "Raw snappy of eleven bytes", 1, SHORT)):
        text = b"v" * size
        raw = snappy_block(record(b"k", text))
        held(raw, 0x82 if size > 1 else 9)
        v2.accepts(f"compression/snappy-raw-{name}", title, batch(raw, 1, attributes=SNAPPY), batch_value([record_value(b"k", text)], attributes=SNAPPY), doc="kafka.md §3.2", why=why, rules=("kafka.snappy.raw",), needs=["codec:snappy"])
    for magic, builder, size in ((0, v0, 103), (1, v1, 95)):
        text = b"v" * size
        stored = 0 if magic else 11
        raw = snappy_block(message(magic, b"k", text, offset=stored))
        held(raw, 0x82)
        fields = {"offset": 11, "attributes": SNAPPY}
        builder.accepts("wrapper/snappy-raw-82", f"A v{magic} wrapper of raw snappy of 130 bytes, which begins with 82", message(magic, None, raw, **fields),
                        message_value(magic, None, None, messages=[message_value(magic, b"k", text, offset=11)], **fields), doc="kafka.md §3.2", why=ALIKE, rules=("kafka.snappy.raw",), needs=["codec:snappy", "feature:wrapper"])


def held(raw: bytes, first: int) -> None:
    """Check the first byte, which is what the case is about."""
    if raw[0] != first:
        raise ValueError(f"the block begins with {raw[0]:02x}")
