"""Redact a case, and check that the redacted case still shows the same failure.

The redacted case is run before it is returned: by the reference, and by an adapter if one is named.
"""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any

from attrs import evolve, frozen

from wireproof.cases.case import Case, Chunks, Data, Source
from wireproof.cases.outcome import Accepted, Refused
from wireproof.cases.reference_answers import reference_answer, reference_expectation
from wireproof.derive.edit_bytes import correct_bytes
from wireproof.derive.examples import capabilities_of_case
from wireproof.derive.mutate.decode_trace import INTEGER_TYPES, DecodeTrace, trace_of
from wireproof.derive.mutate.splice import Splice, apply_splices, region_of_space, repair
from wireproof.formats import Format, family_of, get
from wireproof.judge.judge import judge_ways
from wireproof.judge.signature import Signature, signature, without_indices
from wireproof.run.engine import Engine
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.trace import FieldSpan


@frozen
class CaseResults:
    """The results of a case that a redaction must not change.

    Attributes:
        reference: accepted, with which remarks; or rejected, with which class and at which field.
        adapter: signature of the adapter's verdict; None without an adapter.
    """

    reference: tuple[str, ...]
    adapter: Signature | None

    def __str__(self) -> str:
        """Return one line."""
        return " · ".join((*filter(None, self.reference), *([str(self.adapter)] if self.adapter else [])))


def redact_case(case: Case, adapter: str = "", wanted: Signature | None = None) -> Case:
    """Return the case without its payload; reference and adapter answer it as they answer `case`.

    Args:
        case: a decode or a scan.
        adapter: the adapter whose verdict must not change; empty for the reference alone.
        wanted: the signature that `case` must have; None for any.

    Raises:
        RedactionError: no redaction has the same results, or `case` does not have the signature `wanted`.
        UnknownAdapter, AdapterStartError: the adapter does not exist or cannot be started.
    """
    candidates = list(_candidates(case))
    results = _results([case, *candidates], adapter, wanted)
    if wanted is not None and results[0].adapter != wanted:
        raise RedactionError(
            f"{adapter} no longer reproduces the finding: got {results[0].adapter}, expected {wanted}"
        )
    for candidate, result in zip(candidates, results[1:], strict=True):
        if result == results[0]:
            return candidate
    raise RedactionError(
        f"redaction changes the result: got {results[-1]}, expected {results[0]}; run again without --redact"
    )


def _candidates(case: Case) -> Iterator[Case]:
    """Yield the case over each of its redactions, with the answer of the reference as its expectation."""
    fmt, options = get(case.format, case.revision), case.effective_options
    if not isinstance(case.input, Data | Chunks):
        raise RedactionError("only bytes can be redacted, and this case has a value to encode")
    data = case.input.data if isinstance(case.input, Data) else b"".join(case.input.chunks)
    for less in redactions(fmt, data, options):
        given: Data | Chunks = Data(less)
        if isinstance(case.input, Chunks):  # as long as they were; the last one has all that is left
            ends = (0, *accumulate(map(len, case.input.chunks[:-1])), len(less))
            given = Chunks(tuple(less[start:end] for start, end in pairwise(ends)))
        candidate = evolve(case, input=given, source=Source(case.source.origin, "payload redacted"))
        candidate = evolve(candidate, expect=reference_expectation(candidate))
        yield evolve(candidate, needs=capabilities_of_case(candidate))


def _results(cases: list[Case], adapter: str, wanted: Signature | None) -> list[CaseResults]:
    """Return the results of each case; of the ways in which one fails, that with the signature `wanted`."""
    ours = [_by_reference(case) for case in cases]
    if not adapter:
        return [CaseResults(answered, None) for answered in ours]
    with Engine(adapter) as engine:
        theirs = []
        for ran in engine.run(cases):
            verdicts = judge_ways(ran.case, ran.outcome, hello=engine.hello)
            signs = [signature(adapter, ran.case, one) for one in verdicts]
            theirs.append(wanted if wanted in signs else signs[0])
    return [CaseResults(*both) for both in zip(ours, theirs, strict=True)]


def _by_reference(case: Case) -> tuple[str, ...]:
    """Return the answer of the reference in words, without values and positions."""
    outcome = reference_answer(case).outcome
    match outcome:
        case Refused(cls=cls, path=path):
            return "rejected", cls, without_indices(path)
        case Accepted(value=value, remarks=remarks) if case.op == "scan":
            items: Any = value  # the form of `formats.items_json`
            kinds = (f"{item['kind']} {item.get('class', '')}".strip() for item in items["items"])
            return "scanned", *remarks, *kinds
        case Accepted(remarks=remarks):
            return "accepted", *remarks


class RedactionError(ValueError):
    """The bytes cannot be redacted; one line gives the reason."""


def redactions(row: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> Iterator[bytes]:
    """Yield the bytes redacted, in up to two ways; each contains nothing but structure and filler.

    After a wrong checksum, length or count nothing is decoded. First the bytes are decoded as if it were
    right, which keeps the later fields; then everything after it is filler.

    Raises:
        RedactionError: text of JSON that is rejected, in which payload and structure cannot be distinguished.
    """
    found = trace_of(row, data, options)
    if found.rejected is None:
        yield _redacted(found, data)
        return
    if row.is_json:
        raise RedactionError(
            "JSON that is refused cannot be redacted: payload and structure cannot be distinguished"
        )
    repaired = repair(row, data)
    if len(repaired) == len(data) and repaired != data:
        reread = trace_of(row, repaired, options)
        numbers = [span for span in reread.integers if not span.space]
        places = {at for span in numbers for at in range(span.start, span.end)}
        if all(at in places or repaired[at] == data[at] for at in range(len(data))):
            yield _redacted(reread, data)
    yield _redacted(found, data)


def _redacted(found: DecodeTrace, data: bytes) -> bytes:
    """Return the decoded bytes redacted; differences in `data` are kept."""
    wrong = [
        span
        for span in found.integers
        if not span.space and _bytes_of(span, data) != _bytes_of(span, found.data)
    ]
    kept = [Splice("", span.start, span.end, _bytes_of(span, data)) for span in wrong]
    stubborn = {id(span) for span in (*wrong, *_wrong_covers(found))}
    spans = tuple(evolve(span, cover=None) if id(span) in stubborn else span for span in found.spans)
    bare = DecodeTrace(found.row, found.data, spans, found.spaces, found.value, found.rejected)
    opened = dict(_decompressed_regions(bare))
    fill = [splice for space in ("", *opened) for splice in _filled(bare, space, list(opened.values()))]
    return apply_splices(bare, [*fill, *kept])


def _bytes_of(span: FieldSpan, data: bytes) -> bytes:
    return data[span.start : span.end]


def _wrong_covers(found: DecodeTrace) -> Iterator[FieldSpan]:
    """Yield the lengths and checksums that are wrong."""
    for span in found.spans:
        data = found.spaces.get(span.space)
        if span.cover is not None and data is not None:
            correct = correct_bytes(data, span, span.cover)
            if correct is not None and correct != _bytes_of(span, data):
                yield span


def _filled(found: DecodeTrace, space: str, opened: list[FieldSpan]) -> Iterator[Splice]:
    """Yield filler for all of a space but its structure and its decompressed regions."""
    redaction = family_of(found.row).redaction
    here = [span for span in found.spans if span.space == space]
    if found.row.is_json and not space:
        return
    stays = sorted((span.start, span.end) for span in here if _structure(span, redaction.kept_paths))
    stays += [(span.start, span.end) for span in opened if span.space == space]
    at = 0 if space else min(redaction.kept_head_bytes, len(found.data))
    for start, end in (*sorted(stays), (len(found.spaces[space]),) * 2):
        if start > at:
            yield Splice(space, at, start, redaction.filler * (start - at))
        at = max(at, end)


def _structure(span: FieldSpan, kept: tuple[str, ...]) -> bool:
    is_kept = span.type == "bytes" and without_indices(span.path).endswith(kept)
    return span.type in INTEGER_TYPES or is_kept


def _decompressed_regions(found: DecodeTrace) -> Iterator[tuple[str, FieldSpan]]:
    """Yield the spaces that were decompressed whole, with their regions."""
    torn = found.rejected if found.rejected and found.rejected.cls == "decompress-failed" else None
    for space in filter(None, found.spaces):
        region = region_of_space(found, space)
        if region is not None and not (torn and torn.path.startswith(region.path)):
            yield space, region
