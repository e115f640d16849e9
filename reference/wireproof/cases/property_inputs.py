"""Inputs of property cases for one sample: its bytes whole, damaged, cut, joined, and in pieces. Pure.

The relations (a prefix, bytes after a frame, a stream twice, other pieces) are those of the derived
families; here they apply to generated values.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve, frozen

from wireproof.cases.case import Chunks, Data, Input, Op, Value
from wireproof.cases.mutate import mutate_with_edits
from wireproof.cases.mutate.edit_sites import edit_sites, replace_part
from wireproof.cases.mutate.mended import mended
from wireproof.cases.mutate.value_mutations import replacement_for
from wireproof.formats import Format
from wireproof.wire.json_values import to_json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Rejected

if TYPE_CHECKING:
    from wireproof.cases.strategies.seeded_samples import PropertySample

MAX_EDITED_BYTES: Final = 1 << 14
"""Maximum bytes of an edited example."""

BYTE_BY_BYTE: Final = 256
"""Bytes up to which an input is scanned one byte at a time."""

EDITED_VALUES: Final = 3
"""Edited values for each whole value."""


@frozen
class PropertyInput:
    """One input: its kind in words, the input, and its options."""

    kind: str
    input: Input
    options: Options


def inputs_for(row: Format, op: Op, sample: "PropertySample") -> Iterator[PropertyInput]:
    """Yield the inputs of one op for a sample; fewer than ten."""
    rng = Random(sample.seed)  # noqa: S311 - examples, not secrets
    return _ASK[op](row, sample, rng)


def _decodes(row: Format, sample: "PropertySample", rng: Random) -> Iterator[PropertyInput]:
    options = evolve(sample.options, resync=DEFAULT_OPTIONS.resync)
    produced = evolve(options, profile=DEFAULT_OPTIONS.profile)
    data = sample.data
    yield PropertyInput("whole", Data(data), options)
    yield PropertyInput("damaged", Data(sample.damaged), produced)
    yield PropertyInput("edited", Data(mutate_with_edits(row, data, rng, MAX_EDITED_BYTES).data), options)
    yield PropertyInput("flipped", Data(_flipped(data, rng)), produced)
    yield PropertyInput("cut", Data(data[: rng.randrange(len(data) + 1)]), produced)
    yield PropertyInput(
        "edited", Data(mutate_with_edits(row, data, rng, MAX_EDITED_BYTES, aware=80).data), produced
    )
    yield PropertyInput(
        "joined", Data(data + rng.choice((data, sample.damaged, b"\0", b"\xff" * 7))), produced
    )


def _encodes(_row: Format, sample: "PropertySample", rng: Random) -> Iterator[PropertyInput]:
    """Yield the value, and values with edited parts, of which some cannot be encoded."""
    options = evolve(sample.options, profile=DEFAULT_OPTIONS.profile, resync=DEFAULT_OPTIONS.resync)
    yield PropertyInput("whole", Value(to_json(sample.value)), options)
    for _ in range(EDITED_VALUES):
        value = sample.value
        for _ in range(rng.choice((1, 1, 2))):
            value = edit_value(value, rng)
        yield PropertyInput("edited", Value(to_json(value)), options)


def edit_value(value: Any, rng: Random) -> Any:  # noqa: ANN401 - a value class
    """Return the value with one part changed; half of the time the fields that depend on it follow."""
    found = tuple(site for site in edit_sites(value) if site.steps)
    if not found:
        return value
    site = found[rng.randrange(len(found))]
    try:
        new = replace_part(value, site.steps, replacement_for(site, rng, found))
        return mended(new) if rng.randrange(2) else new
    except Rejected:  # the class allows no such value
        return value


def _scans(row: Format, sample: "PropertySample", rng: Random) -> Iterator[PropertyInput]:
    options, data = sample.options, sample.data
    junk = rng.choice(
        (b"\0", b"\x1e", b"\x1e\x02\x08\x05\x1f", b"\xff" * 9, sample.damaged[: len(data) // 2])
    )
    edited = mutate_with_edits(row, data, rng, MAX_EDITED_BYTES).data
    yield PropertyInput("whole", Chunks((data,)), options)
    yield PropertyInput("pieces", Chunks(_pieces(data, rng)), options)
    yield PropertyInput("garbage", Chunks(_pieces(data + junk + data, rng)), options)
    yield PropertyInput("damaged", Chunks(_pieces(sample.damaged + data, rng)), options)
    yield PropertyInput("edited", Chunks(_pieces(edited, rng)), options)
    yield PropertyInput("garbage", Chunks((junk + data + junk,)), options)
    if len(data) <= BYTE_BY_BYTE:
        yield PropertyInput("bytes", Chunks(tuple(data[at : at + 1] for at in range(len(data)))), options)


def _flipped(data: bytes, rng: Random) -> bytes:
    """Flip one bit, without any fix-up."""
    if not data:
        return b"\xff"
    flipped = bytearray(data)
    flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _pieces(data: bytes, rng: Random) -> tuple[bytes, ...]:
    """Split the bytes into two to four pieces, some of them empty."""
    edges = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(1, 4)))
    return tuple(data[start:end] for start, end in zip((0, *edges), (*edges, len(data)), strict=True))


_ASK: Final[dict[Op, Callable[[Format, "PropertySample", Random], Iterator[PropertyInput]]]] = {
    "decode": _decodes,
    "encode": _encodes,
    "scan": _scans,
}
"""The function that makes the inputs of an op."""
