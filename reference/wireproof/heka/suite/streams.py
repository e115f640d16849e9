"""The names of files of Heka, and the rules of its streams that their scan does not give."""

import re
from typing import Final

from attrs import evolve

from wireproof.heka import stream
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- the beginning and the names of files ---


def begins_like_a_frame(data: bytes) -> bool:
    """Return whether there is a record separator and the tag of message_length in the header: heka.md §2."""
    return len(data) > 2 and data[0] == 0x1E and data[2] == 0x08


def begins_like_a_message(data: bytes) -> bool:
    """Return whether there is the tag of a uuid with a length near its own: heka.md §1."""
    return len(data) > 2 and data[0] == 0x0A and data[1] in range(15, 18)


MARKS: Final = {"heka.stream": begins_like_a_frame, "heka.message": begins_like_a_message}

FILE_NAMES: Final = ((re.compile(r".*\.heka"), "heka.stream"),)

# --- streams ---

ANY_SIZE: Final = evolve(DEFAULT_OPTIONS, max_message=0xFFFF_FFFF)
"""The header of a frame shows its size, also if the size is over the limit of the reader."""


def _size(tail: bytes) -> int:
    """Return the bytes of a frame, by its header: heka.md, section 2."""
    reader = Reader(tail[: stream.FRAME_OVERHEAD + 0xFF])
    try:
        found = stream.read_header(reader, ANY_SIZE)
    except Rejected:
        return 0
    return 0 if found is None else reader.pos + found.message_length


STREAMS: Final = {"heka.stream": lambda _, plain: evolve(plain, size=_size)}
