"""Minimal values: the smallest value of each format. Generation starts from them if there is no corpus."""

from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from attrs import fields

from wireproof.cases.mutate.mended import mended
from wireproof.formats import Format
from wireproof.iggy.header_kinds import HeaderValue
from wireproof.iggy.identifier import Identifier
from wireproof.kafka.values import Message, Record, RecordBatch
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

MAGIC: Final = {"v1": 1}
"""Revision to the magic of a message; other revisions have magic 0."""

UUID: Final = bytes(range(16))
"""The uuid of a Heka message: heka.md, section 4, M05."""

_MADE: Final[dict[Any, Any]] = {
    RecordBatch: RecordBatch(0, -1, 2, 0, 0, 0, 0, -1, -1, -1, (Record(0, 0, 0, None, b"v", ()),)),
    Record: Record(0, 0, 0, None, b"v", ()),
    Message: Message(0, 0, 0, -1, None, b"v", None),
    Identifier: Identifier("numeric", b"\x01\x00\x00\x00"),
    HeaderValue: HeaderValue("raw", b"v"),
}
"""Class to value, for classes in which zeros are not valid."""

_NAMED: Final = {"uuid": UUID, "payload": b"p", "key": b"k"}
"""Name of a field to bytes, for fields that must not be empty."""


@lru_cache(maxsize=512)
def least(kind: Any, name: str = "") -> Any:  # noqa: ANN401 - a type, and a value of it
    """Return the minimal value of a type: lists are empty and optional parts are None."""
    if kind in _MADE:
        return _MADE[kind]
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return args[0]
    if origin in (Union, UnionType):
        return None if NoneType in args else least(args[0])
    if origin is tuple:
        return () if args[-1] is Ellipsis else tuple(least(arg, "key") for arg in args)
    return _scalar(kind, name) if kind in (int, bool, bytes) else of_class(kind)


def _scalar(kind: Any, name: str) -> Any:  # noqa: ANN401 - as `least`
    return _NAMED.get(name, b"") if kind is bytes else kind(0)


def of_class(kind: type) -> Any:  # noqa: ANN401 - an instance of it
    """Return the minimal instance of a value class."""
    hints = get_type_hints(kind)
    return kind(**{a.name: least(hints[a.name], a.name) for a in fields(kind)})


@lru_cache(maxsize=256)
def seed(row: Format) -> bytes:
    """Return the encoding of the minimal value of a format; lists that must not be empty have one element."""
    value = least(row.value)
    if isinstance(value, Message):
        value = Message(0, MAGIC.get(row.revision, 0), 0, -1, None, b"v", None)
    one = _with_one(row.value, value)
    for candidate in (value, one, mended(one)):
        try:
            return written(row, candidate)
        except Rejected:
            continue
    return b""


def _with_one(kind: type, value: Any) -> Any:  # noqa: ANN401 - an instance of it
    """Return the value with one element in each empty list."""
    hints = get_type_hints(kind)
    parts = {a.name: getattr(value, a.name) for a in fields(kind)}
    for name, part in parts.items():
        if part == () and get_args(hints[name])[-1:] == (Ellipsis,):
            parts[name] = (least(get_args(hints[name])[0], name),)
    return kind(**parts)


def written(row: Format, value: Any, options: Options = DEFAULT_OPTIONS) -> bytes:  # noqa: ANN401 - of the row's class
    """Return the encoding of a value; raise `Rejected` (`invalid-value`) if it cannot be encoded."""
    writer = Writer()
    row.encode(writer, value, options)
    return bytes(writer.data)
