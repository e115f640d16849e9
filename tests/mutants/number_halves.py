"""Codecs that keep half of a number: two for each number of each format and revision, to read and to write.

They are made from the table of states, which has every number of every layout, JSON body and protobuf
message.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Protocol

from attrs import frozen

from tests.mutants.base import ReferenceCodec
from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.adapters.requests import request_for
from wireproof.cases.case import Accept, Case, Either, Expect, Value
from wireproof.cases.fixtures import Suite
from wireproof.judge.judge import judge
from wireproof.lint.states import is_computed, numbers_of, state_table
from wireproof.wire.json_values import Json


@frozen
class Half:
    """One number of a format of which a codec keeps the lower or the upper half of its bits."""

    format_id: str
    op: str
    path: str
    bits: int
    signed: bool
    keeps: str

    def of(self, number: int) -> int:
        """Return what such a codec makes of a number."""
        half = self.bits // 2
        bits = number & ((1 << half) - 1) if self.keeps == "lower" else number >> half << half
        bits &= (1 << self.bits) - 1
        return bits - (1 << self.bits) if self.signed and bits >> self.bits - 1 else bits

    def of_value(self, value: Json) -> Json:
        """Return a copy of a value with this half of each number at the path."""
        return self._changed(deepcopy(value), self.path.replace("[]", ".[]").lstrip(".").split("."))

    def _changed(self, value: Json, steps: list[str]) -> Json:
        if not steps:
            return (
                str(self.of(int(value)))
                if isinstance(value, str) and value.lstrip("-").isdecimal()
                else value
            )
        if steps[0] == "[]" and isinstance(value, list):
            return [self._changed(part, steps[1:]) for part in value]
        if isinstance(value, dict) and steps[0] in value:
            return value | {steps[0]: self._changed(value[steps[0]], steps[1:])}
        return value


class ValueChange(Protocol):
    """A fault in the values of one format that are read, or in those that are written."""

    @property
    def format_id(self) -> str:
        """The format and its revision."""

    @property
    def op(self) -> str:
        """`decode` or `encode`."""

    def of_value(self, value: Json) -> Json:
        """Return what such a codec makes of a value."""


class ChangingCodec(ReferenceCodec):
    """The reference with one such fault."""

    def __init__(self, change: ValueChange) -> None:
        """Store the fault."""
        self.change = change

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Change what was read."""
        del data
        return self.change.of_value(value) if self._is_about(request, "decode") else value

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Change what is written."""
        return self.change.of_value(value) if self._is_about(request, "encode") else value

    def _is_about(self, request: Request, op: str) -> bool:
        return self.change.op == op and f"{request.format}/{request.revision}" == self.change.format_id


def halves(suite: Suite) -> Iterator[Half]:
    """Yield both halves of each number of more than eight bits that a value has, to read and to write."""
    values = {op: _numbers(suite, op) for op in ("decode", "encode")}
    values["encode"] -= {(name, path) for name, path in values["encode"] if is_computed(name, path)}
    for (format_id, path), kind in sorted(state_table(suite).types.items(), key=lambda row: row[0]):
        for op, known in values.items():
            if kind.bits > 8 and (format_id, path) in known:
                yield from (
                    Half(format_id, op, path, kind.bits, kind.signed, keeps) for keeps in ("lower", "upper")
                )


def _numbers(suite: Suite, op: str) -> set[tuple[str, str]]:
    """Return the format and the path of each number of a value of an accepted case."""
    return {(case.format_id, path) for case in suite.cases for path, _ in numbers_of(value_of(case, op))}


def value_of(case: Case, op: str) -> Json:
    """Return the value that a case reads or writes; None for a refused case.

    Of a case that may be answered in two ways it is the first value that it accepts.
    """
    answers: list[Expect] = [case.expect]
    if isinstance(case.expect, Either):
        answers = [behaviour.expect for behaviour in case.expect.behaviours]
    accepted = next((answer for answer in answers if isinstance(answer, Accept)), None)
    if case.op != op or accepted is None or case.level == "may":
        return None
    return case.input.value if isinstance(case.input, Value) else accepted.value


def killer(change: ValueChange, suite: Suite, observes: tuple[str, ...] = ()) -> str:
    """Return the id of the first golden case that fails a codec with this fault; empty if none does.

    `observes` are the parts that it names as its own: derived ones are compared only then.
    """
    codec = ChangingCodec(change)
    hello = Hello("changed", "", {change.format_id: Claim(observes=observes)})
    for case in suite.cases:
        value = value_of(case, change.op) if case.format_id == change.format_id else None
        if value is None or change.of_value(value) == value:
            continue
        request = request_for(case, case.id)
        outcome = codec.decode(request) if change.op == "decode" else codec.encode(request)
        if not judge(case, outcome, hello=hello).passing:
            return case.id
    return ""
