"""The functions that `wireproof` exports: the reference codec on bytes, and the check of an adapter."""

from collections.abc import Iterable, Iterator

from attrs import frozen

from wireproof import formats
from wireproof.cases.fixtures import load
from wireproof.cases.id_patterns import select
from wireproof.formats import UnknownFormat
from wireproof.run.engine import Engine
from wireproof.run.events import CaseEvent
from wireproof.run.run import Selection, run
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import FieldSpan

__all__ = [
    "Decoded",
    "Explained",
    "Options",
    "UnknownFormat",
    "check",
    "decode",
    "encode",
    "explain",
    "scan",
    "to_json",
]


@frozen
class Decoded:
    """What the reference reads in bytes: the value in JSON form, with its derived fields.

    `remarks` are the classes of what the format leaves open, such as `offset-negative`.
    """

    value: Json
    consumed: int
    remarks: tuple[str, ...]


@frozen
class Explained:
    """The fields of bytes in the order in which they were read, the value, and the refusal; None if accepted.

    The value is in JSON form; of refused bytes it is the part before the refusal, or None.
    """

    fields: tuple[FieldSpan, ...]
    value: Json
    refusal: Rejected | None


def decode(format_id: str, data: bytes, options: Options = DEFAULT_OPTIONS) -> Decoded:
    """Decode bytes of a format, such as `kafka.batch/v2`.

    Raises:
        Rejected: the format does not allow these bytes.
        UnknownFormat: there is no such format.
    """
    found = formats.decode(_format(format_id), data, options)
    remarks = dict.fromkeys(remark.cls for remark in found.remarks)
    return Decoded(to_json(found.value, with_derived=True), found.consumed, tuple(remarks))


def encode(format_id: str, value: Json, options: Options = DEFAULT_OPTIONS) -> bytes:
    """Encode a value in JSON form; it may have its derived fields, which are ignored.

    Raises:
        Rejected: the format does not allow this value.
        UnknownFormat: there is no such format.
    """
    return formats.encode(_format(format_id), value, options)


def scan(format_id: str, chunks: Iterable[bytes], options: Options = DEFAULT_OPTIONS) -> Iterator[Json]:
    """Yield the items of a stream in pieces: `{"kind", "at", "length", "value"?, "class"?}`.

    They divide its bytes into frames, garbage and a tail without gaps.

    Raises:
        UnknownFormat: there is no such format, or it is no stream.
    """
    for item in formats.scan(_format(format_id), chunks, options):
        yield formats.item_json(item, with_derived=True)


def explain(format_id: str, data: bytes, options: Options = DEFAULT_OPTIONS) -> Explained:
    """Name the fields of bytes, also of those that the format does not allow.

    Raises:
        UnknownFormat: there is no such format.
    """
    found = formats.decode_with_trace(_format(format_id), data, options)
    value = None if found.value is None else to_json(found.value, with_derived=True)
    return Explained(found.spans, value, found.rejected)


def check(adapter: str, patterns: Iterable[str] = ("**",), *, derived: bool = True) -> Iterator[CaseEvent]:
    """Judge an adapter on golden cases, and on those derived from them, and yield each verdict.

    Nothing is yielded if the adapter claims no format of these cases: who wants a green result counts them.

    Args:
        adapter: its name, or as in `wireproof check`: `py:module:Class`, `exec:command`.
        patterns: of the ids of golden cases, such as `kafka.batch/v2/**`.
        derived: whether damaged bytes are derived from the accepted cases.

    Raises:
        UnknownAdapter: there is no such adapter.
        AdapterError: it does not start, or cannot go on.
        PatternError: a pattern matches no case.
    """
    suite = load()
    cases = select(suite, tuple(patterns))
    with Engine(adapter) as engine:
        yield from run(engine, Selection.of(engine.hello, cases, suite, families=derived))


def _format(format_id: str) -> formats.Format:
    name, _, revision = format_id.partition("/")
    return formats.get(name, revision)
