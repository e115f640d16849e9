"""Cases by number: case n of a seed is always the same, whichever process makes it and in whatever order.

A campaign gives ranges of numbers to tasks that do not know each other. So a case may not depend on the cases
before it, and two cases may be equal; in the property suite (`runner.property_suite`) all examples differ.
The bytes of a case are a chain of mutations of a seed input: of a fixture, of the minimal or the maximal
encoding, or of what a Hypothesis strategy generates.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from random import Random
from typing import Final

from attrs import evolve, frozen

from wireproof.cases.case import ORIGIN_REFERENCE, Case, Data, Op, Source
from wireproof.cases.fixtures import Suite, load
from wireproof.cases.mutate import crossover, mutate_with_edits
from wireproof.cases.mutate.fullest import sample
from wireproof.cases.mutate.least import seed as least_of
from wireproof.cases.mutate.random_draws import below, pick
from wireproof.formats import FORMATS, Format
from wireproof.fuzz.case_builder import CaseBuilder, with_expectation
from wireproof.fuzz.option_variants import option_variants

_MAX_SIZE: Final = 4096
"""Largest input in bytes, also of a fixture that serves as a seed input."""

_GENERATED: Final = 32
"""One case in this many begins with what a strategy generates, which costs as much as thirty mutations."""

_CROSSED: Final = 16
"""One case in this many combines two inputs."""

_CHAIN: Final = (0, 1, 1, 1, 2, 2, 3, 5)
"""Possible lengths of the chain of mutations."""

_TOPIC: Final = "campaign"


@frozen
class SeededCases:
    """The cases of a campaign.

    Attributes:
        formats: ids of the formats, which take turns.
        ops: what the cases ask for.
        seed: random seed of the campaign.
    """

    formats: tuple[str, ...]
    ops: tuple[Op, ...]
    seed: int

    def case(self, number: int) -> Case:
        """Return case `number`; it depends on the number, the attributes and the version of this package.

        Raises:
            ImportError: Hypothesis is missing; the message names what to install.
        """
        source = _case_sources(self.formats, self.ops)[number % len(self.formats)]
        name = f"{_TOPIC} {self.seed} {number}"
        rng = Random(name)  # noqa: S311 - cases, not secrets
        case = source.case(_bytes(source, rng, name), rng)
        return evolve(
            case,
            id=f"{source.fmt.format_id}/{_TOPIC}/s{self.seed}n{number}",
            title=f"case {number} of seed {self.seed}",
            source=Source(ORIGIN_REFERENCE, f"campaign of seed {self.seed}"),
            twin=None,
            family=None,
            parent=None,
        )


@frozen(eq=False)
class _CaseSource:
    """The seed inputs and the case builder of one format."""

    fmt: Format
    builder: CaseBuilder
    fixtures: tuple[bytes, ...]

    @cached_property
    def seeds(self) -> tuple[bytes, ...]:
        """Return the minimal and the maximal encoding and the bytes of the fixtures, without duplicates."""
        return tuple(dict.fromkeys((least_of(self.fmt), sample(self.fmt), *self.fixtures)))

    def case(self, data: bytes, rng: Random) -> Case:
        """Return the decode of `data`, or one of its follow-ups."""
        decode = self.builder.decode_case(data)
        follow_ups = self.builder.follow_ups(decode)
        return with_expectation(pick(rng, follow_ups)) if follow_ups and below(rng, 2) else decode


@lru_cache(maxsize=8)
def _case_sources(format_ids: tuple[str, ...], ops: tuple[Op, ...]) -> tuple[_CaseSource, ...]:
    """Return the sources of the formats. They are slow to make, so a process makes them once."""
    suite = load()
    found = _fixture_bytes(suite, format_ids)
    return tuple(
        _case_source(FORMATS[format_id], suite, found.get(format_id, ()), ops) for format_id in format_ids
    )


def _case_source(fmt: Format, suite: Suite, fixtures: Sequence[bytes], ops: Collection[Op]) -> _CaseSource:
    possible = tuple(op for op in ops if op != "scan" or fmt.scan is not None)
    builder = CaseBuilder(
        fmt, option_variants(fmt, suite), possible, scan_variants=option_variants(fmt, suite, "scan")
    )
    return _CaseSource(fmt, builder, tuple(fixtures))


def _fixture_bytes(suite: Suite, format_ids: Collection[str]) -> Mapping[str, list[bytes]]:
    """Return the bytes of the fixtures of each format, in the order of their ids."""
    found: dict[str, list[bytes]] = {}
    for case in suite.cases:
        if (
            case.format_id in format_ids
            and isinstance(case.input, Data)
            and len(case.input.data) <= _MAX_SIZE
        ):
            found.setdefault(case.format_id, []).append(case.input.data)
    return found


def _bytes(source: _CaseSource, rng: Random, name: str) -> bytes:
    """Return a seed input after a chain of mutations."""
    data = _generated(source.fmt, name) if not below(rng, _GENERATED) else pick(rng, source.seeds)
    for _ in range(pick(rng, _CHAIN)):
        data = mutate_with_edits(source.fmt, data, rng, _MAX_SIZE).data
    if not below(rng, _CROSSED):
        data = crossover(source.fmt, data, pick(rng, source.seeds), rng, _MAX_SIZE)
    return data[:_MAX_SIZE]


def _generated(fmt: Format, name: str) -> bytes:
    """Return what a strategy generates: valid bytes, or as often bytes with one wrong field."""
    from wireproof.cases.strategies.seeded_samples import sample_drawer  # noqa: PLC0415 - Hypothesis is an extra

    found = sample_drawer(fmt)(f"{fmt.format_id} {name}")
    if not found:
        return sample(fmt)
    return found[0].damaged if found[0].seed & 1 else found[0].data
