"""Maximal values: for each format, values in which every part is present. They replace useless parents.

From a minimal value most deep states of a codec are several edits away, from a maximal value mostly one.
"""

from functools import lru_cache
from itertools import count
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from attrs import evolve, fields, has

from wireproof.cases.mutate.least import least, seed, written
from wireproof.cases.mutate.mended import mended
from wireproof.formats import Format
from wireproof.heka.message import VALUE_ARRAYS, VALUE_TYPES, DynamicField
from wireproof.iggy.header_kinds import HeaderValue
from wireproof.iggy.partitioning import Partitioning
from wireproof.iggy.reply import ClassicReply
from wireproof.kafka.values import Control, Message, Record, RecordBatch
from wireproof.wire.rejection import Rejected

_RECORD: Final = Record(0, 1, 1, b"k", b"v", ((b"h", b"x"),))

_TIME: Final = 1_700_000_000_000
"""A timestamp in milliseconds. It is not 0, so that absolute and relative timestamps differ."""

_MADE: Final[dict[Any, Any]] = {
    RecordBatch: evolve(
        least(RecordBatch),
        base_offset=5,
        last_offset_delta=1,
        base_timestamp=_TIME,
        max_timestamp=_TIME + 1,
        records=(least(Record), _RECORD),
    ),
    Record: _RECORD,
    Message: Message(7, 1, 0, _TIME, b"k", b"v", None),
    Control: None,
    Partitioning: Partitioning("partition_id", b"\1\0\0\0"),
    ClassicReply: ClassicReply(status=1, body=b"ok"),
}
"""Class to value, for classes whose parts depend on one another."""


_HELD: Final[tuple[tuple[Any, ...], ...]] = (
    (b"v", b"w"), (b"v", b"w"), (1, -1), (b"\x3f\xf0" + bytes(6), bytes(8)), (True, False)
)  # fmt: skip
"""Two values of each type of a Heka Field, in the order of the types."""

_KINDS: Final = (
    HeaderValue("raw", b"v"), HeaderValue("string", b"k"), HeaderValue("bool", b"\1"),
    HeaderValue("int32", b"\1\0\0\0"),
)  # fmt: skip
"""Header values: bytes, a string, a boolean, a number of fixed width. iggy.md, section 2.3."""

_SORTS: Final[dict[Any, tuple[Any, ...]]] = {
    DynamicField: tuple(
        evolve(least(DynamicField), name=b"f", representation=b"r", value_type=kind, **{array: held})
        for kind, array, held in zip(VALUE_TYPES, VALUE_ARRAYS, _HELD, strict=True)
    ),
    tuple[bytes, HeaderValue]: tuple((bytes((at,)), one) for at, one in enumerate(_KINDS, ord("k"))),
    tuple[HeaderValue, HeaderValue]: tuple(zip(_KINDS, _KINDS, strict=True)),
}
"""Class to the elements of a list, for classes whose instances have different types: heka.md, section 4."""


def full(kind: Any, name: str = "", turn: int = 0) -> Any:  # noqa: ANN401 - a type, and a value of it
    """Return a value of a type whose lists have an element of each type and whose optional parts are present.

    For a union, `turn` selects the alternative.
    """
    if kind in _MADE:
        return _MADE[kind]
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        some = _alternatives(args)
        return full(some[turn % len(some)], name, turn)
    if origin is tuple and args[-1] is Ellipsis:
        return _listed(args[0], name, turn)
    if origin is tuple:
        return tuple(full(arg, "key", turn) for arg in args)
    if isinstance(kind, type) and has(kind):
        hints = get_type_hints(kind)
        return kind(**{a.name: full(hints[a.name], a.name, turn) for a in fields(kind) if a.init})
    return least(kind, name) or {int: 1, bytes: b"v"}.get(kind, least(kind, name))


def _alternatives(args: tuple[Any, ...]) -> list[Any]:
    """Return the types of a union; of bytes and a class only the class, for an option selects the bytes."""
    classes = [arg for arg in args if isinstance(arg, type) and has(arg)]
    return classes if bytes in args and classes else [arg for arg in args if arg is not NoneType]


_LATER: Final[dict[str, Any]] = {"payload": b"p", "offset": 2}


def _behind(kind: type) -> Any:  # noqa: ANN401 - as `full`
    """Return a minimal value that may follow another one: not empty, and in order."""
    value = least(kind)
    return evolve(value, **{name: given for name, given in _LATER.items() if hasattr(value, name)})


def _listed(kind: Any, name: str, turn: int) -> tuple[Any, ...]:  # noqa: ANN401 - as `full`
    """Return a list with an element of each type and a minimal last one, where readers often have bugs."""
    if kind in _SORTS:
        return _SORTS[kind]
    sorts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    found = tuple(full(sort, name, turn) for sort in sorts)
    return (*found, _behind(kind)) if isinstance(kind, type) and has(kind) else found


@lru_cache(maxsize=256)
def samples(row: Format) -> tuple[bytes, ...]:
    """Return the distinct encodings of the maximal values of a format, one for each turn."""
    found: dict[bytes, None] = {}
    for turn in count():
        data = sample(row, turn)
        if data in found:
            break
        found[data] = None
    return tuple(found)


@lru_cache(maxsize=256)
def sample(row: Format, turn: int = 0) -> bytes:
    """Return the encoding of a maximal value of a format; if it cannot be encoded, of a minimal one."""
    value = full(row.value, turn=turn)
    if isinstance(value, Message):
        value = evolve(value, magic=0 if row.revision == "v0" else 1)
    try:
        return written(row, mended(value))
    except Rejected:
        return seed(row)
