"""Hypothesis strategies for the values of all formats, for their encodings, and for the examples of runs.

A strategy follows from the value class and the layout of a format: integers have the width of their field,
often a limit of it, constants and codes are those of the layout; lists and bytes now and then have a size at
which a length takes one more byte; what the encoder refuses is not drawn. A family may refine the strategies
of some types and fields, for example to make counts and deltas agree; and it has strategies for options by
the name of the format.

A sample is drawn from its own block of bytes of a seeded generator (`fuzz_one_input`), so that it depends
neither on other samples nor on the imported modules, from which Hypothesis's own search takes constants.
Hypothesis is an optional dependency.
"""

import struct
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from itertools import cycle, islice
from random import Random
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_type_hints

from attrs import NOTHING, evolve, fields, frozen, has

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
from wireproof.derive.mutate.draws import EDGE_SIZES, edge_numbers
from wireproof.derive.mutate.encodings import completed, written
from wireproof.derive.mutate.mutation_rules import common_rules
from wireproof.derive.mutate.values_of_type import (
    IntegerField,
    alternatives_of,
    computed_fields,
    constructor_fields,
    integer_field,
    part_type,
    parts_of_classes,
    smallest,
)
from wireproof.derive.nearly_valid import NearlyValid, nearly_valid_encodings
from wireproof.family import object_at
from wireproof.formats import Format, family_of
from wireproof.schema.layout import (
    Flag,
    Length,
    Number,
    Octets,
    Part,
    ProtoField,
    attribute_of,
    bits_of,
    is_signed,
    named_bits,
)
from wireproof.wire.options import DEFAULT_OPTIONS, Options, Profile
from wireproof.wire.rejection import Rejected

T = TypeVar("T")

MAX_BYTES: Final = 40
"""The largest size of bytes that Hypothesis draws; longer ones have an edge size and one content."""

MAX_ELEMENTS: Final = 3
"""The largest number of elements that are drawn one by one; longer lists have an edge size."""

MOST_RECORDS: Final = 129
"""The largest number of elements of a list, if the caller wants no other."""

BYTE_SIZES: Final = (*EDGE_SIZES[3:], 255, 256, 300)
"""The sizes of long bytes."""

TRAPS: Final = (b"", b"\0", b"k", b"\xff", "\u00e9".encode(), b'"\\/\n')
"""Bytes that readers take for others: none, no text, text that is not ASCII, what JSON escapes."""

SETTINGS: Final = settings(
    phases=[Phase.generate], database=None, deadline=None, suppress_health_check=list(HealthCheck)
)


@frozen
class Wanted:
    """Which values of a format are drawn.

    Attributes:
        fmt: the format.
        codecs: names of compression methods, `none` among them; None for all that the format has.
        profile: `produce` for values that a broker accepts from a producer.
        max_records: the most elements of a list.
        edges: whether some lists and bytes have a size of `EDGE_SIZES`; inside of such a list none has.
        inner: whether the value is part of another one of its class, which goes no deeper.
    """

    fmt: Format
    codecs: tuple[str, ...] | None = None
    profile: Profile = DEFAULT_OPTIONS.profile
    max_records: int = MOST_RECORDS
    edges: bool = True
    inner: bool = False

    def numbers_of(self, flag: Flag) -> list[int]:
        """Return the numbers of a flag that are drawn, in place: its codes, or 0 and all its bits."""
        low = flag.mask & -flag.mask
        if not flag.codes:
            return [0, 0, 0, flag.mask]
        if flag.name != "codec" or self.codecs is None:
            return [low * code for code in flag.codes]
        # A part of a log may be of a revision that has none of the methods: it is not compressed.
        return [low * code for code, name in flag.codes.items() if name in self.codecs] or [0]


def codecs_of(fmt: Format) -> tuple[str, ...]:
    """Return the names of the compression methods that values of a format have; `none` if there are none."""
    parts = _parts(fmt).values()
    numbers = (part for part in parts if isinstance(part, Number))
    flags = (flag for part in numbers for flag in part.flags if flag.name == "codec")
    return tuple(dict.fromkeys(name for flag in flags for name in (flag.codes or {}).values())) or ("none",)


FieldName: TypeAlias = tuple[type, str]
"""A value class and the name of one of its fields."""

NO_FIELD: Final[FieldName] = (object, "")

Refinement: TypeAlias = Callable[[Wanted, SearchStrategy[Any]], SearchStrategy[Any]]
"""Returns the strategy to use in place of the one that follows from a type."""


@cache  # a strategy is checked when it is first used, which takes longer than an example
def values_of(ask: Wanted) -> SearchStrategy[Any]:
    """Return a strategy for the values of a format that its encoder accepts, by the types of their parts.

    The fields that the encoder computes are those that a decode returns.
    """
    drawn, options = by_type(ask, ask.fmt.value), Options(profile=ask.profile)

    @st.composite  # without arguments: Hypothesis prints a strategy, and these are large
    def valid(draw: DrawFn) -> Any:  # noqa: ANN401 - a value of the format
        for _ in range(3):
            value = draw(drawn)
            with suppress(Rejected):
                data = written(ask.fmt, value)
                if ask.profile != DEFAULT_OPTIONS.profile:
                    formats.decode(ask.fmt, data, options)
                return completed(value, formats.decode(ask.fmt, data).value)
        return reject()

    return valid()


def _refined(ask: Wanted, key: Any, drawn: SearchStrategy[Any]) -> SearchStrategy[Any]:  # noqa: ANN401 - a type or a field
    """Return a strategy as the family of the format refines it."""
    place = family_of(ask.fmt).strategies
    refinements: Mapping[Any, Refinement] = object_at(place) if place else {}
    refine = refinements.get(key)
    return drawn if refine is None else refine(ask, drawn)


def by_type(ask: Wanted, hint: Any, name: FieldName = NO_FIELD) -> SearchStrategy[Any]:  # noqa: ANN401 - a type
    """Return a strategy for a type, in the field that has the name."""
    drawn: SearchStrategy[Any]
    alternatives, kind = alternatives_of(hint), part_type(hint)
    if alternatives != (hint,):
        none = [st.none()] if kind.null else []
        # of bytes and a class, an option selects the bytes
        some = [one for one in alternatives if one is not bytes or kind.holds != "value"]
        # Hypothesis would draw each branch of a class alike, and so a class of more branches more often.
        drawn = st.sampled_from(some).flatmap(lambda one: by_type(ask, one, name))
        if len(some) == 1:
            drawn = by_type(ask, some[0], name)
        return _refined(ask, hint, st.one_of(*none, drawn))
    drawn = st.booleans()
    match kind.holds:
        case "word":
            drawn = st.sampled_from(kind.of)
        case "list":
            drawn = lists_of(ask, lambda asked: by_type(asked, kind.of[0], name))
        case "pair":
            drawn = st.tuples(*(by_type(ask, one, name) for one in kind.of))
        case "value":  # deferred, because a message may have messages in it
            drawn = st.deferred(lambda: _instances(ask, hint))
        case "bytes":
            drawn = _octets(ask, name)
        case "int":
            drawn = _integers(ask, name)
    return _refined(ask, hint, drawn)


def lists_of(
    ask: Wanted, element: Callable[[Wanted], SearchStrategy[Any]], least: int = 0
) -> SearchStrategy[tuple[Any, ...]]:
    """Return a strategy for lists of at least `least` elements: mostly short, now and then of an edge size.

    A long list repeats a few small elements, so that it is drawn and written soon, and shrinks to one.
    """
    most = max(ask.max_records, least)
    short = st.lists(element(ask), min_size=least, max_size=min(MAX_ELEMENTS, most)).map(tuple)
    sizes = [size for size in EDGE_SIZES if MAX_ELEMENTS < size <= most]
    if not ask.edges or not sizes:
        return short
    pattern = st.lists(element(evolve(ask, edges=False)), min_size=1, max_size=2)
    long = st.builds(lambda some, size: tuple(islice(cycle(some), size)), pattern, st.sampled_from(sizes))
    return seldom(short, long, 12)


@st.composite
def seldom(draw: DrawFn, often: SearchStrategy[T], other: SearchStrategy[T], one_in: int) -> T:
    """Draw from `other` once in `one_in` times; it shrinks to `often`."""
    return draw(other if draw(st.integers(0, one_in - 1)) == one_in - 1 else often)


@cache
def _instances(ask: Wanted, cls: type) -> SearchStrategy[Any]:
    """Return a strategy for the instances of a value class, with its computed fields at their least."""
    hints, computed = get_type_hints(cls), computed_fields().get(cls, ())
    defaults = {one.name: one.default for one in fields(cls) if one.default is not NOTHING}
    parts = {
        name: _refined(
            ask,
            (cls, name),
            st.just(defaults[name] if name in defaults else smallest(hints[name], name))
            if name in computed or name in defaults
            else by_type(ask, hints[name], (cls, name)),
        )
        for name in constructor_fields(cls)
    }
    return st.builds(partial(_instance, cls), **parts)


def _instance(cls: type, **parts: Any) -> Any:  # noqa: ANN401 - an instance of it, and its parts
    """Return an instance that the encoder accepts."""
    normalise = common_rules().normalise.get(cls)
    try:
        value = cls(**parts)
        return value if normalise is None else normalise(value)
    except Rejected:  # the validator of the class refuses the value
        return reject()


def _octets(ask: Wanted, name: FieldName) -> SearchStrategy[bytes]:
    """Return a strategy for bytes: those of a fixed size, a double, or any."""
    match _parts(ask.fmt).get(name):
        case Octets(size=size) | ProtoField(size=size) if size:
            return st.binary(min_size=size, max_size=size)
        case ProtoField(of="double"):
            doubles = st.floats(width=64).map(lambda number: struct.pack(">d", number))
            nans = bytes.fromhex("7ff8000000000001"), bytes.fromhex("fff0000000000000")
            return st.one_of(doubles, st.sampled_from(nans))
    if not ask.edges:
        return st.one_of(st.sampled_from(TRAPS), st.binary(max_size=4))
    room = _room(ask.fmt).get(name, EDGE_SIZES[-1])
    sizes = sorted({*(size for size in (*BYTE_SIZES, room - 1) if size <= room), min(room, EDGE_SIZES[-1])})
    fills = st.sampled_from((b"\0", b"a", b"\xff", "\u00e9".encode()))
    long = st.builds(lambda fill, size: (fill * size)[:size], fills, st.sampled_from(sizes))
    return st.one_of(st.sampled_from(TRAPS), st.binary(max_size=min(MAX_BYTES, room)), long)


@cache
def _room(fmt: Format) -> Mapping[FieldName, int]:
    """Return the most bytes that the length of a field allows, where it is of one byte."""
    return {
        (cls, attribute_of(part.of)): (1 << bits_of(part.kind) - is_signed(part.kind)) - 1
        for cls, part in parts_of_classes(fmt.layout)
        if isinstance(part, Length) and bits_of(part.kind) == 8
    }


def _integers(ask: Wanted, name: FieldName) -> SearchStrategy[int]:
    """Return a strategy for the numbers of a field: its constant, its codes, its flags, or its width.

    Flags are a sum, each with one of its codes or with all its bits, so that all pairs of them come up; one
    in eight has a bit without a name too.
    """
    codes = common_rules().codes
    coded = [st.sampled_from(codes[name])] if name in codes else []
    match _parts(ask.fmt).get(name):
        case Number(const=int(const)):
            return st.just(const)
        case Number(codes=Mapping() as known) | Number(known=frozenset() as known):
            return st.one_of(st.sampled_from(sorted(known)), *coded)
        case Number(kind=kind, flags=flags) if flags:
            width = IntegerField(bits_of(kind), is_signed(kind))
            unused = [1 << bit for bit in range(width.bits) if not named_bits(flags) >> bit & 1]
            named = st.tuples(*(st.sampled_from(ask.numbers_of(flag)) for flag in flags)).map(sum)
            if not unused:
                return named.map(width.wrapped)
            rest = seldom(st.just(0), st.sampled_from([*unused, sum(unused)]), 8)
            return st.tuples(named, rest).map(sum).map(width.wrapped)
    field = integer_field(*name) or IntegerField(31, signed=False)
    return st.one_of(*coded, st.sampled_from(edge_numbers(*field.limits)), st.integers(*field.limits))


@cache
def _parts(fmt: Format) -> Mapping[FieldName, Part]:
    """Return the parts of the layouts of a format by the fields of their values."""
    return {(cls, attribute_of(part.name)): part for cls, part in parts_of_classes(fmt.layout)}


@frozen
class Encoded:
    """A value and its encoding.

    Attributes:
        data: the bytes.
        value: an instance of the value class of the format, as a decode of the bytes returns it.
    """

    data: bytes
    value: Any


def values(
    format: str,  # noqa: A002 - the public name of a format
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = DEFAULT_OPTIONS.profile,
    max_records: int = MOST_RECORDS,
) -> SearchStrategy[Any]:
    """Return a strategy for the values of a format, as instances of its value class.

    All values can be encoded. A decode of the bytes may return other computed fields than the drawn value
    has. `wire.json_values.to_json` returns the JSON form of a value, with the fields that readers may
    compare; those that readers derive are added by `with_derived=True`.

    Args:
        format: the name of a format, such as `kafka.batch`.
        revision: of the format, such as `v2`.
        codecs: the compression methods to draw from, such as `("none", "zstd")`; all without it.
        profile: `produce` for what a broker accepts from a producer, else all that a reader may see.
        max_records: the most elements of each list. Lists of up to 129 elements are drawn without it; with
            8192, now and then one of that size.

    Raises:
        UnknownFormat: there is no such format, and the message has similar names.
        ValueError: the format has no such codec, there is no such profile, or `max_records` is below 0.
    """
    fmt = formats.get(format, revision)
    if profile not in get_args(Profile):
        raise ValueError(f"profile {profile!r}: there are {' and '.join(get_args(Profile))}")
    if max_records < 0:
        raise ValueError(f"max_records {max_records}: a list has at least 0 elements")
    if codecs is None:
        return values_of(Wanted(fmt, None, profile, max_records))
    names = (codecs,) if isinstance(codecs, str) else tuple(codecs)
    known = codecs_of(fmt)
    for name in names:
        if name not in known:
            raise ValueError(f"codec {name!r}: {fmt.format_id} has {', '.join(known)}")
    if not names:
        raise ValueError(f"no codecs: {fmt.format_id} has {', '.join(known)}")
    return values_of(Wanted(fmt, names, profile, max_records))


def encoded(format: str, revision: str, **limits: Any) -> SearchStrategy[Encoded]:  # noqa: A002, ANN401 - the stub has types
    """Return a strategy for values together with their encoding; the arguments are those of `values`."""
    fmt, drawn = formats.get(format, revision), values(format, revision, **limits)
    return drawn.map(lambda value: Encoded(written(fmt, value), value))


def nearly_valid(format: str, revision: str, **limits: Any) -> SearchStrategy[NearlyValid]:  # noqa: A002, ANN401 - as above
    """Return a strategy for encoded values with one or two edits of fields, list elements or streams.

    Lengths and checksums are mostly fixed up afterwards. The arguments are those of `values`, before the
    edits.
    """
    return nearly_valid_encodings(formats.get(format, revision), values(format, revision, **limits))


def value_classes(format: str, revision: str) -> dict[str, type]:  # noqa: A002 - as above
    """Return the classes of the values of a format by name.

    What a test prints of a value can be written into `@example` where these names are known.
    """
    found: dict[str, type] = {}
    pending: list[Any] = [formats.get(format, revision).value]
    while pending:
        hint = pending.pop()
        if not (isinstance(hint, type) and has(hint)):
            pending += get_args(hint)
        elif hint.__name__ not in found:
            found[hint.__name__] = hint
            pending += get_type_hints(hint).values()
    return found


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


def samples(fmt: Format) -> SearchStrategy[Sample]:
    """Return a strategy for the samples of a format."""
    place = family_of(fmt).option_strategies
    options_of = object_at(place).get(fmt.name) if place else None

    @st.composite  # without arguments, as above
    def drawn(draw: DrawFn) -> Sample:
        value = draw(values_of(Wanted(fmt)))
        damaged = draw(nearly_valid_encodings(fmt, st.just(value))).data
        options = draw(options_of(value)) if options_of is not None else DEFAULT_OPTIONS
        seed = draw(st.integers(0, (1 << 32) - 1))
        try:
            data = written(fmt, value, options)
        except Rejected:  # a limit, or a signer without a key
            data = written(fmt, value)
        return Sample(value, data, damaged, options, seed)

    return drawn()


def seeded_drawer(strategy: SearchStrategy[T]) -> Callable[[str], list[T]]:
    """Return a function that draws an example of a strategy for a name.

    The same name always gives the same example. The list is empty if the example is too large.
    """
    examples: list[T] = []

    @SETTINGS
    @given(strategy)
    def collect(sample: T) -> None:
        examples.append(sample)

    def draw(name: str) -> list[T]:
        examples.clear()
        handle: Any = collect  # Hypothesis adds the attribute `hypothesis`, which the type does not have
        for size in (4096, 16384, 65536):  # a large sample needs more bytes
            if not examples:
                source = Random(f"{name} {size}")  # noqa: S311 - examples, not secrets
                handle.hypothesis.fuzz_one_input(source.randbytes(size))
        return list(examples)

    return draw
