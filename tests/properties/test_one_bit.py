"""One bit flipped under a checksum is noticed."""

from hypothesis import assume
from hypothesis import strategies as st
from subjects import FORMATS, each_drawn, read, valued, written

from wireproof import formats
from wireproof.derive.edit_bytes import checksums
from wireproof.formats import Format
from wireproof.wire.rejection import Rejected

SEALING = ("kafka.", "iggy.log/", "iggy.send/0.11")

SEALED = [row for name, row in FORMATS.items() if name.startswith(SEALING)]
"""The rows whose frames bear a checksum on the wire that a reader looks at."""

OPEN = {"wrapper-crc"}
"""Remarks on a wrong checksum that the format leaves open: a wrapper's own, kafka.md §2.2."""


def sealed_bytes(row: Format, data: bytes) -> list[int]:
    """The places of all checksums on the wire and of all that they are over."""
    found: set[int] = set()
    for span in formats.decode_with_trace(row, data).spans:
        if span.cover is not None and span.cover.kind in checksums() and not span.space:
            found |= {*range(span.start, span.end), *range(span.cover.start, span.cover.end)}
    return sorted(found)


@each_drawn(lambda row: [valued(row), st.data()], SEALED)
def test_a_bit_flipped_under_a_checksum_is_noticed(row: Format, value: object, data: st.DataObject) -> None:
    whole = written(row, value)
    places = sealed_bytes(row, whole)
    assume(places)
    flipped = bytearray(whole)
    flipped[data.draw(st.sampled_from(places))] ^= 1 << data.draw(st.integers(0, 7))
    seen = read(row, bytes(flipped))
    if row.scan is not None and not isinstance(seen, Rejected) and seen.consumed < len(flipped):
        return  # a length under the checksum says more than there is now: a cut tail
    assert isinstance(seen, Rejected) or OPEN & {remark.cls for remark in seen.remarks}


@each_drawn(lambda row: [valued(row)], (row for row in FORMATS.values() if row not in SEALED))
def test_no_other_row_has_a_checksum_over_bytes_of_the_wire(row: Format, value: object) -> None:
    assert not sealed_bytes(row, written(row, value))
