"""The answer of the reference to a case, with which the judge checks fixtures and remarks.

The reference answers any bytes, so the judge can decide on bytes for which there is no fixture.
"""

from collections.abc import Sequence

from attrs import frozen

from wireproof import formats
from wireproof.adapters.python_object import refused
from wireproof.cases.case import Accept, Case, Chunks, Data, Expect, Reject, Value
from wireproof.cases.outcome import Accepted, Refused
from wireproof.formats import Format
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import Options
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import Rejected, Remark
from wireproof.wire.scan_items import Item


@frozen
class ReferenceAnswer:
    """An outcome, and the remarks made on the way to it."""

    outcome: Accepted | Refused
    remarks: tuple[Remark, ...] = ()


def reference_answer(case: Case) -> ReferenceAnswer:
    """Return the answer of the reference to `case`; raises `UnknownFormat`."""
    fmt = formats.get(case.format, case.revision)
    options = case.effective_options
    match case.input:
        case Data(data):
            return decode_with_remarks(fmt, data, options)
        case Value(value):
            return _encoded(fmt, value, options)
        case Chunks(chunks):
            return _scanned(fmt, chunks, options)


def decode_with_remarks(fmt: Format, data: bytes, options: Options) -> ReferenceAnswer:
    """Decode as `formats.decode` does, but keep the remarks of a rejection too."""
    reader = Reader(data, budget=Budget(options.max_output))
    try:
        value = to_json(fmt.decode(reader, options))
    except Rejected as rejected:
        return ReferenceAnswer(refused(rejected), tuple(reader.remarks))
    return ReferenceAnswer(
        Accepted(value, reader.pos, remarks=_classes(reader.remarks)), tuple(reader.remarks)
    )


def _encoded(fmt: Format, value: Json, options: Options) -> ReferenceAnswer:
    try:
        return ReferenceAnswer(Accepted(data=formats.encode(fmt, value, options)))
    except Rejected as rejected:
        return ReferenceAnswer(refused(rejected))


def _scanned(fmt: Format, chunks: tuple[bytes, ...], options: Options) -> ReferenceAnswer:
    try:
        items = tuple(formats.scan(fmt, chunks, options))
    except Rejected as rejected:
        return ReferenceAnswer(refused(rejected))
    remarks = tuple(_item_remarks(items))
    consumed = sum(item.length for item in items)
    return ReferenceAnswer(Accepted(formats.items_json(items), consumed, remarks=_classes(remarks)), remarks)


def _item_remarks(items: tuple[Item, ...]) -> list[Remark]:
    return [
        remark.with_prefix(f"items[{number}].value.")
        for number, item in enumerate(items)
        for remark in item.remarks
    ]


def _classes(remarks: Sequence[Remark]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(remark.cls for remark in remarks))


def reference_expectation(case: Case) -> Expect:
    """Return the answer of the reference as an expectation, for bytes without a written one."""
    match reference_answer(case).outcome:
        case Accepted(value, consumed, data, remarks):
            return Accept(value, consumed, remarks, (data,) if data is not None else ())
        case Refused(cls=cls, at=at, before=before):
            return Reject(cls, (), at, before)
