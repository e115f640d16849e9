"""The adapter `columnar`: the fast decoders behind the adapter contract, checked with every case.

If the kernels can decode the input, the answer is built from their columns. If they leave the input to the
reference, the answer is the reference's and proves nothing about the kernels. `answered` and
`by_reference` count the two kinds of answers.
"""

from collections.abc import Mapping
from functools import cache
from typing import Literal

from attrs import evolve

from wireproof import __version__
from wireproof.adapters.contract import Claim, Request
from wireproof.adapters.reference import Reference, claim_of_row
from wireproof.cases.case import Op
from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof.cases.reference_answers import scan_outcome
from wireproof.family import FastDecoder, object_at
from wireproof.formats import FAMILIES, FORMATS
from wireproof.wire.json_values import to_json
from wireproof.wire.options import DEFAULT_OPTIONS


@cache
def fast_decoders() -> Mapping[str, FastDecoder]:
    """Return the fast decoders of all installed families, by format id."""
    places = (family.fast_decoders for family in FAMILIES.values())
    tables: list[Mapping[str, FastDecoder]] = [object_at(place) for place in places if place]
    return {format_id: one for table in tables for format_id, one in table.items()}


def _ops(one: FastDecoder) -> tuple[Op, ...]:
    ops: tuple[tuple[Op, object], ...] = (("decode", one.decode), ("scan", one.scan))
    return tuple(op for op, function in ops if function is not None)


def warm() -> None:
    """Compile every kernel: a first compilation takes longer than the time limit of a case."""
    for one in fast_decoders().values():
        for data in one.warm:
            if one.decode is not None:
                one.decode(data, DEFAULT_OPTIONS)
            if one.scan is not None:
                one.scan(data, DEFAULT_OPTIONS)


class Columnar:
    """Adapter that decodes and scans the formats with a fast decoder; it does not encode.

    Attributes:
        answered, by_reference: answers of the kernels and of the reference so far: decodes, or items of a
            scan.
    """

    name = "columnar"
    version = __version__
    errors: Literal["exact", "coarse", "none"] = "exact"
    window = 64

    def __init__(self) -> None:
        """Set both counters to zero; `warm` compiles the kernels."""
        warm()
        self._reference = Reference()
        self.answered = 0
        self.by_reference = 0

    @property
    def revisions(self) -> Mapping[str, Claim]:
        """Return the claims of the reference, without encoding."""
        return {
            format_id: evolve(
                claim_of_row(FORMATS[format_id]),
                ops=_ops(one),
                observes=(),  # the kernels compute no derived fields
            )
            for format_id, one in fast_decoders().items()
        }

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
