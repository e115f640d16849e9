"""The fuzzing dictionary of Iggy's formats. Sections are those of iggy.md."""

import json
from collections.abc import Iterator
from struct import pack
from typing import Final

from wireproof.cases.mutate.dictionary import edges, enumerated_words, json_words, member_names
from wireproof.family import Format
from wireproof.iggy.destination import IDENTIFIER_KINDS
from wireproof.iggy.header_kinds import HEADER_KINDS
from wireproof.iggy.message import MESSAGE_STATES

COMPUTED_MEMBERS: Final = (
    b"header",
    b"user_headers",
    b"user_headers_length",
    b"payload_length",
    b"reserved",
    b"count",
    b"checksum",
)
"""Members of JSON bodies that are not fields of a value: iggy.md, section 8."""


def words(fmt: Format) -> Iterator[bytes]:
    """Yield the words of a JSON body, or of a binary format."""
    yield from _json_words(fmt) if fmt.is_json else _binary_words()


def _binary_words() -> Iterator[bytes]:
    """Yield tags (§2.2), kinds with the size of their values (§2.3), states (§3.3), and invalid UTF-8."""
    yield from edges("<")
    yield from (bytes([code]) for code in IDENTIFIER_KINDS)
    yield from (bytes([kind.code]) + pack("<I", kind.size or 1) for kind in HEADER_KINDS)
    yield from (bytes([code]) for code in MESSAGE_STATES)
    yield pack("<I", 1) + b"k"
    yield from (b"\xc3\xa9", b"\xff\xfe", b"\xed\xa0\x80", bytes(16), b"\xff" * 16)


def _json_words(fmt: Format) -> Iterator[bytes]:
    """Yield the names of members, the words of enumerations, and difficult JSON: §8."""
    names = tuple(member_names(fmt.value))
    yield from names
    yield from (json.dumps(word).encode() for word in enumerated_words(fmt.value))
    if b'"messages":' in names:
        yield from _words_of_messages()
    yield from json_words()


def _words_of_messages() -> Iterator[bytes]:
    """Yield what only bodies with messages have: headers and their kinds, computed members, base64."""
    yield from (b'"key":{"kind":"raw","value":"dg=="}', b'"kind":', b'"value":', b'"headers":null')
    yield from (b'"%s":' % name for name in COMPUTED_MEMBERS)
    yield from (json.dumps(kind.name).encode() for kind in HEADER_KINDS)
    yield from (b'"AA=="', b'"AB=="')
