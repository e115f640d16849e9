"""The adapters of this package: `reference`, the reference codecs of `formats.py`, and `columnar`.

`columnar` has the fast decoders. If the kernels can decode the input, the answer is built from their columns.
If they leave the input to the reference, the answer is the reference's and proves nothing about the kernels.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, Literal, TypeVar

from attrs import evolve

from wireproof import __version__
from wireproof.adapters.contract import Claim, Request
from wireproof.cases.case import Op
from wireproof.cases.observable_fields import EVERY_FIELD
from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof.cases.reference_answers import (
    ReferenceAnswer,
    decode_answer,
    encode_answer,
    scan_answer,
    scan_outcome,
)
from wireproof.family import FastDecoder, object_at
from wireproof.formats import FAMILIES, FORMATS, Format
from wireproof.wire.json_values import to_json
from wireproof.wire.options import DEFAULT_OPTIONS, Options

T = TypeVar("T")

_FRAME_OPS: Final[tuple[Op, ...]] = ("decode", "encode")
_STREAM_OPS: Final[tuple[Op, ...]] = ("decode", "encode", "scan")


def claim_of_row(row: Format) -> Claim:
    """Return the claims for everything that a format supports, and for its derived fields too."""
    parts = [atom.partition(":") for atom in row.capabilities]
    codecs = tuple(name for kind, _, name in parts if kind == "codec")
    features = tuple(name for kind, _, name in parts if kind == "feature")
    ops = _STREAM_OPS if row.scan is not None else _FRAME_OPS
    return Claim(
        ops, tuple(dict.fromkeys(("none", *codecs))), ("reader", "produce"), (EVERY_FIELD,), features
    )


class Reference:
    """Adapter that claims every format of `FORMATS` and exact error classes."""

    name = "reference"
    version = __version__
    errors: Literal["exact", "coarse", "none"] = "exact"
    window = 64

    @property
    def revisions(self) -> Mapping[str, Claim]:
        return {format_id: claim_of_row(row) for format_id, row in FORMATS.items()}

    def decode(self, request: Request) -> Outcome:
        return _answer(request, request.data, decode_answer)

    def encode(self, request: Request) -> Outcome:
        return _answer(request, request.value, encode_answer)

    def scan(self, request: Request) -> Outcome:
        return _answer(request, request.chunks, scan_answer)


def _answer(request: Request, given: T, answer: Callable[[Format, T, Options], ReferenceAnswer]) -> Outcome:
    fmt = FORMATS.get(f"{request.format}/{request.revision}")
    if fmt is None or (request.op == "scan" and fmt.scan is None):
        return Unsupported(f"no {request.op} of {request.format}/{request.revision}")
    return answer(fmt, given, request.options).outcome


# --- the fast decoders ---


@cache
def fast_decoders() -> Mapping[str, FastDecoder]:
    places = (family.fast_decoders for family in FAMILIES.values())
    tables: list[Mapping[str, FastDecoder]] = [object_at(place) for place in places if place]
    return {format_id: decoder for table in tables for format_id, decoder in table.items()}


def warm() -> None:
    """Compile every kernel: a first compilation takes longer than the time limit of a case."""
    for decoder in fast_decoders().values():
        for data in decoder.warm:
            if decoder.decode is not None:
                decoder.decode(data, DEFAULT_OPTIONS)
            if decoder.scan is not None:
                decoder.scan(data, DEFAULT_OPTIONS)


class Columnar:
    """Adapter of the fast decoders; it counts what they answer, and what the reference answers for them."""

    name = "columnar"
    version = __version__
    errors: Literal["exact", "coarse", "none"] = "exact"
    window = 64

    def __init__(self) -> None:
        warm()
        self._reference = Reference()
        self.answered = 0
        self.by_reference = 0

    @property
    def revisions(self) -> Mapping[str, Claim]:
        claims: dict[str, Claim] = {}
        for format_id, decoder in fast_decoders().items():
            ops: tuple[tuple[Op, object], ...] = (("decode", decoder.decode), ("scan", decoder.scan))
            known = tuple(op for op, function in ops if function is not None)
            # the kernels compute no derived fields
            claims[format_id] = evolve(claim_of_row(FORMATS[format_id]), ops=known, observes=())
        return claims

    def decode(self, request: Request) -> Outcome:
        found = fast_decoders().get(f"{request.format}/{request.revision}")
        if found is None or found.decode is None:
            return Unsupported(f"no decode of {request.format}/{request.revision}")
        decoded = found.decode(request.data, request.options)
        if decoded is None:
            self.by_reference += 1
            return self._reference.decode(request)
        self.answered += 1
        return Accepted(to_json(decoded.value), decoded.consumed)

    def scan(self, request: Request) -> Outcome:
        """Return every item; join the chunks first, because the kernels need one contiguous buffer."""
        found = fast_decoders().get(f"{request.format}/{request.revision}")
        if found is None or found.scan is None:
            return Unsupported(f"no scan of {request.format}/{request.revision}")
        items, by_reference = found.scan(b"".join(request.chunks), request.options)
        self.by_reference += by_reference
        self.answered += len(items) - by_reference
        return scan_outcome(items)
