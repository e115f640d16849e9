"""The rules of Iggy's segments that their scan does not give."""

from typing import Any, Final

from wireproof.family import Format, StreamRules
from wireproof.iggy import log, resync
from wireproof.iggy.family.record_order import RecordOrder
from wireproof.wire.options import Options


def _damaged_length(fmt: Format, data: bytes, length: int, _: Options, before: tuple[Any, ...] | None) -> int:
    """Search for the next record; its offset is not far after that of the record before."""
    offset = None if before is None else resync.last_offset(before[0]) if before else -1
    return resync.damaged_length(log.REVISIONS[fmt.revision], data, length, offset)


def _bytes_needed(fmt: Format, tail: bytes) -> int:
    size, known = log.REVISIONS[fmt.revision].record.extent(tail)
    return size if known else 0


STREAMS: Final = {
    "iggy.log": StreamRules(
        damaged_length=_damaged_length,
        lookahead=resync.LOOKAHEAD,
        bytes_needed=_bytes_needed,
        order=RecordOrder,
        unlimited=True,
    )
}
