"""The rules of Heka's streams that their scan does not give."""

from typing import Final

from attrs import evolve

from wireproof.family import Format, StreamRules
from wireproof.heka import frame
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

ANY_SIZE: Final = evolve(DEFAULT_OPTIONS, max_message=0xFFFF_FFFF)
"""The header of a frame shows its size, also if the size is over the limit of the reader."""


def _bytes_needed(_: Format, tail: bytes) -> int:
    """Return the bytes of a frame, by its header: heka.md, section 2."""
    reader = Reader(tail[: frame.FRAME_OVERHEAD + 0xFF])
    try:
        found = frame.read_header(reader, ANY_SIZE)
    except Rejected:
        return 0
    return 0 if found is None else reader.pos + found.message_length


STREAMS: Final = {"heka.stream": StreamRules(bytes_needed=_bytes_needed)}
