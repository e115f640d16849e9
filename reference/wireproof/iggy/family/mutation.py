"""Minimal and maximal values of Iggy, and what its mutations need."""

from typing import Any, Final

from wireproof.cases.mutate.mutation_rules import MutationRules
from wireproof.iggy.destination import Identifier, Partitioning
from wireproof.iggy.family.codes import CODES
from wireproof.iggy.family.normalising import NORMALISERS
from wireproof.iggy.family.widths import UNSIGNED_BITS
from wireproof.iggy.header_kinds import KINDS_BY_NAME, HeaderValue
from wireproof.iggy.message import MESSAGE_STATES
from wireproof.iggy.reply import ClassicReply

_LEAST: Final[dict[Any, Any]] = {
    Identifier: Identifier("numeric", b"\x01\x00\x00\x00"),
    HeaderValue: HeaderValue("raw", b"v"),
}
"""Class to value, for classes in which zeros are not valid."""

_FULL: Final[dict[Any, Any]] = {
    Partitioning: Partitioning("partition_id", b"\1\0\0\0"),
    ClassicReply: ClassicReply(status=1, body=b"ok"),
}
"""Class to value, for classes whose parts depend on one another."""

_KINDS: Final = (
    HeaderValue("raw", b"v"), HeaderValue("string", b"k"), HeaderValue("bool", b"\1"),
    HeaderValue("int32", b"\1\0\0\0"),
)  # fmt: skip
"""Header values: bytes, a string, a boolean, a number of fixed width. iggy.md, section 2.3."""

_ELEMENTS: Final[dict[Any, tuple[Any, ...]]] = {
    tuple[bytes, HeaderValue]: tuple((bytes((at,)), one) for at, one in enumerate(_KINDS, ord("k"))),
    tuple[HeaderValue, HeaderValue]: tuple(zip(_KINDS, _KINDS, strict=True)),
}
"""Types to the elements of a list: header values of different kinds."""

RULES: Final = MutationRules(
    unsigned_bits=UNSIGNED_BITS,
    least=_LEAST,
    full=lambda: _FULL,
    elements=lambda: _ELEMENTS,
    normalise=NORMALISERS,
    codes=CODES,
    enumerations=(tuple(KINDS_BY_NAME), tuple(MESSAGE_STATES.values())),
    favour_fields=True,  # nested lengths have a fixed width
)
