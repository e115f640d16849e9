"""Requests: the cases that an adapter is sent, in which form, in which order and under which ids.

The claims decide: a case outside them is not sent but `unsupported`. A case of an entry is wrapped as the
stream that the adapter claims instead, but not for a revision that it claims with no op: that is how a reader
of logs declares that it does not know such entries. Without any claim, everything is sent. The order within
a block and the ids come from the seed, so that an adapter can learn nothing from either.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from random import Random
from typing import Final, Literal, TypeVar

from attrs import define, evolve

from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.cases.case import Case, Chunks, Data, Generated, Input, Op, Steps, Value
from wireproof.cases.made_case import made_input, needs_digest
from wireproof.cases.outcome import Unsupported
from wireproof.cases.steps import SEQUENCE, step_request
from wireproof.cases.wrap_as_stream import wrap_case
from wireproof.formats import FORMATS, Format
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS

BLOCK_SIZE: Final = 512
"""Cases that are shuffled among themselves, and whose results are held until they can be yielded in order."""

SLOW_BLOCK_SIZE: Final = 32
"""The same for an adapter that claims to be slow, so that its results show while it runs."""

DEFAULT_PROFILES: Final = (DEFAULT_OPTIONS.profile,)
"""The profiles of an adapter that claims none."""

SLOW_SHARE: Final = 16
"""A slow adapter runs one derived case in this many."""

_ID_BITS: Final = 48
_ID_MASK: Final = (1 << _ID_BITS) - 1

NO_DIGESTS: Final = "answers no digests: it is asked for values up to 1.5 MiB"
"""Why an adapter is not asked for a larger value."""

T = TypeVar("T")


def blocks(cases: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the cases in lists of `size`."""
    source = iter(cases)
    while block := list(islice(source, size)):
        yield block


class SeededOrder:
    """The seeded source of orders and ids of one run."""

    def __init__(self, seed: int | str) -> None:
        """Start; equal seeds give equal orders and ids."""
        self._random = Random(seed)  # noqa: S311 - order, not secrecy
        self._factor = self._random.getrandbits(_ID_BITS) | 1
        self._number = self._random.getrandbits(_ID_BITS)

    def order(self, size: int) -> list[int]:
        """Return the numbers below `size`, shuffled."""
        order = list(range(size))
        self._random.shuffle(order)
        return order

    def name(self) -> str:
        """Return an id that is new in this run: steps of an odd size reach every number once."""
        self._number = (self._number + self._factor) & _ID_MASK
        return f"{self._number:x}"


def prepare_case(case: Case, hello: Hello) -> Case | Unsupported:
    """Return the case in the form for this adapter, or the reason why it is not sent."""
    if not hello.revisions:
        if case.op == SEQUENCE:
            return Unsupported(f"claims no {SEQUENCE}")
        lack = no_digests(case, hello) if claims_profile(case, None) else f"claims no profile:{case.profile}"
        return Unsupported(lack) if lack else case
    if (unknown := stream_wrapping(case, hello)) is not None:
        case = wrap_case(case, FORMATS[case.format_id], unknown)
    claim = hello.revisions.get(case.format_id)
    if claim is None or not _claims_op(claim, case.op):
        return Unsupported(f"claims no {case.op} of {case.format_id}")
    if lack := missing_capability(case, claim):
        return Unsupported(f"claims no {lack} for {case.format_id}")
    lack = no_digests(case, hello)
    return Unsupported(lack) if lack else case


def no_digests(case: Case, hello: Hello) -> str:
    """Return why a case of large values is not sent to an adapter without digests; empty if it is sent."""
    return NO_DIGESTS if needs_digest(case) and not hello.digests else ""


def claimed_ops(hello: Hello, row: Format) -> tuple[Op, ...]:
    """Return the ops of a format that an adapter claims; `decode` too if it decodes the wrapping stream."""
    every: tuple[Op, ...] = ("decode", "encode", "scan") if row.scan else ("decode", "encode")
    if not hello.revisions:
        return every
    claim = hello.revisions.get(row.format_id)
    if claim is not None:
        return tuple(op for op in every if _claims_op(claim, op))
    lifted = hello.revisions.get("/".join(row.wrapped_by[:2])) if row.wrapped_by else None
    return ("decode",) if lifted is not None and _claims_op(lifted, "decode") else ()


def _claims_op(claim: Claim, op: str) -> bool:
    return op != SEQUENCE if claim.ops is None else op in claim.ops


def stream_wrapping(case: Case, hello: Hello) -> frozenset[str] | None:
    """Return the revisions unknown to an adapter that gets `case` as a stream; None if it is not wrapped.

    A decode of an entry is wrapped (`wrap_as_stream`) for an adapter that claims the stream of such entries
    and not the entry itself.
    """
    row, claim = FORMATS.get(case.format_id), hello.revisions.get(case.format_id)
    if not hello.revisions or row is None or row.wrapped_by is None or case.op != "decode":
        return None
    if claim is not None and (_claims_op(claim, case.op) or claim.ops == ()):
        return None
    stream = hello.revisions.get("/".join(row.wrapped_by[:2]))
    if stream is None or not _claims_op(stream, "decode"):
        return None
    return frozenset(format_id for format_id, other in hello.revisions.items() if other.ops == ())


def missing_capability(case: Case, claim: Claim) -> str:
    """Return the first capability that the case needs and the claim lacks; unclaimed kinds are not checked.

    An encoder must write the same bytes in every profile: a profile only determines how they are read.
    """
    if not claims_profile(case, claim):
        return f"profile:{case.profile}"
    claimed = {"codec": claim.codecs, "feature": claim.features}
    for atom in case.needs:
        kind, _, name = atom.partition(":")
        names = claimed.get(kind)
        if names is not None and name not in names:
            return atom
    return ""


def claims_profile(case: Case, claim: Claim | None) -> bool:
    """Return whether the claim includes the profile of a case; the default is `reader`."""
    claimed = claim.profiles if claim is not None else None
    return case.op == "encode" or case.profile in (DEFAULT_PROFILES if claimed is None else claimed)


def request_for(case: Case, name: str, answer: Literal["value", "digest"] = "value") -> Request:
    """Return the request of a case: its bytes and options, nothing of the expectation.

    The request of a generated case is empty until `with_input`.
    """
    profile = DEFAULT_OPTIONS.profile if case.op == "encode" else case.profile
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
        tuple(map(step_request, case.input.steps)) if isinstance(case.input, Steps) else (),
    )


def with_input(case: Case, request: Request) -> Request:
    """Return the request with its input, if that is generated: it is large, and made when it is sent."""
    if not isinstance(case.input, Generated):
        return request
    data, value, _ = _parts(made_input(case))
    return evolve(request, data=data, value=value)


def weight_of(case: Case, request: Request) -> int:
    """Return the bytes of the input, and of the values of a generated one."""
    source = case.input
    return source.size + source.recipe.payload if isinstance(source, Generated) else request.weight


def _parts(source: Input) -> tuple[bytes, Json, tuple[bytes, ...]]:
    match source:
        case Data(data):
            return data, None, ()
        case Value(value):
            return b"", value, ()
        case Chunks(chunks):
            return b"", None, chunks
        case Generated() | Steps():
            return b"", None, ()


@define
class DerivedSample:
    """A deterministic part of the derived cases, for an adapter that claims to be slow.

    Attributes:
        share: one derived case in this many is kept; golden cases are all kept.
        kept, seen: numbers of derived cases so far, for a note.
    """

    share: int = SLOW_SHARE
    kept: int = 0
    seen: int = 0

    def of(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield the cases that are kept, which depends on their ids alone."""
        for case in cases:
            if case.family is None:
                yield case
                continue
            self.seen += 1
            if int.from_bytes(blake2b(case.id.encode(), digest_size=4).digest()) % self.share == 0:
                self.kept += 1
                yield case
