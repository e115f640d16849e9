"""Hypothesis strategies: for the values and options of all formats, and for bytes that are nearly valid.

A strategy follows from the value class and the layout of a format: integers have the width of their field,
often a limit of it, constants and codes are those of the layout; what the encoder refuses is not drawn. A
family may refine the strategies of some types and fields, or have one of its own for a format; and it has
strategies for options by the name of the format.

Nearly valid bytes are encoded values with one or two edits: the field-aware mutations of `cases.mutate`, as
the fuzzer uses them. Afterwards all, some or none of the lengths and checksums are fixed up, and the changed
regions are compressed again. A few are cut, and a few have further bytes behind them. Hypothesis draws every
number that a mutation needs, so that it can shrink the result.

A sample is drawn from its own block of bytes of a seeded generator (`fuzz_one_input`). So sample n of a seed
does not depend on the samples before it or on their number. It also does not depend on the imported modules,
from which Hypothesis's own search would take constants. Hypothesis is an optional dependency.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from random import Random
from typing import Any, Final, Self, TypeAlias, TypeVar, get_type_hints

from attrs import frozen

try:
    from hypothesis import HealthCheck, Phase, given, reject, settings
    from hypothesis import strategies as st
    from hypothesis.strategies import DrawFn, SearchStrategy
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    from wireproof.install_hint import install_command

    raise ImportError(f"strategies need Hypothesis: {install_command('property')}") from None

from wireproof import formats
from wireproof.cases.mutate.compression_variants import compressed_regions, edit_stream
from wireproof.cases.mutate.decode_trace import DecodeTrace, trace_of
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.encodings import completed, normalisers, written
from wireproof.cases.mutate.field_mutations import (
    edit_field,
    reencode_protobuf_fields,
    replace_code,
    replace_count,
)
from wireproof.cases.mutate.splice import Splice, apply_splices, random_splice
from wireproof.cases.mutate.value_mutations import mutate_json
from wireproof.cases.mutate.values_of_type import (
    IntegerField,
    alternatives_of,
    codes,
    computed_fields,
    constructor_fields,
    integer_field,
    part_type,
    smallest,
)
from wireproof.family import object_at
from wireproof.formats import FAMILIES, Format, family_of
from wireproof.wire.layout import (
    Flag,
    Number,
    Octets,
    Part,
    ProtoField,
    all_layouts,
    attribute_of,
    present,
)
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Rejected

T = TypeVar("T")

MAX_BYTES: Final = 40
"""The largest size of a byte field of a strategy by type."""

MAX_ELEMENTS: Final = 3
"""The largest number of elements of a list of a strategy by type."""

REPAIRS: Final = ((True, True), (True, True), (True, True), (False, True), (False, False))
"""The repairs to draw from, as (lengths, checksums). `apply_splices` repairs lengths only with checksums."""

BLOCK_SIZE: Final = 4096
"""The size of the first block of bytes for a sample; a large sample needs more."""

SETTINGS: Final = settings(
    phases=[Phase.generate], database=None, deadline=None, suppress_health_check=list(HealthCheck)
)

_BYTES: Final = st.integers(0, 255)
"""One draw. In larger ranges Hypothesis prefers small values, which would favour the first choices."""

# --- values and options ---


@cache
def own_strategies() -> Mapping[str, Callable[[], SearchStrategy[Any]]]:
    """Return the strategies for the values of formats that do not follow from types, by the format id."""
    tables = [object_at(family.strategies) for family in FAMILIES.values() if family.strategies]
    return {key: row for table in tables for key, row in table.items() if isinstance(key, str)}


def values(format: str, revision: str) -> SearchStrategy[Any]:  # noqa: A002 - the public name of a format
    """Return a strategy for the values of a format, as instances of its value class.

    All values can be encoded. A decode of the bytes may return other computed fields than the drawn value
    has. `wire.values.to_json` returns the JSON form of a value.

    Raises:
        UnknownFormat: there is no such format, and the message has similar names.
    """
    fmt = formats.get(format, revision)
    strategy = own_strategies().get(fmt.format_id)
    return values_by_type(fmt) if strategy is None else strategy()


def nearly_valid(format: str, revision: str) -> SearchStrategy[bytes]:  # noqa: A002 - as above
    """Return a strategy for encoded values with one or two edits of fields, list elements or streams.

    The lengths and checksums may be fixed up afterwards. Some of the results are still valid, for example if
    no rule constrains the changed field.

    Raises:
        UnknownFormat: there is no such format; the message has similar names.
    """
    return nearly_valid_encodings(formats.get(format, revision), values(format, revision))


# --- values by their types ---

FieldName: TypeAlias = tuple[type, str]
"""A value class and the name of one of its fields."""

NO_FIELD: Final[FieldName] = (object, "")

Refinement: TypeAlias = Callable[[Format, SearchStrategy[Any]], SearchStrategy[Any]]
"""Returns the strategy to use in place of the one that follows from a type."""

TRAPS: Final = (b"", b"\0", b"k", b"\xff", "\u00e9".encode(), b'"\\/\n')
"""Bytes that readers take for others: none, no text, text that is not ASCII, what JSON escapes."""

FILLS: Final = (b"\0", b"a", b"\xff", "\u00e9".encode())
"""What long bytes are made of."""

SIZES: Final = (63, 64, 65, 127, 128, 255, 300)
"""The sizes of long bytes, around those whose length takes one more byte."""

DOUBLE_BITS: Final = 53
"""The most bits of an integer that a reader with doubles for numbers keeps."""

NANS: Final = (bytes.fromhex("7ff8000000000001"), bytes.fromhex("fff0000000000000"))


@cache  # a strategy is checked when it is first used, which takes longer than an example
def values_by_type(fmt: Format) -> SearchStrategy[Any]:
    """Return a strategy for the values of a format that its encoder accepts, by the types of their parts.

    The fields that the encoder computes are those that a decode returns.
    """

    def complete(value: Any) -> Any:  # noqa: ANN401 - a value of the format, or None
        try:
            return completed(value, formats.decode(fmt, written(fmt, value)).value)
        except Rejected:
            return None

    # Hypothesis prints what it draws again: a function that is made here has a short name
    return by_type(fmt, fmt.value).map(complete).filter(_is_encoded)


def _is_encoded(value: object) -> bool:
    return value is not None


@cache
def _refinements(fmt: Format) -> Mapping[Any, Refinement]:
    """Return the refinements of the family of a format."""
    place = family_of(fmt).strategies
    return {key: row for key, row in object_at(place).items() if not isinstance(key, str)} if place else {}


def _refined(fmt: Format, key: Any, drawn: SearchStrategy[Any]) -> SearchStrategy[Any]:  # noqa: ANN401 - a type or a field
    refine = _refinements(fmt).get(key)
    return drawn if refine is None else refine(fmt, drawn)


def by_type(fmt: Format, hint: Any, name: FieldName = NO_FIELD) -> SearchStrategy[Any]:  # noqa: ANN401 - a type
    """Return a strategy for a type, in the field that has the name."""
    alternatives, kind = alternatives_of(hint), part_type(hint)
    if alternatives != (hint,):
        none = [st.none()] if kind.null else []
        # of bytes and a class, an option selects the bytes
        some = [one for one in alternatives if one is not bytes or kind.holds != "value"]
        return _refined(fmt, hint, st.one_of(*(by_type(fmt, one, name) for one in some), *none))
    drawn: SearchStrategy[Any] = st.booleans()
    match kind.holds:
        case "word":
            drawn = st.sampled_from(kind.of)
        case "list":
            drawn = st.lists(by_type(fmt, kind.of[0], name), max_size=MAX_ELEMENTS).map(tuple)
        case "pair":
            drawn = st.tuples(*(by_type(fmt, one, name) for one in kind.of))
        case "value":  # deferred, because a message may have messages in it
            drawn = st.deferred(lambda: _instances(fmt, hint))
        case "bytes":
            drawn = _octets(fmt, name)
        case "int":
            drawn = _integers(fmt, name)
    return _refined(fmt, hint, drawn)


@cache
def _instances(fmt: Format, cls: type) -> SearchStrategy[Any]:
    """Return a strategy for the instances of a value class, with its computed fields at their least."""
    hints, computed = get_type_hints(cls), computed_fields().get(cls, ())
    parts = {
        name: _refined(
            fmt,
            (cls, name),
            st.just(smallest(hints[name], name))
            if name in computed
            else by_type(fmt, hints[name], (cls, name)),
        )
        for name in constructor_fields(cls)
    }
    return st.builds(partial(_instance, cls), **parts)


def _instance(cls: type, **parts: Any) -> Any:  # noqa: ANN401 - an instance of it, and its parts
    """Return an instance that the encoder accepts."""
    normalise = normalisers().get(cls)
    try:
        value = cls(**parts)
        return value if normalise is None else normalise(value)
    except Rejected:  # the validator of the class refuses the value
        return reject()


def _octets(fmt: Format, name: FieldName) -> SearchStrategy[bytes]:
    """Return a strategy for bytes: those of a fixed size, a double, or any."""
    match _parts(fmt).get(name):
        case Octets(size=size) | ProtoField(size=size) if size:
            return st.binary(min_size=size, max_size=size)
        case ProtoField(of="double"):
            doubles = st.floats(width=64).map(lambda number: struct.pack(">d", number))
            return st.one_of(doubles, st.sampled_from(NANS))
    long = st.builds(lambda fill, size: (fill * size)[:size], st.sampled_from(FILLS), st.sampled_from(SIZES))
    return st.one_of(st.sampled_from(TRAPS), st.binary(max_size=MAX_BYTES), long)


def _integers(fmt: Format, name: FieldName) -> SearchStrategy[int]:
    """Return a strategy for the numbers of a field: its constant, its codes, its flags, or its width."""
    coded = [st.sampled_from(codes()[name])] if name in codes() else []
    match _parts(fmt).get(name):
        case Number(const=int(const)):
            return st.just(const)
        case Number(codes=Mapping() as known) | Number(known=frozenset() as known):
            return st.one_of(st.sampled_from(sorted(known)), *coded)
        case Number(flags=flags) if flags:
            return _flags(flags)
    field = integer_field(*name) or IntegerField(31, signed=False)
    low, high = field.limits

    def some_of(numbers: Iterable[int]) -> SearchStrategy[int]:
        return st.sampled_from([number for number in numbers if low <= number <= high])

    drawn = [
        some_of((0, 1, -1, low, high, high >> 1, (high >> 1) + 1, (1 << DOUBLE_BITS) + 1)),
        st.integers(low, high),
    ]
    if field.signed:  # with zigzag or without, a varint takes one more byte at these
        steps = [step for bits in (6, *range(7, field.bits, 7)) for step in ((1 << bits) - 1, 1 << bits)]
        drawn.append(some_of((*steps, *(~step for step in steps))))
    return st.one_of(*drawn, *coded)


def _flags(flags: Sequence[Flag]) -> SearchStrategy[int]:
    """Return a strategy for a sum of flags, each with one of its codes, or all its bits or none."""
    choices = []
    for flag in flags:
        low = flag.mask & -flag.mask
        choices.append(st.sampled_from([low * code for code in flag.codes] if flag.codes else (0, flag.mask)))
    return st.tuples(*choices).map(sum)


@cache
def _parts(fmt: Format) -> Mapping[FieldName, Part]:
    """Return the parts of the layouts of a format by the fields of their values."""
    layouts = all_layouts(fmt.layout) if fmt.layout is not None else ()
    return {
        (layout.value, attribute_of(part.name)): part
        for layout in layouts
        if layout.value is not None
        for part in map(present, layout.parts)
    }


# --- nearly valid bytes ---


class DrawnRandom(Random):
    """A random generator whose numbers Hypothesis draws and shrinks towards 0, the first choice.

    `st.randoms()` draws floats, which are not distributed evenly.
    """

    def __new__(cls, _draw: DrawFn) -> Self:
        """Create a generator without a seed."""
        return super().__new__(cls)

    def __init__(self, draw: DrawFn) -> None:
        """Draw with `draw`."""
        super().__init__(0)
        self._draw = draw

    def random(self) -> float:
        """Draw a number from 0 to below 1, with 16 bits."""
        return (self._draw(_BYTES) << 8 | self._draw(_BYTES)) / (1 << 16)

    def getrandbits(self, k: int, /) -> int:
        """Draw an integer of `k` bits."""
        return self._draw(st.integers(0, (1 << k) - 1))

    def randbytes(self, n: int) -> bytes:
        """Draw `n` bytes."""
        return self._draw(st.binary(min_size=n, max_size=n))


@st.composite
def nearly_valid_encodings(draw: DrawFn, fmt: Format, values: SearchStrategy[Any]) -> bytes:
    """Draw one of `values`, encode it and apply one or two edits."""
    trace = trace_of(fmt, written(fmt, draw(values)))
    rng = DrawnRandom(draw)
    if fmt.is_json and below(rng, 2):
        return mutate_json(rng, trace.data) or trace.data
    splices = [splice for _ in range(pick(rng, (1, 1, 1, 2))) for splice in _edit(trace, rng)]
    splices = splices or [random_splice(rng, trace.data)]
    lengths, sums = pick(rng, REPAIRS)
    data = apply_splices(trace, splices, lengths=lengths, sums=sums)
    match below(rng, 12):
        case 11:
            return data[: below(rng, len(data) + 1)]
        case 10:
            return data + rng.randbytes(pick(rng, (1, 2, 4)))
        case _:
            return data


def _edit(trace: DecodeTrace, rng: Random) -> list[Splice]:
    """Draw one edit: mostly of a field or an element; Hypothesis shrinks it to an edit of one byte."""
    kind = below(rng, 14)
    if kind == 0:
        return [random_splice(rng, trace.data)]
    if kind == 1:
        return replace_code(trace, rng)
    if kind > 11 and compressed_regions(trace):
        return edit_stream(trace, rng)
    if kind > 9:
        return replace_count(trace, rng)
    if kind > 6 and trace.fields:
        return reencode_protobuf_fields(trace, rng)
    return edit_field(trace, rng)


# --- examples by name ---


@frozen
class Sample:
    """What Hypothesis draws for one name: a value, its encoding, a damaged one, and options.

    Attributes:
        value: an instance of the value class of the format.
        data: its encoding under `options`.
        damaged: an encoding of the value after one or two edits.
        options: the codec options of the request.
        seed: for cuts, splits into chunks and edits, which do not use Hypothesis.
    """

    value: Any
    data: bytes
    damaged: bytes
    options: Options
    seed: int


@st.composite
def samples(draw: DrawFn, fmt: Format) -> Sample:
    """Draw a sample of a format."""
    value = draw(values(fmt.name, fmt.revision))
    damaged = draw(nearly_valid_encodings(fmt, st.just(value)))
    # A strategy for options that fit a value; the default options if the family has none for it.
    place = family_of(fmt).option_strategies
    strategy = object_at(place).get(fmt.name) if place else None
    options = draw(strategy(value) if strategy is not None else st.just(DEFAULT_OPTIONS))
    seed = draw(st.integers(0, (1 << 32) - 1))
    try:
        data = written(fmt, value, options)
    except Rejected:  # a limit, or a signer without a key
        data = written(fmt, value)
    return Sample(value, data, damaged, options, seed)


def seeded_drawer(strategy: SearchStrategy[T]) -> Callable[[str], list[T]]:
    """Return a function that draws an example of a strategy for a name.

    The same name always gives the same example. The function returns a list of it, or an empty list if it is
    too large.
    """
    examples: list[T] = []

    @SETTINGS
    @given(strategy)
    def collect(sample: T) -> None:
        examples.append(sample)

    def draw(name: str) -> list[T]:
        examples.clear()
        size = BLOCK_SIZE
        while not examples and size <= BLOCK_SIZE << 4:
            source = Random(f"{name} {size}")  # noqa: S311 - examples, not secrets
            handle: Any = collect  # Hypothesis adds the attribute `hypothesis`, which the type does not have
            handle.hypothesis.fuzz_one_input(source.randbytes(size))
            size <<= 2
        return list(examples)

    return draw
