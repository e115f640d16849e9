"""The beginning and the names of files of Heka."""

import re
from typing import Final


def begins_like_a_frame(data: bytes) -> bool:
    """Return whether there is a record separator and the tag of message_length in the header: heka.md §2."""
    return len(data) > 2 and data[0] == 0x1E and data[2] == 0x08


def begins_like_a_message(data: bytes) -> bool:
    """Return whether there is the tag of a uuid with a length near its own: heka.md §1."""
    return len(data) > 2 and data[0] == 0x0A and data[1] in range(15, 18)


MARKS: Final = {"heka.stream": begins_like_a_frame, "heka.message": begins_like_a_message}

FILE_NAMES: Final = ((re.compile(r".*\.heka"), "heka.stream"),)
