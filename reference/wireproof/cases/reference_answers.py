"""The answers of the reference codecs, as outcomes and as expectations.

Every module that needs an answer of the reference in one of these two forms uses this module, so that the
adapter `reference`, the judge, the derived families and `lint` cannot differ. The reference answers any
bytes, so the judge can decide on bytes for which nobody wrote a case.
"""

from collections.abc import Iterable, Sequence

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Chunks, Data, Expect, Generated, Reject, Steps, Value
from wireproof.cases.made_case import made_input
from wireproof.cases.outcome import Accepted, Refused, refused_outcome
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
    """Return the answer of the reference to `case`; raise `UnknownFormat`."""
    fmt = formats.get(case.format, case.revision)
    options = case.effective_options
    match case.input:
        case Data(data):
            return decode_answer(fmt, data, options)
        case Value(value):
            return encode_answer(fmt, value, options)
        case Chunks(chunks):
            return scan_answer(fmt, chunks, options)
        case Generated():
            return reference_answer(evolve(case, input=made_input(case)))
        case Steps():
            raise ValueError("the reference keeps no state: it answers no sequence")


def decode_answer(fmt: Format, data: bytes, options: Options) -> ReferenceAnswer:
    """Return the answer to a decode; a rejection has its remarks too."""
    reader = Reader(data, budget=Budget(options.max_output))
    try:
        decoded = formats.decode_with_reader(fmt, reader, options)
    except Rejected as rejected:
        return ReferenceAnswer(refused_outcome(rejected), tuple(reader.remarks))
    value = to_json(decoded.value, with_derived=True)
    return ReferenceAnswer(
        Accepted(value, decoded.consumed, remarks=_classes(decoded.remarks)), decoded.remarks
    )


def encode_answer(fmt: Format, value: Json, options: Options) -> ReferenceAnswer:
    """Return the answer to the encode of a value in JSON form."""
    try:
        return ReferenceAnswer(Accepted(data=formats.encode(fmt, value, options)))
    except Rejected as rejected:
        return ReferenceAnswer(refused_outcome(rejected))


def scan_answer(fmt: Format, chunks: Iterable[bytes], options: Options) -> ReferenceAnswer:
    """Return the answer to a scan; raise `UnknownFormat` if the format is not a stream."""
    try:
        items = tuple(formats.scan(fmt, chunks, options))
    except Rejected as rejected:
        return ReferenceAnswer(refused_outcome(rejected))
    return ReferenceAnswer(scan_outcome(items, with_derived=True), _item_remarks(items))


def scan_outcome(items: Sequence[Item], *, with_derived: bool = False) -> Accepted:
    """Return the outcome of a scan with these items."""
    remarks = _classes(remark for item in items for remark in item.remarks)
    return Accepted(
        formats.items_json(items, with_derived=with_derived),
        sum(item.length for item in items),
        remarks=remarks,
    )


def _item_remarks(items: Iterable[Item]) -> tuple[Remark, ...]:
    return tuple(
        remark.with_prefix(f"items[{number}].value.")
        for number, item in enumerate(items)
        for remark in item.remarks
    )


def _classes(remarks: Iterable[Remark]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(remark.cls for remark in remarks))


def open_to_refusal(case: Case, remarks: Iterable[Remark]) -> Remark | None:
    """Return the first remark by which a codec may refuse what the reference reads; None if it may not.

    It counts only where the answer of the reference is the expectation: a golden case says itself what is
    right.
    """
    if case.golden or case.op == "encode":
        return None
    return next((remark for remark in remarks if remark.rejectable), None)


def reference_expectation(case: Case) -> Expect:
    """Return the answer of the reference as an expectation, for bytes without a written one."""
    return expectation_of(reference_answer(case))


def expectation_of(answer: ReferenceAnswer) -> Expect:
    """Return an answer as an expectation."""
    match answer.outcome:
        case Accepted(value, consumed, data, remarks):
            return Accept(value, consumed, remarks, (data,) if data is not None else ())
        case Refused(cls=cls, at=at, before=before):
            return Reject(cls, (), at, before)


def expectation_of_bytes(fmt: Format, data: bytes, options: Options) -> Expect:
    """Return the expectation for a decode of a derived case.

    It leaves open what is delivered before a rejection, and sorts the remarks: the relation of a family
    compares it with an expectation that has no order.
    """
    match decode_answer(fmt, data, options).outcome:
        case Accepted(value=value, consumed=consumed, remarks=remarks):
            return Accept(value, consumed, tuple(sorted(remarks)))
        case Refused(cls=cls, at=at):
            return Reject(cls, (), at, None)
