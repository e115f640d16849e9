"""The fuzzing dictionary of Heka's formats."""

from collections.abc import Iterator
from typing import Final

from wireproof.cases.mutate.dictionary import INVALID_VARINTS, VARLONG_BOUNDARIES, varint
from wireproof.family import Format
from wireproof.heka import header, message
from wireproof.heka.frame import RECORD_SEPARATOR, UNIT_SEPARATOR
from wireproof.wire.layout import proto_fields

SIGNERS: Final = (b"test", b"test_1", b"vic", b"trusted_signer", b"some_key", b"testkey")
"""The signers and keys in the examples of heka.md, section 3."""

FIELD_NUMBERS: Final = range(
    1,
    2
    + max(
        part.number
        for layout in (message.MESSAGE, message.FIELD, header.HEADER)
        for part in proto_fields(layout)
    ),
)
"""The protobuf field numbers of all messages of Heka, and an unused one after them."""

_UUID_FIELD: Final = bytes((1 << 3 | 2, message.UUID_SIZE)) + bytes(range(16))


def words(_: Format) -> Iterator[bytes]:
    """Yield separators, headers, keys of fields and varints: heka.md, sections 1 to 4."""
    head = bytes([RECORD_SEPARATOR])
    yield from (head, bytes([UNIT_SEPARATOR]), b"\x08", head + b"\x02\x08\x14\x1f", b"\x1e\x02\x08\x00\x1f")
    yield from SIGNERS
    yield b"\x22\x04test\x28\x01\x32\x10"
    yield from (varint("uvarint", number << 3 | kind) for number in FIELD_NUMBERS for kind in (0, 1, 2, 5))
    yield _UUID_FIELD
    yield from (varint("uvarint", step % (1 << 64)) for step in VARLONG_BOUNDARIES)
    yield from INVALID_VARINTS
    yield from (b"\xc0\x80", b"\xed\xa0\x80", b"\xff", b"\xc3\x9f")
