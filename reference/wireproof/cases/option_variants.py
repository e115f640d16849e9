"""The options of a case that is generated from bytes: keys, limits, the fetched offset.

The fixtures of a format show which options change an answer. The values are chosen by the bytes: a limit is
useful only near the size of a message, and an offset only inside the log.
"""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Final, Literal

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.mutation_rules import Keys
from wireproof.formats import Format
from wireproof.wire.options import DEFAULT_OPTIONS, Options, Profile
from wireproof.wire.trace import FieldSpan

UNCHANGED_ONE_IN: Final = 4
"""One variant in this many is used with the values of the fixture, unchanged."""


@frozen
class OptionVariant:
    """The options of a case, and the capabilities that an adapter needs for them."""

    options: Options = DEFAULT_OPTIONS
    needs: tuple[str, ...] = ()
    profile: Profile = "reader"


def option_variants(
    fmt: Format, suite: Suite, op: Literal["decode", "scan"] = "decode"
) -> tuple[OptionVariant, ...]:
    """Return the option variants that the fixtures of `fmt` use for `op`; the default options come first.

    A variant needs the capabilities that all fixtures with the same options need.
    """
    needs: dict[str, tuple[Options, Profile, set[str]]] = {}
    for case in suite.cases:
        if case.format_id == fmt.format_id and case.op == op:
            first = (case.options, case.profile, set(case.needs))
            *_, common = needs.setdefault(repr(first[:2]), first)
            common &= set(case.needs)
    found = [
        OptionVariant(options, tuple(sorted(common)), profile) for options, profile, common in needs.values()
    ]
    default = (DEFAULT_OPTIONS, "reader")
    return (OptionVariant(), *(variant for variant in found if (variant.options, variant.profile) != default))


def with_variant(case: Case, variant: OptionVariant) -> Case:
    """Return `case` with the options of `variant`."""
    return evolve(case, options=variant.options, needs=variant.needs, profile=variant.profile)


def signing_keys(variants: Iterable[OptionVariant]) -> Keys:
    """Return every signing key of the variants; if two keys have the same name, the first one."""
    keys: dict[str, bytes] = {}
    for variant in variants:
        for name, key in (variant.options.keys or {}).items():
            keys.setdefault(name, key)
    return keys


def fit_options(fmt: Format, options: Options, data: bytes, drawn: int) -> Options:
    """Return `options` with limits and offsets near those in `data`, where `options` has such values.

    One time in `UNCHANGED_ONE_IN`, and if nothing fits, return `options` unchanged. `drawn` seeds the choice.
    """
    wanted = [fit for applies, fit in OPTION_FITTERS if applies(options)]
    rng = Random(drawn)  # noqa: S311 - a function of the bytes
    if not wanted or not below(rng, UNCHANGED_ONE_IN):
        return options
    spans = formats.decode_with_trace(fmt, data).spans
    for fit in wanted:
        options = fit(options, spans, rng)
    return options


def _values(spans: Iterable[FieldSpan], *names: str) -> list[int]:
    """Return the values of the fields with one of these names."""
    return [int(span.value) for span in spans if span.path.rpartition(".")[2] in names]


def _fit_limit(options: Options, spans: Sequence[FieldSpan], rng: Random) -> Options:
    """Set the message limit to the size of a message, or one more or less."""
    sizes = [size for size in _values(spans, "message_length") if 1 < size < 1 << 31]
    return evolve(options, max_message=pick(rng, sizes) + pick(rng, (-1, 0, 0, 1))) if sizes else options


def _offsets(spans: Iterable[FieldSpan]) -> list[int]:
    return _values(spans, "baseOffset", "offset")


def _fit_fetch_offset(options: Options, spans: Sequence[FieldSpan], rng: Random) -> Options:
    """Set the fetched offset to the first offset of an entry, or one or two after it."""
    offsets = _offsets(spans)
    if not offsets:
        return options
    offset = pick(rng, offsets) + pick(rng, (0, 1, 1, 2))
    return evolve(options, fetch_offset=max(0, min(offset, (1 << 63) - 1)))


def _fit_aborted(options: Options, spans: Sequence[FieldSpan], rng: Random) -> Options:
    """Set the aborted transactions to producers and offsets that occur in the data."""
    offsets, producers = _offsets(spans), _values(spans, "producerId")
    if not offsets or not producers:
        return options
    pairs = (
        (pick(rng, producers), min(pick(rng, offsets) + pick(rng, (0, 0, 1)), (1 << 63) - 1))
        for _ in range(pick(rng, (1, 2, 2, 3)))
    )
    return evolve(options, aborted=tuple(pairs))


OptionFitter = Callable[[Options, Sequence[FieldSpan], Random], Options]
"""Fits options to the spans of some bytes."""

OPTION_FITTERS: Final[tuple[tuple[Callable[[Options], bool], OptionFitter], ...]] = (
    (lambda options: options.max_message is not None, _fit_limit),
    (lambda options: options.fetch_offset is not None, _fit_fetch_offset),
    (lambda options: options.isolation == "read_committed", _fit_aborted),
)
"""Which options are fitted, and how."""
