"""Examples by seed and number: an id names the same case in every process, in whatever order they are made.

Three kinds of run number their cases:

- the property suite: `<format>/<revision>/property/<op>~s<seed>:<n>`. All examples of a format, an op and a
  seed differ, so they are made in sequence, once for all adapters;
- a campaign: `<format>/<revision>/campaign/s<seed>n<n>`. Its tasks do not know one another, so a case does
  not depend on the cases before it, and two cases may be equal. Its bytes are a chain of mutations of a
  fixture, of the smallest or a large encoding, or of what a strategy draws;
- an exchange: `<format>/<revision>/interop/write~s<seed>:<n>`, a value to encode.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import count, islice
from random import Random
from types import ModuleType
from typing import Any, Final

from attrs import evolve, frozen

from wireproof.cases.case import ORIGIN_REFERENCE, PROPERTY, Accept, Case, Data, Op, Source, Value
from wireproof.cases.fixtures import load
from wireproof.cases.outcome import Accepted
from wireproof.cases.reference_answers import reference_answer, reference_expectation
from wireproof.derive.examples import (
    Examples,
    capabilities_of,
    example_case,
    examples_of,
    option_variants,
    unanswered,
    with_expectation,
)
from wireproof.derive.mutate import crossover, mutate
from wireproof.derive.mutate.draws import MAX_SIZE, below, pick
from wireproof.derive.mutate.encodings import sample
from wireproof.derive.mutate.encodings import seed as smallest_encoding
from wireproof.family import object_at
from wireproof.formats import FAMILIES, FORMATS, Format, family_of
from wireproof.install_hint import install_command
from wireproof.wire.json_values import to_json

MAX_EXAMPLES: Final = 100_000
"""Examples of a format and an op that can be generated again: those before it are generated too, and kept."""

MAX_STALE_SAMPLES: Final = 64
"""Consecutive samples without a new example, after which a format has no more."""

_CAMPAIGN: Final = "campaign"

INTEROP: Final = "interop"
"""The family of the cases of an exchange, and the topic in their ids."""

WRITE_PART: Final = "write"
"""Stands in the id of an encode case where that of a decode has the name of the writer."""


class PropertyError(ValueError):
    """No cases can be generated; the message has the next step."""


@lru_cache(maxsize=64)
def sample_drawer(format_id: str) -> Callable[[str], list[Any]]:
    """Return a function that draws the sample of a format for a label, as a list of at most one."""
    strategies = _strategies()
    draw: Callable[[str], list[Any]] = strategies.seeded_drawer(strategies.samples(FORMATS[format_id]))
    return draw


@lru_cache(maxsize=64)
def _value_drawer(name: str) -> Callable[[str], list[Any]]:
    """Return the same for the values of a format, or for message sets if `name` is their label."""
    strategies = _strategies()
    places = (family.message_sets for family in FAMILIES.values() if family.message_sets)
    sets = next((one for one in map(_message_sets_at, places) if one.label == name), None)
    strategy = strategies.values(*name.split("/")) if sets is None else sets.strategy()
    draw: Callable[[str], list[Any]] = strategies.seeded_drawer(strategy)
    return draw


def _strategies() -> ModuleType:
    """Return the module of the strategies; raise `PropertyError` if Hypothesis is missing, and only then."""
    try:
        import hypothesis  # noqa: F401, PLC0415 - an extra
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        raise PropertyError(f"generated examples need Hypothesis: {install_command('property')}") from None
    from wireproof.derive import strategies  # noqa: PLC0415 - as above

    return strategies


class PropertyExamples:
    """The property cases of one format and seed, generated as far as they were needed."""

    def __init__(self, row: Format, seed: int) -> None:
        """Generate nothing yet; raises `PropertyError` if Hypothesis is missing."""
        self._row, self._seed = row, seed
        self._draw = sample_drawer(row.format_id)
        self._made: dict[Op, list[Case]] = {}
        self._more: dict[Op, Iterator[Case]] = {}

    def cases(self, op: Op, start: int, stop: int) -> Sequence[Case]:
        """Return the cases from `start` to before `stop`; fewer only if the format has no more."""
        made = self._made.setdefault(op, [])
        if stop > len(made):
            more = self._more.setdefault(op, self._new(op))
            made.extend(islice(more, stop - len(made)))
        return made[start:stop]

    def _new(self, op: Op) -> Iterator[Case]:
        topic, source = f"{self._row.format_id}/{PROPERTY}/{op}", f"{PROPERTY} of seed {self._seed}"
        seen: set[str] = set()
        stale = 0
        for draw in count():
            before = len(seen)
            for drawn in self._draw(f"{self._row.format_id} {self._seed} {draw}"):
                for example in examples_of(self._row, op, drawn):
                    key = repr((example.input, example.options))
                    if key in seen:
                        continue
                    name = f"{topic}~s{self._seed}:{len(seen)}"
                    seen.add(key)
                    yield example_case(self._row, op, name, example, drawn, source)
            stale = 0 if len(seen) > before else stale + 1
            if stale >= MAX_STALE_SAMPLES:
                return


@lru_cache(maxsize=64)
def property_examples(format_id: str, seed: int) -> PropertyExamples:
    """Return the examples of a format, shared by all users of its seed; `cache_clear()` forgets them."""
    return PropertyExamples(FORMATS[format_id], seed)


def property_case(name: str) -> Case | None:
    """Return the case of an id, generated again; None if the id is not one of a property case."""
    head, _, tail = name.partition("~")
    format_id, _, op = head.rpartition(f"/{PROPERTY}/")
    found = re.fullmatch(r"s([0-9]{1,18}):([0-9]{1,6})", tail)  # of a file perhaps, so its digits are limited
    if format_id not in FORMATS or found is None:
        return None
    seed, number = map(int, found.groups())
    cases: Sequence[Case] = ()
    for known in ops_of(FORMATS[format_id]):
        if known == op and number < MAX_EXAMPLES:
            cases = property_examples(format_id, seed).cases(known, number, number + 1)
    return next(iter(cases), None)


def ops_of(row: Format) -> tuple[Op, ...]:
    """Return the ops of a format: only a stream can be scanned."""
    return ("decode", "encode") if row.scan is None else ("decode", "encode", "scan")


@frozen
class SeededCases:
    """The cases of a campaign; the formats, by their ids, take turns."""

    formats: tuple[str, ...]
    ops: tuple[Op, ...]
    seed: int

    def case(self, number: int) -> Case:
        """Return case `number`, which depends on the attributes and the version of this package too.

        Raises `PropertyError` if Hypothesis is missing.
        """
        source = _campaign_sources(self.formats, self.ops)[number % len(self.formats)]
        name = f"{_CAMPAIGN} {self.seed} {number}"
        rng = Random(name)  # noqa: S311 - cases, not secrets
        case = source.case(source.data(rng, name), rng)
        return evolve(
            case,
            id=f"{source.fmt.format_id}/{_CAMPAIGN}/s{self.seed}n{number}",
            title=f"case {number} of seed {self.seed}",
            source=Source(ORIGIN_REFERENCE, f"campaign of seed {self.seed}"),
            twin=None,
            family=None,
            parent=None,
        )


@frozen(eq=False)
class _CampaignSource:
    """The seed inputs and the examples of one format."""

    fmt: Format
    examples: Examples
    fixtures: tuple[bytes, ...]

    @cached_property
    def seeds(self) -> tuple[bytes, ...]:
        """Return the smallest and a large encoding and the bytes of the fixtures, without duplicates."""
        return tuple(dict.fromkeys((smallest_encoding(self.fmt), sample(self.fmt), *self.fixtures)))

    def case(self, data: bytes, rng: Random) -> Case:
        """Return the decode of `data`, or one of its follow-ups."""
        decode = self.examples.decode_case(data)
        follow_ups = self.examples.follow_ups(decode)
        return with_expectation(pick(rng, follow_ups)) if follow_ups and below(rng, 2) else decode

    def data(self, rng: Random, name: str) -> bytes:
        """Return a seed input after a chain of mutations."""
        if below(rng, 32):
            data = pick(rng, self.seeds)
        else:  # valid bytes that a strategy draws, or as often bytes with one wrong field; they cost more
            drawn = sample_drawer(self.fmt.format_id)(f"{self.fmt.format_id} {name}")
            given = [one.damaged if one.seed & 1 else one.data for one in drawn]
            data = given[0] if given else sample(self.fmt)
        for _ in range(pick(rng, (0, 1, 1, 1, 2, 2, 3, 5))):
            data = mutate(self.fmt, data, rng, MAX_SIZE)
        if not below(rng, 16):
            data = crossover(self.fmt, data, pick(rng, self.seeds), rng, MAX_SIZE)
        return data[:MAX_SIZE]


@lru_cache(maxsize=8)
def _campaign_sources(format_ids: tuple[str, ...], ops: tuple[Op, ...]) -> tuple[_CampaignSource, ...]:
    """Return the sources of the formats. They are slow to make, so a process makes them once."""
    suite = load()
    found: dict[str, list[bytes]] = {}
    for case in suite.cases:
        given = case.input
        if case.format_id in format_ids and isinstance(given, Data) and len(given.data) <= MAX_SIZE:
            found.setdefault(case.format_id, []).append(given.data)
    sources = []
    for fmt in map(FORMATS.__getitem__, format_ids):
        possible = tuple(op for op in ops if op in ops_of(fmt))
        scans = option_variants(fmt, suite, "scan")
        examples = Examples(fmt, option_variants(fmt, suite), possible, scan_variants=scans)
        sources.append(_CampaignSource(fmt, examples, tuple(found.get(fmt.format_id, ()))))
    return tuple(sources)


@frozen
class EncodeCase:
    """An encode case: entry `part` of one encoding of value `number`."""

    number: int
    part: int
    case: Case


@lru_cache(maxsize=64)
def encode_cases(format_id: str, count: int, seed: int) -> tuple[EncodeCase, ...]:
    """Return the encode cases of a format; raises `PropertyError` without Hypothesis."""
    fmt = FORMATS[format_id]
    found: list[EncodeCase] = []
    sets = message_sets_of(fmt)
    for number in range(count):
        value = exchanged_value(fmt.format_id if sets is None else sets.label, number, seed)
        for entries in ((value,),) if sets is None else sets.encodings(value, fmt.revision):
            for part, value in enumerate(entries):
                topic = f"{format_id}/{INTEROP}/{WRITE_PART}"
                name = f"{topic}~s{seed}:{len(found)}"
                case = exchange_case(fmt, name, topic, Value(to_json(value)), "encode")
                match reference_answer(case).outcome:
                    case Accepted(data=bytes(data)):
                        # a codec implies a wrapper in v0 and v1, where it is the only way to compress
                        needs = (atom for atom in capabilities_of(fmt, data) if atom != "feature:wrapper")
                        case = evolve(case, expect=Accept(data=(data,)), needs=tuple(needs))
                    case _:
                        case = evolve(case, expect=reference_expectation(case))
                found.append(EncodeCase(number, part, case))
    return tuple(found)


def exchanged_value(name: str, number: int, seed: int) -> Any:  # noqa: ANN401 - a value of any format, or a message set
    """Return value `number` of a seed, which is the same in every run."""
    # Another word than `exchange` would change the messages of every seed.
    (value,) = _value_drawer(name)(f"exchange {name} {seed} {number}")
    return value


def exchange_case(fmt: Format, name: str, family: str, given: Data | Value, op: Op) -> Case:
    """Return a case of an exchange, without an expectation."""
    values, title = f"values of {name.partition('~')[2]}", f"{op}, of an exchange"
    return unanswered(fmt, name, given, values, title=title, op=op, parent=family, family=INTEROP)


@frozen
class MessageSets:
    """The logical messages of a family.

    Attributes:
        format: the name of the format that encodes them.
        label: names them in the random draws: another word would change the messages of every seed.
        revisions: the revisions of the format, the oldest first.
        strategy: returns a Hypothesis strategy for a message set.
        encodings: returns each encoding of a message set in a revision, as its entries.
        uncompressed: returns a message set without its compression; None if it has none.
        stream: makes a value of the stream of the format from entries.
    """

    format: str
    label: str
    revisions: tuple[str, ...]
    strategy: Callable[[], Any]
    encodings: Callable[[Any, str], tuple[tuple[Any, ...], ...]]
    uncompressed: Callable[[Any], Any]
    stream: Callable[[tuple[Any, ...]], Any]


@cache
def _message_sets_at(place: str) -> MessageSets:
    found: MessageSets = object_at(place)
    return found


def message_sets_of(fmt: Format) -> MessageSets | None:
    """Return the message sets that a format encodes; None if its values have nothing in common."""
    place = family_of(fmt).message_sets
    found = _message_sets_at(place) if place else None
    return found if found is not None and found.format == fmt.name else None
