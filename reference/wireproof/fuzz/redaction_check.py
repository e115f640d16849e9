"""Redact a case, and check that the redacted case still shows the same failure.

The redacted case is run before it is returned: by the reference, and by an adapter if one is named.
"""

from collections.abc import Iterator

from attrs import evolve, frozen

from wireproof.cases.case import Case, Chunks, Data, Source
from wireproof.cases.case_capabilities import capabilities_of_case
from wireproof.cases.outcome import Accepted, Refused
from wireproof.cases.redact import RedactionError, redactions
from wireproof.cases.reference_answers import reference_answer, reference_expectation
from wireproof.formats import get
from wireproof.runner.engine import Engine
from wireproof.runner.judge import judge
from wireproof.runner.signature import Signature, signature, without_indices


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
    results = _results([case, *candidates], adapter)
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
        given = Data(less) if isinstance(case.input, Data) else Chunks(_cut(less, case.input.chunks))
        candidate = evolve(case, input=given, source=Source(case.source.origin, "payload redacted"))
        candidate = evolve(candidate, expect=reference_expectation(candidate))
        yield evolve(candidate, needs=capabilities_of_case(candidate))


def _cut(data: bytes, like: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return the bytes in chunks as long as those of `like`; the last chunk has all that is left."""
    chunks, at = [], 0
    for chunk in like[:-1]:
        chunks.append(data[at : at + len(chunk)])
        at += len(chunk)
    return (*chunks, data[at:])


def _results(cases: list[Case], adapter: str) -> list[CaseResults]:
    """Return the results of each case."""
    ours = [_by_reference(case) for case in cases]
    if not adapter:
        return [CaseResults(answered, None) for answered in ours]
    with Engine(adapter) as engine:
        rans = list(engine.run(cases))
        verdicts = [judge(ran.case, ran.outcome, hello=engine.hello) for ran in rans]
    theirs = [signature(adapter, ran.case, verdict) for ran, verdict in zip(rans, verdicts, strict=True)]
    return [CaseResults(*both) for both in zip(ours, theirs, strict=True)]


def _by_reference(case: Case) -> tuple[str, ...]:
    """Return the answer of the reference in words, without values and positions."""
    outcome = reference_answer(case).outcome
    match outcome:
        case Refused(cls=cls, path=path):
            return "rejected", cls, without_indices(path)
        case Accepted(value=value, remarks=remarks) if case.op == "scan":
            return "scanned", *remarks, *_item_kinds(value)
        case Accepted(remarks=remarks):
            return "accepted", *remarks


def _item_kinds(value: object) -> Iterator[str]:
    """Yield the kind and the class of each item of a scan."""
    assert isinstance(value, dict), "the form of `formats.items_json`"
    for item in value["items"]:
        yield f"{item['kind']} {item.get('class', '')}".strip()
