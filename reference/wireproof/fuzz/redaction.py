"""A case redacted, and the proof that it still shows what it showed, to the reference and to an adapter.

The proof is a run: what `cases.redact` gives is asked and judged before it is believed.
"""

from collections.abc import Iterator

from attrs import evolve, frozen

from wireproof.cases.case import Case, Chunks, Data, Source
from wireproof.cases.needs import needs_of
from wireproof.cases.outcome import Accepted, Refused
from wireproof.cases.redact import RedactionError, redactions
from wireproof.formats import get
from wireproof.trial.engine import Engine
from wireproof.trial.judge import judge
from wireproof.trial.reference import answer, expectation
from wireproof.trial.signature import Signature, signature, without_indices


@frozen
class Shows:
    """What a case shows.

    Attributes:
        reference: that the reference accepts it, with which remarks; or class and field of its refusal.
        adapter: the signature of the adapter's verdict; None where none is asked.
    """

    reference: tuple[str, ...]
    adapter: Signature | None

    def __str__(self) -> str:
        """One line."""
        return " · ".join((*filter(None, self.reference), *([str(self.adapter)] if self.adapter else [])))


def redacted(case: Case, adapter: str = "", wanted: Signature | None = None) -> Case:
    """The case without its payload, proven to show the same.

    Args:
        case: a decode or a scan.
        adapter: whose verdict is to stay; empty: only what the reference says.
        wanted: the signature that the case must have to begin with; None: any.

    Raises:
        RedactionError: no redaction shows the same, or the case does not show what it was kept for.
        UnknownAdapter, AdapterStartError: of the adapter.
    """
    tries = list(_tries(case))
    shown = _shown([case, *tries], adapter)
    if wanted is not None and shown[0].adapter != wanted:
        got = shown[0].adapter
        raise RedactionError(f"{adapter} no longer reproduces the finding: got {got}, expected {wanted}")
    for made, says in zip(tries, shown[1:], strict=True):
        if says == shown[0]:
            return made
    raise RedactionError(
        f"redacted bytes show something else: {shown[-1]}, not {shown[0]}; leave --redact away"
    )


def _tries(case: Case) -> Iterator[Case]:
    """The case over each of its redactions, with what the reference makes of it."""
    row, options = get(case.format, case.revision), case.held_to
    if not isinstance(case.input, Data | Chunks):
        raise RedactionError("only bytes that are read can be redacted, not a value that is written")
    data = case.input.data if isinstance(case.input, Data) else b"".join(case.input.chunks)
    for less in redactions(row, data, options):
        given = Data(less) if isinstance(case.input, Data) else Chunks(_cut(less, case.input.chunks))
        made = evolve(case, input=given, source=Source(case.source.origin, "payload redacted"))
        made = evolve(made, expect=expectation(made))
        yield evolve(made, needs=needs_of(made))


def _cut(data: bytes, like: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The bytes in pieces as long as those of `like`; the last one takes what is more or less."""
    pieces, at = [], 0
    for piece in like[:-1]:
        pieces.append(data[at : at + len(piece)])
        at += len(piece)
    return (*pieces, data[at:])


def _shown(cases: list[Case], adapter: str) -> list[Shows]:
    """What each case shows."""
    ours = [_by_reference(case) for case in cases]
    if not adapter:
        return [Shows(said, None) for said in ours]
    with Engine(adapter) as engine:
        rans = list(engine.run(cases))
        verdicts = [judge(ran.case, ran.outcome, hello=engine.hello) for ran in rans]
    theirs = [signature(adapter, ran.case, said) for ran, said in zip(rans, verdicts, strict=True)]
    return [Shows(*both) for both in zip(ours, theirs, strict=True)]


def _by_reference(case: Case) -> tuple[str, ...]:
    said = answer(case).outcome
    match said:
        case Refused(cls=cls, path=path):
            return "refused", cls, without_indices(path)
        case Accepted(value=value, remarks=remarks) if case.op == "scan":
            return "scanned", *remarks, *_kinds(value)
        case Accepted(remarks=remarks):
            return "accepted", *remarks


def _kinds(value: object) -> Iterator[str]:
    """Kind and class of each item of a scan."""
    assert isinstance(value, dict), "as `formats.items_json` gives it"
    for item in value["items"]:
        yield f"{item['kind']} {item.get('class', '')}".strip()
