"""The fields of a trace, each beside what a compiled Kaitai specification reads at its path."""

import re
from collections.abc import Iterator, Mapping, Sequence
from struct import pack
from typing import Any, Final

from attrs import evolve

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.formats import FORMATS, TracedDecode
from wireproof.report.kaitai_scope import SCALARS, ident
from wireproof.report.kaitai_shared import FIELDS, MORE_FIELDS
from wireproof.report.kaitai_types import ITEMS, ONE_OF, PACKED
from wireproof.wire.compression import COMPRESSION_CODECS
from wireproof.wire.trace import FieldSpan

STEP: Final = re.compile(r"([^.\[]+)(?:\[(\d+)\])?")

SKIPPED: Final = frozenset({"ignored", "garbage"})
"""Types of bytes that a reader skips; no layout contains them."""

COMPRESSED: Final = frozenset(codec.name for codec in COMPRESSION_CODECS.values())


def frame_of(case: Case) -> bytes:
    """Return the bytes of the value of a case, without trailing bytes or a cut tail."""
    assert isinstance(case.input, Data)
    assert isinstance(case.expect, Accept)
    return case.input.data[: case.expect.consumed]


def trace_of(case: Case) -> TracedDecode:
    """Return the trace of a case without options that change what its bytes are: a specification has none."""
    assert isinstance(case.input, Data)
    plain = evolve(case.options, compression="none", content="message", isolation="read_uncommitted")
    return formats.decode_with_trace(FORMATS[case.format_id], case.input.data, plain)


def is_readable(case: Case) -> bool:
    """Return whether a specification can read a case: bytes that are accepted without options, too."""
    if not isinstance(case.input, Data) or not isinstance(case.expect, Accept):
        return False
    decoded = trace_of(case).decoded
    return decoded is not None and decoded.consumed == case.expect.consumed > 0


def spans_of(case: Case) -> Sequence[FieldSpan]:
    """Return all spans of the trace of a case."""
    return trace_of(case).spans


def has_skipped_bytes(case: Case) -> bool:
    """Return whether the reader skips bytes of a case, which are in no layout."""
    return any(span.type in SKIPPED for span in spans_of(case) if not span.space)


def wire_spans(case: Case) -> list[FieldSpan]:
    """Return the fields of a case on the wire, without those inside bytes or after the value."""
    size = len(frame_of(case))
    wire = [span for span in spans_of(case) if not span.space and span.type not in SKIPPED]
    closed = {span.path: span for span in wire if span.type not in SCALARS}
    return [span for span in wire if span.end <= size and not _is_inside(span, closed)]


def _is_inside(span: FieldSpan, closed: Mapping[str, FieldSpan]) -> bool:
    """Return whether a span is of bytes that belong to a field around it."""
    outer = (closed.get(span.path[: sign.start()]) for sign in re.finditer(r"[.\[]", span.path))
    return any(one is not None and one.start <= span.start and span.end <= one.end for one in outer)


class InsideError(Exception):
    """A path leads into something that is read as a whole: into bytes, or into a protobuf message."""

    def __init__(self, found: Any, path: str) -> None:
        super().__init__(path)
        self.found = found
        self.path = path


def at(read: Any, span: FieldSpan) -> Any:
    """Return what an object of a compiled specification has at the path of a span.

    Raises:
        InsideError: the path leads into bytes or into a protobuf message.
        LookupError: the object has nothing there.
    """
    found = _find(read, STEP.findall(span.path), span, "")
    return getattr(found, "value", found)


def _find(found: Any, steps: Sequence[tuple[str, str]], span: FieldSpan, before: str) -> Any:
    if not steps:
        return found
    if isinstance(found, bytes) or hasattr(found, FIELDS):
        raise InsideError(found, before)
    (name, index), *rest = steps
    compressed = PACKED if not rest and span.type in COMPRESSED else ""
    here = f"{before}.{name}".removeprefix(".") + (f"[{index}]" if index else "")
    for one in _attributes(getattr(found, ONE_OF, found), ident(name) + compressed):
        try:
            return _find(getattr(one, ITEMS, one)[int(index)] if index else one, rest, span, here)
        except LookupError:
            continue  # another list of this name may have it
    raise LookupError(here)


def _attributes(found: Any, name: str) -> Iterator[Any]:
    """Yield the attributes of a name, and the elements that a trace joins to one list."""
    names = (name, f"{name}_2")
    yield from (getattr(found, one) for one in names if getattr(found, one, None) is not None)
    values = vars(found).values()
    inner = [one for value in values for one in (value if isinstance(value, list) else [value])]
    lists = [getattr(one, name) for one in inner if hasattr(one, name)]
    joined = [element for one in lists for element in getattr(one, ITEMS, one)]
    if joined:
        yield joined


def pairs(case: Case, read: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path of each field, its value in the trace, and its value in an object of a specification.

    A field inside bytes has the value True in both. The fields of a protobuf message are one value.
    """
    frame = frame_of(case)
    messages: dict[str, tuple[Any, list[FieldSpan]]] = {}
    for span in wire_spans(case):
        want = span.value if span.type in SCALARS else frame[span.start : span.end]
        try:
            yield span.path, want, at(read, span)
        except InsideError as inside:
            if isinstance(inside.found, bytes):
                yield span.path, True, frame[span.start : span.end] in inside.found
            else:
                messages.setdefault(inside.path, (inside.found, []))[1].append(span)
    for path, (message, spans) in messages.items():
        ordered = sorted(spans, key=lambda span: (span.start, span.end))
        prefix = f"{path}." if path else ""
        want = [(_bare(span.path.removeprefix(prefix)), _payload(span, frame)) for span in ordered]
        yield path, want, list(_proto_fields(message))


def _bare(path: str) -> str:
    """Return a path without indices."""
    return re.sub(r"\[\d+\]", "", path)


def _payload(span: FieldSpan, frame: bytes) -> Any:
    """Return the value of a span in a protobuf message; None for a group, which has no value of its own."""
    if span.type in SCALARS:
        return span.value
    return None if span.type == "group" else frame[span.start : span.end]


def _proto_fields(message: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of a protobuf message of a compiled specification as a trace names them."""
    for one in (*getattr(message, FIELDS), *getattr(message, MORE_FIELDS, ())):
        name = f"{path}{getattr(one.tag, 'name', f'#{one.number}')}"
        yield f"{name}.key", one.key.value
        match one.wire:
            case 0:
                yield name, one.varint.value
            case 1:
                yield name, one.fixed64
            case 2:
                yield f"{name}.length", one.length.value
                yield from _delimited(name, one.payload)
            case 3:
                yield name, None
            case 5:
                yield name, one.fixed32


def _delimited(name: str, payload: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(payload, FIELDS):
        yield from _proto_fields(payload, f"{name}.")
    elif isinstance(payload, bytes):
        if payload or "#" not in name:  # nothing of an unknown field without bytes is read
            yield name, payload
    else:
        for value in payload.values:
            yield name, pack("<d", value) if isinstance(value, float) else value.value
