"""What is asked of an adapter, in which order, under which names. Design, section 4.

Claims decide: a case outside them is not asked but `unsupported`; a case of an entry is lifted to the
stream that the adapter claims instead, but for a revision of which it claims no op: a reader of logs says
so that it knows no such entry. Without any claim, everything is asked. The order within a
block and the ids are drawn from the seed, so that an adapter can tell nothing from either.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from random import Random
from typing import Final, Literal, TypeVar

from attrs import define, evolve

from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.cases.case import Case, Chunks, Data, Input, Op, Value
from wireproof.cases.lift import lift
from wireproof.cases.outcome import Unsupported
from wireproof.formats import FORMATS, Format
from wireproof.wire.options import DEFAULT
from wireproof.wire.values import Json

BLOCK: Final = 512
"""Cases that are shuffled among themselves, and whose results are held until they can be given in order."""

SLOW_BLOCK: Final = 32
"""The same for an adapter that says it is slow, so that its results show while it runs."""

READER: Final = (DEFAULT.profile,)
"""What an adapter is that claims no profile."""

SLOW_SHARE: Final = 16
"""Of the derived cases, a slow adapter gets one in so many."""

_ID_BITS: Final = 48
_ID_MASK: Final = (1 << _ID_BITS) - 1

T = TypeVar("T")


def blocks(cases: Iterable[T], size: int) -> Iterator[list[T]]:
    """The cases in runs of `size`."""
    source = iter(cases)
    while block := list(islice(source, size)):
        yield block


class Draw:
    """The seeded source of orders and ids of one run."""

    def __init__(self, seed: int) -> None:
        """Begin; the same seed draws the same."""
        self._random = Random(seed)  # noqa: S311 - order, not secrecy
        self._factor = self._random.getrandbits(_ID_BITS) | 1
        self._number = self._random.getrandbits(_ID_BITS)

    def order(self, size: int) -> list[int]:
        """The numbers below `size`, shuffled."""
        order = list(range(size))
        self._random.shuffle(order)
        return order

    def name(self) -> str:
        """An id that this run did not use yet: steps of an odd size reach every number once."""
        self._number = (self._number + self._factor) & _ID_MASK
        return f"{self._number:x}"


def planned(case: Case, hello: Hello) -> Case | Unsupported:
    """The case as it is asked of this adapter, or why it is not."""
    if not hello.revisions:
        return case if in_profile(case, None) else Unsupported(f"claims no profile:{case.profile}")
    if (unknown := lifting(case, hello)) is not None:
        case = lift(case, FORMATS[case.joined], unknown)
    claim = hello.revisions.get(case.joined)
    if claim is None or not _does(claim, case.op):
        return Unsupported(f"claims no {case.op} of {case.joined}")
    lack = lacking(case, claim)
    return Unsupported(f"claims no {lack} for {case.joined}") if lack else case


def claimed_ops(hello: Hello, row: Format) -> tuple[Op, ...]:
    """What may be asked of an adapter about `row`: what it claims, a lifted decode, or nothing."""
    every: tuple[Op, ...] = ("decode", "encode", "scan") if row.scan else ("decode", "encode")
    if not hello.revisions:
        return every
    claim = hello.revisions.get(row.joined)
    if claim is not None:
        return tuple(op for op in every if _does(claim, op))
    lifted = hello.revisions.get("/".join(row.lifts_to[:2])) if row.lifts_to else None
    return ("decode",) if lifted is not None and _does(lifted, "decode") else ()


def _does(claim: Claim, op: str) -> bool:
    return claim.ops is None or op in claim.ops


def lifting(case: Case, hello: Hello) -> frozenset[str] | None:
    """Return the revisions unknown to an adapter that is asked `case` as a stream; None if it is not lifted.

    Raises nothing. A decode of an entry is lifted (`lift.lift`) for an adapter that claims the stream of such
    entries and not the entry itself.
    """
    row, claim = FORMATS.get(case.joined), hello.revisions.get(case.joined)
    if not hello.revisions or row is None or row.lifts_to is None or case.op != "decode":
        return None
    if claim is not None and (_does(claim, case.op) or claim.ops == ()):
        return None
    stream = hello.revisions.get("/".join(row.lifts_to[:2]))
    if stream is None or not _does(stream, "decode"):
        return None
    return frozenset(joined for joined, other in hello.revisions.items() if other.ops == ())


def lacking(case: Case, claim: Claim) -> str:
    """The first thing that the case needs and the claim leaves out; what is not claimed at all is asked.

    An encoder is asked for the same bytes in every profile, which only says how they are looked at.
    """
    if not in_profile(case, claim):
        return f"profile:{case.profile}"
    claimed = {"codec": claim.codecs, "feature": claim.features}
    for atom in case.needs:
        kind, _, name = atom.partition(":")
        names = claimed.get(kind)
        if names is not None and name not in names:
            return atom
    return ""


def in_profile(case: Case, claim: Claim | None) -> bool:
    """Report whether a case is of a profile that is claimed; who claims none is a reader."""
    claimed = claim.profiles if claim is not None else None
    return case.op == "encode" or case.profile in (READER if claimed is None else claimed)


def request_for(case: Case, name: str, answer: Literal["value", "digest"] = "value") -> Request:
    """The question: bytes and options of the case, nothing of what is expected."""
    profile = DEFAULT.profile if case.op == "encode" else case.profile
    options = case.options
    if options.profile != profile:
        options = evolve(options, profile=profile)
    data, value, chunks = _parts(case.input)
    return Request(
        name,
        case.op,
        case.format,
        case.revision,
        data,
        value,
        chunks,
        options,
        "value" if case.op == "encode" else answer,
        case.limits,
    )


def _parts(given: Input) -> tuple[bytes, Json, tuple[bytes, ...]]:
    match given:
        case Data(data):
            return data, None, ()
        case Value(value):
            return b"", value, ()
        case Chunks(chunks):
            return b"", None, chunks


@define
class Sample:
    """A deterministic part of the derived cases, for an adapter that says it is slow.

    Attributes:
        share: one derived case in so many is kept; golden cases are all kept.
        kept, seen: how many derived cases so far, to be printed.
    """

    share: int = SLOW_SHARE
    kept: int = 0
    seen: int = 0

    def of(self, cases: Iterable[Case]) -> Iterator[Case]:
        """The cases that are kept; which they are depends on their ids alone."""
        for case in cases:
            if case.family is None:
                yield case
                continue
            self.seen += 1
            if int.from_bytes(blake2b(case.id.encode(), digest_size=4).digest()) % self.share == 0:
                self.kept += 1
                yield case
