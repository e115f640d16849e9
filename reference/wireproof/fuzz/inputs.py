"""From the bytes of a fuzzer to a case. All that is drawn is drawn from the bytes, so they replay alone.

What a caller may ask beside the bytes (keys of a signed stream, the offset that was fetched) is taken
from the fixtures of the format: they name what makes a difference.
"""

import hashlib
import zlib
from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from wireproof.cases.case import Accept, Case, Chunks, Data, Op, Source, Value
from wireproof.cases.derived import OPEN, sampled
from wireproof.cases.fixtures import Suite
from wireproof.formats import Format
from wireproof.trial.reference import expectation
from wireproof.wire.options import DEFAULT, Options

ENCODE, SCAN, RELATED = 8, 4, 16
"""One input in so many is also written, scanned in pieces, or damaged further in a way that is understood."""

DRAWN: Final = 2
"""The remainder of those."""

UNANSWERED: Final = Accept()
"""What is expected of a case before the reference was asked."""

SOURCE: Final = Source(OPEN, "found by fuzzing")


@frozen
class Asking:
    """What is asked beside the bytes, and the capabilities that it takes."""

    options: Options = DEFAULT
    needs: tuple[str, ...] = ()


def askings(row: Format, suite: Suite) -> tuple[Asking, ...]:
    """The ways in which the fixtures of `row` ask for a decode as a reader; the plain one first."""
    needs: dict[str, tuple[Options, set[str]]] = {}
    for case in suite.cases:
        if case.joined != row.joined or case.op != "decode" or case.profile != "reader":
            continue
        _, common = needs.setdefault(repr(case.options), (case.options, set(case.needs)))
        common &= set(case.needs)
    found = [Asking(options, tuple(sorted(common))) for options, common in needs.values()]
    return (Asking(), *(one for one in found if one.options != DEFAULT))


class Inputs:
    """Makes the cases of one row."""

    def __init__(
        self, row: Format, ways: Sequence[Asking], ops: Sequence[Op], *, lifted: bool = False
    ) -> None:
        """Ask in any of `ways`, and of the adapter's `ops`; `lifted`: it knows only the stream of `row`."""
        self.row = row
        self._lifted = lifted
        self._ways = tuple(ways) or (Asking(),)
        self._ops = frozenset(ops)

    def case(self, data: bytes) -> Case:
        """The case of `data`, a decode; raises whatever the reference raises that is no refusal.

        What is going to be lifted is answered then, as the stream; to answer it here too costs half the rate.
        """
        case = self.unanswered(data)
        if self._lifted and zlib.crc32(data, 1) % RELATED != DRAWN:
            return case
        return answered(case)

    def unanswered(self, data: bytes) -> Case:
        """The same before the reference was asked."""
        drawn = zlib.crc32(data)
        way = self._ways[0] if drawn & 1 else self._ways[(drawn >> 1) % len(self._ways)]
        sha = hashlib.sha256(data).hexdigest()[:16]
        return Case(
            f"{self.row.joined}/fuzz/n{sha}", self.row.name, self.row.revision, Data(data), UNANSWERED,
            title="found by fuzzing", options=way.options, needs=way.needs, source=SOURCE,
            family="fuzz",  # nobody wrote its expectation: any refusal agrees with any
        )  # fmt: skip

    def more(self, case: Case) -> list[Case]:
        """Further questions about the same bytes: written, in pieces, or under a relation; mostly none."""
        assert isinstance(case.input, Data)
        drawn = zlib.crc32(case.input.data, 1)
        found: list[Case] = []
        if "scan" in self._ops and drawn % SCAN == DRAWN:
            found.append(_scanned(case, drawn >> 8))
        if not isinstance(case.expect, Accept):
            return found
        if "encode" in self._ops and drawn % ENCODE == DRAWN and case.options == DEFAULT:
            found += _written(case, case.expect)
        if drawn % RELATED == DRAWN and case.expect != UNANSWERED:
            related = (one for one in sampled(case, drawn >> 8) if one.op in self._ops)
            found += [evolve(one, twin=None) for one in related]
        return found

    def every(self, case: Case) -> list[Case]:
        """Each further question of an answered case at once."""
        found = [_scanned(case, 0)] if "scan" in self._ops else []
        if "encode" in self._ops and isinstance(case.expect, Accept) and case.expect != UNANSWERED:
            found += _written(case, case.expect)
        return found


def answered(case: Case) -> Case:
    """The case with what the reference makes of it."""
    return evolve(case, expect=expectation(case)) if case.expect == UNANSWERED else case


def _scanned(case: Case, drawn: int) -> Case:
    """The bytes in two pieces; the fixture of one piece would be their decode."""
    assert isinstance(case.input, Data)
    data = case.input.data
    at = drawn % (len(data) + 1)
    scan = evolve(case, id=f"{case.id}-scan", op="scan", input=Chunks((data[:at], data[at:])))
    return evolve(scan, expect=expectation(scan))


def _written(case: Case, read: Accept) -> list[Case]:
    """The value, to be written and read back; none where only a remark let it pass, or nobody writes it."""
    encode = evolve(case, id=f"{case.id}-encode", op="encode", input=Value(read.value))
    if read.remarks or not isinstance(expectation(encode), Accept):
        return []
    return [evolve(encode, expect=Accept(read.value))]
