"""Cases by number: case n of a seed is the same one, whoever makes it, and whatever was made before it.

A campaign is dealt out by number to tasks that know nothing of one another. Its bytes are a chain of
mutations of a seed; seeds are the fixtures, the least and fullest encodings, and what strategies draw.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from random import Random
from typing import Final

from attrs import evolve, frozen

from wireproof.cases.case import Case, Data, Op, Source
from wireproof.cases.fixtures import Suite, load
from wireproof.cases.mutate import crossover, mutated
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.fullest import sample
from wireproof.cases.mutate.least import seed as least_of
from wireproof.formats import FORMATS, Format
from wireproof.fuzz.asking import askings
from wireproof.fuzz.inputs import Inputs, answered

MOST: Final = 4096
"""Bytes of an input at most, and of a fixture that is a seed."""

DRAWN: Final = 32
"""One case in so many begins with what a strategy draws, which costs as much as thirty mutations."""

CROSSED: Final = 16
"""One in so many is a child of two."""

CHAIN: Final = (0, 1, 1, 1, 2, 2, 3, 5)
"""How many mutations, one behind another."""

TOPIC: Final = "campaign"


@frozen
class Numbered:
    """The cases of a campaign.

    Attributes:
        formats: joined names, asked in turn.
        ops: those that are asked for.
        seed: of all that is drawn.
    """

    formats: tuple[str, ...]
    ops: tuple[Op, ...]
    seed: int

    def case(self, number: int) -> Case:
        """Case `number`: a function of it, of the attributes and of this package alone.

        Raises:
            ImportError: Hypothesis is missing; it names what to install.
        """
        room = rooms(self.formats, self.ops)[number % len(self.formats)]
        rng = Random(f"{TOPIC} {self.seed} {number}")  # noqa: S311 - cases, not secrets
        case = _asked(room, _bytes(room, rng, f"{TOPIC} {self.seed} {number}"), rng)
        return evolve(
            case,
            id=f"{room.row.joined}/{TOPIC}/s{self.seed}n{number}",
            title=f"case {number} of seed {self.seed}",
            source=Source("fuzz", f"campaign of seed {self.seed}"),  # any refusal agrees with any refusal
            twin=None,
            family=None,
            parent=None,
        )


@frozen(eq=False)
class Room:
    """What is known of one format: its seeds, and how it is asked."""

    row: Format
    inputs: Inputs
    fixtures: tuple[bytes, ...]

    @cached_property
    def seeds(self) -> tuple[bytes, ...]:
        """The fixtures' bytes, the least and the fullest encoding; each once."""
        return tuple(dict.fromkeys((least_of(self.row), sample(self.row), *self.fixtures)))


@lru_cache(maxsize=8)
def rooms(formats: tuple[str, ...], ops: tuple[Op, ...]) -> tuple[Room, ...]:
    """The rooms of the formats; what is costly of them is made once in a process."""
    suite = load()
    found = _by_format(suite, formats)
    return tuple(_room(FORMATS[joined], suite, found.get(joined, ()), ops) for joined in formats)


def _room(row: Format, suite: Suite, fixtures: Sequence[bytes], ops: Collection[Op]) -> Room:
    done = tuple(op for op in ops if op != "scan" or row.scan is not None)
    scans = askings(row, suite, "scan")
    return Room(row, Inputs(row, askings(row, suite), done, scans=scans), tuple(fixtures))


def _by_format(suite: Suite, formats: Collection[str]) -> Mapping[str, list[bytes]]:
    """The bytes of the fixtures, of each format in the order of their ids."""
    found: dict[str, list[bytes]] = {}
    for case in suite.cases:
        if case.joined in formats and isinstance(case.input, Data) and len(case.input.data) <= MOST:
            found.setdefault(case.joined, []).append(case.input.data)
    return found


def _bytes(room: Room, rng: Random, name: str) -> bytes:
    """A seed after some mutations."""
    data = _drawn(room.row, name) if not below(rng, DRAWN) else pick(rng, room.seeds)
    for _ in range(pick(rng, CHAIN)):
        data = mutated(room.row, data, rng, MOST).data
    if not below(rng, CROSSED):
        data = crossover(room.row, data, pick(rng, room.seeds), rng, MOST)
    return data[:MOST]


def _drawn(row: Format, name: str) -> bytes:
    """What a strategy draws: sound bytes, or, as often, bytes with one field off."""
    from wireproof.cases.strategies.samples import drawer  # noqa: PLC0415 - Hypothesis is an extra

    found = drawer(row)(f"{row.joined} {name}")
    if not found:
        return sample(row)
    return found[0].damaged if found[0].seed & 1 else found[0].data


def _asked(room: Room, data: bytes, rng: Random) -> Case:
    """One of the questions that these bytes give rise to."""
    decode = room.inputs.case(data)
    more = room.inputs.more(decode)
    return answered(pick(rng, more)) if more and below(rng, 2) else decode
