"""What is asked beside the bytes of a fuzzer: keys, limits, the offset that was fetched.

Which of them make a difference at all, the fixtures of a format know. Where they do, the bytes decide: a
limit says nothing of a message that is far from it, nor an offset of a log that does not reach there.
"""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Final, Literal

from attrs import evolve, frozen

from wireproof import formats
from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.signing import Keys
from wireproof.formats import Format
from wireproof.trial.plan import planned
from wireproof.wire.options import DEFAULT, Options, Profile
from wireproof.wire.trace import Span

AS_IT_IS: Final = 4
"""Of askings, one in so many is taken from the fixtures as it stands there."""


@frozen
class Asking:
    """What is asked beside the bytes, and the capabilities that it takes."""

    options: Options = DEFAULT
    needs: tuple[str, ...] = ()
    profile: Profile = "reader"


def askings(row: Format, suite: Suite, op: Literal["decode", "scan"] = "decode") -> tuple[Asking, ...]:
    """The ways in which the fixtures of `row` ask for `op`; the plain one, of a reader, first."""
    needs: dict[str, tuple[Options, Profile, set[str]]] = {}
    for case in suite.cases:
        if case.joined == row.joined and case.op == op:
            first = (case.options, case.profile, set(case.needs))
            *_, common = needs.setdefault(repr(first[:2]), first)
            common &= set(case.needs)
    found = [Asking(options, tuple(sorted(common)), profile) for options, profile, common in needs.values()]
    return (Asking(), *(one for one in found if (one.options, one.profile) != (DEFAULT, "reader")))


def put_to(case: Case, way: Asking) -> Case:
    """The case as it is asked in this way."""
    return evolve(case, options=way.options, needs=way.needs, profile=way.profile)


def claimed(ways: Iterable[Asking], case: Case, hello: Hello) -> tuple[Asking, ...]:
    """The ways in which an adapter lets itself be asked for a case."""
    return tuple(way for way in ways if isinstance(planned(put_to(case, way), hello), Case))


def keys_of(ways: Iterable[Asking]) -> Keys:
    """Every key of every signer that is asked with; of two by one name the first."""
    found: dict[str, bytes] = {}
    for way in ways:
        for name, key in (way.options.keys or {}).items():
            found.setdefault(name, key)
    return found


def fitted(row: Format, options: Options, data: bytes, drawn: int) -> Options:
    """The options with limits and offsets such as stand in `data`; mostly, and where it has such."""
    fits = [fit for wanted, fit in FITS if wanted(options)]
    rng = Random(drawn)  # noqa: S311 - a function of the bytes
    if not fits or not below(rng, AS_IT_IS):
        return options
    spans = formats.layout(row, data).spans
    for fit in fits:
        options = fit(options, spans, rng)
    return options


def _named(spans: Iterable[Span], *names: str) -> list[int]:
    return [int(span.value) for span in spans if span.path.rpartition(".")[2] in names]


def _limit(options: Options, spans: Sequence[Span], rng: Random) -> Options:
    """A message just within it, or just beyond."""
    sizes = [size for size in _named(spans, "message_length") if 1 < size < 1 << 31]
    return evolve(options, max_message=pick(rng, sizes) + pick(rng, (-1, 0, 0, 1))) if sizes else options


def _offsets(spans: Iterable[Span]) -> list[int]:
    return _named(spans, "baseOffset", "offset")


def _fetched(options: Options, spans: Sequence[Span], rng: Random) -> Options:
    """An offset of an entry, or inside it."""
    offsets = _offsets(spans)
    if not offsets:
        return options
    return evolve(options, fetch_offset=min(pick(rng, offsets) + pick(rng, (0, 1, 1, 2)), (1 << 63) - 1))


def _aborted(options: Options, spans: Sequence[Span], rng: Random) -> Options:
    """Transactions of producers that are there, from offsets that are."""
    offsets, producers = _offsets(spans), _named(spans, "producerId")
    if not offsets or not producers:
        return options
    pairs = (
        (pick(rng, producers), min(pick(rng, offsets) + pick(rng, (0, 0, 1)), (1 << 63) - 1))
        for _ in range(pick(rng, (1, 2, 2, 3)))
    )
    return evolve(options, aborted=tuple(pairs))


Fit = Callable[[Options, Sequence[Span], Random], Options]

FITS: Final[tuple[tuple[Callable[[Options], bool], Fit], ...]] = (
    (lambda options: options.max_message is not None, _limit),
    (lambda options: options.fetch_offset is not None, _fetched),
    (lambda options: options.isolation == "read_committed", _aborted),
)
"""Which options are drawn from the bytes, and how."""
