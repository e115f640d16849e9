"""Redact a case, and check that the redacted case still shows the same failure.

The redacted case is run before it is returned: by the reference, and by an adapter if one is named.
"""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any

from attrs import evolve

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
    cases = [case, *candidates]
    signs: list[Signature | None] = [None] * len(cases)
    if adapter:
        with Engine(adapter) as engine:
            for place, ran in enumerate(engine.run(cases)):
                verdicts = judge_ways(ran.case, ran.outcome, hello=engine.hello)
                ways = [signature(adapter, ran.case, one) for one in verdicts]
                signs[place] = wanted if wanted in ways else ways[0]
    if wanted is not None and signs[0] != wanted:
        raise RedactionError(f"{adapter} no longer reproduces the finding: got {signs[0]}, expected {wanted}")
    results = [(_by_reference(one), sign) for one, sign in zip(cases, signs, strict=True)]
    for candidate, result in zip(candidates, results[1:], strict=True):
        if result == results[0]:
            return candidate
    expected, *_, got = [" · ".join(filter(None, (*answer, str(sign or "")))) for answer, sign in results]
    raise RedactionError(
        f"redaction changes the result: got {got}, expected {expected}; run again without --redact"
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
    kept, spans = [], []
    for span in found.spans:
        here, region = slice(span.start, span.end), found.spaces.get(span.space)
        is_kept = span.type in INTEGER_TYPES and not span.space and data[here] != found.data[here]
        if is_kept:
            kept.append(Splice("", span.start, span.end, data[here]))
        right = None  # of a length or a checksum
        if span.cover is not None and region is not None:
            right = correct_bytes(region, span, span.cover)
        is_wrong = right is not None and region is not None and right != region[here]
        spans.append(evolve(span, cover=None) if is_kept or is_wrong else span)
    bare = DecodeTrace(found.row, found.data, tuple(spans), found.spaces, found.value, found.rejected)
    opened: dict[str, FieldSpan] = {}  # what was decompressed whole
    torn = bare.rejected if bare.rejected and bare.rejected.cls == "decompress-failed" else None
    for space in filter(None, bare.spaces):
        compressed = region_of_space(bare, space)
        if compressed is not None and not (torn and torn.path.startswith(compressed.path)):
            opened[space] = compressed
    fill = [splice for space in ("", *opened) for splice in _filled(bare, space, list(opened.values()))]
    return apply_splices(bare, [*fill, *kept])


def _filled(found: DecodeTrace, space: str, opened: list[FieldSpan]) -> Iterator[Splice]:
    """Yield filler for all of a space but its structure and its decompressed regions."""
    redaction = family_of(found.row).redaction
    if found.row.is_json and not space:
        return
    structure = (
        span
        for span in found.spans
        if span.type in INTEGER_TYPES
        or (span.type == "bytes" and without_indices(span.path).endswith(redaction.kept_paths))
    )
    stays = [(span.start, span.end) for span in (*structure, *opened) if span.space == space]
    at = 0 if space else min(redaction.kept_head_bytes, len(found.data))
    for start, end in (*sorted(stays), (len(found.spaces[space]),) * 2):
        if start > at:
            yield Splice(space, at, start, redaction.filler * (start - at))
        at = max(at, end)
