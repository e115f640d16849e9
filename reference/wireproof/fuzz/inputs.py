"""From the bytes of a fuzzer to a case. All that is drawn is drawn from the bytes, so they replay alone.

What is asked beside the bytes is `asking`'s matter.
"""

import hashlib
import zlib
from collections.abc import Sequence
from random import Random
from typing import Final

from attrs import evolve

from wireproof import formats
from wireproof.cases.case import Accept, Case, Chunks, Data, Op, Reject, Source, Value
from wireproof.cases.derived import OPEN, sampled
from wireproof.cases.examples import edited
from wireproof.cases.mutate.signing import Keys
from wireproof.formats import Format
from wireproof.fuzz.asking import Asking, fitted, keys_of, put_to
from wireproof.trial.reference import expectation
from wireproof.wire.options import DEFAULT
from wireproof.wire.rejected import Rejected
from wireproof.wire.values import to_json

ENCODE, SCAN, RELATED = 3, 4, 16
"""One input in so many is also written, scanned in pieces, or damaged further in a way that is understood."""

DRAWN: Final = 2
"""The remainder of those."""

UNTOLD: Final = {("v0", "timestamp")}
"""Revision and field of values that only our way to tell them forbids: a v0 message has no timestamp to be
wrong about (kafka.md §2.1)."""

UNANSWERED: Final = Accept()
"""What is expected of a case before the reference was asked."""

SOURCE: Final = Source(OPEN, "found by fuzzing")


class Inputs:
    """Makes the cases of one row."""

    def __init__(
        self,
        row: Format,
        ways: Sequence[Asking],
        ops: Sequence[Op],
        *,
        scans: Sequence[Asking] = (),
        lifted: bool = False,
    ) -> None:
        """Ask in any of `ways`, scan in any of `scans` too, of the adapter's `ops`.

        `lifted`: it knows only the stream of `row`.
        """
        self.row = row
        self._lifted = lifted
        self._ways = tuple(ways) or (Asking(),)
        self._scans = tuple(way for way in scans if way not in self._ways)
        self._ops = frozenset(ops)

    @property
    def keys(self) -> Keys:
        """The keys of the signers that are asked with."""
        return keys_of(self._ways)

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
        options = fitted(self.row, way.options, data, drawn)
        return Case(
            f"{self.row.joined}/fuzz/n{sha}", self.row.name, self.row.revision, Data(data), UNANSWERED,
            title="found by fuzzing", options=options, needs=way.needs, profile=way.profile,
            source=SOURCE,
            family="fuzz",  # nobody wrote its expectation: any refusal agrees with any
        )  # fmt: skip

    def more(self, case: Case) -> list[Case]:
        """Further questions about the same bytes: written, in pieces, or under a relation; mostly none."""
        assert isinstance(case.input, Data)
        drawn = zlib.crc32(case.input.data, 1)
        found: list[Case] = []
        if "scan" in self._ops and drawn % SCAN == DRAWN:
            found.append(_scanned(self._as_scan(case, drawn >> 4), drawn >> 8))
        if not isinstance(case.expect, Accept):
            return found
        if (
            "encode" in self._ops
            and (drawn >> 16) % ENCODE == DRAWN
            and (case.options, case.profile) == (DEFAULT, "reader")
        ):
            found += (_written if drawn >> 20 & 1 else self._unwritable)(case, case.expect)
        if drawn % RELATED == DRAWN and case.expect != UNANSWERED:
            related = (one for one in sampled(case, drawn >> 8) if one.op in self._ops)
            found += [evolve(one, twin=None) for one in related]
        return found

    def _as_scan(self, case: Case, drawn: int) -> Case:
        """The case as it is asked, or as only scans are; half of each where there are such."""
        if not self._scans or drawn & 1:
            return case
        return put_to(case, self._scans[(drawn >> 1) % len(self._scans)])

    def _unwritable(self, case: Case, read: Accept) -> list[Case]:
        """The value with a part changed such that nobody may write it; none where it can be written."""
        assert isinstance(case.input, Data)
        data = case.input.data
        if read == UNANSWERED:
            return []
        value = edited(formats.decode(self.row, data, case.options).value, Random(zlib.crc32(data, 2)))  # noqa: S311 - a function of the bytes
        encode = evolve(case, id=f"{case.id}-unwritable", op="encode", input=Value(to_json(value)))
        try:
            formats.encode(self.row, to_json(value), case.options)
        except Rejected as rejected:
            if (self.row.revision, rejected.path) not in UNTOLD:
                return [evolve(encode, expect=Reject(rejected.cls))]
        return []

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
