"""Compare two values in JSON form, accept what a remark allows, and describe answers in short.

A comparison uses the fields that the adapter observes. A value that differs only at the place of a remark,
and has a value that the remark allows there, is right.
"""

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import islice
from json import JSONEncoder
from operator import eq
from typing import Final, TypeAlias

from attrs import frozen

from wireproof.cases.case import Accept, Either, Expect, Reject
from wireproof.cases.outcome import Accepted, Crashed, Exhausted, Faulty, Outcome, Refused, TimedOut
from wireproof.judge.signature import without_indices
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import FieldTree
from wireproof.wire.rejection import Remark
from wireproof.wire.text import counted, one_line

PathStep: TypeAlias = str | int

_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


MOST_DIFFERENCES: Final = 1000
MOST_FIELDS: Final = 12
"""Differences that are searched for further fields, and the fields that a verdict lists."""

UNREADABLE: Final = "unreadable"
"""The field in which the answer of a live server says why a consumer refuses what it delivers."""


class _Missing:
    """Marks a field that does not exist; null is a value."""

    def __repr__(self) -> str:
        return "(none)"


MISSING: Final = _Missing()

JsonOrMissing: TypeAlias = "Json | _Missing"


@frozen
class ValueDifference:
    """The first field that differs, with both values; `MISSING` on the side that lacks the field."""

    path: str
    want: JsonOrMissing
    got: JsonOrMissing


def first_difference(want: Json, got: Json, *, masked: bool = False) -> ValueDifference | None:
    """Return the first difference, or None; `masked` compares only the fields that `want` has."""
    return next(differences(want, got, masked=masked), None)


def different_fields(want: Json, got: Json) -> tuple[str, ...]:
    """Return the paths that differ, without indices and each once; the last is `…` if there are more."""
    paths = (without_indices(one.path) for one in islice(differences(want, got), MOST_DIFFERENCES))
    names = tuple(dict.fromkeys(paths))
    return names if len(names) <= MOST_FIELDS else (*names[:MOST_FIELDS], "…")


def differences(
    want: Json, got: Json, *, masked: bool = False, every: bool = False
) -> Iterator[ValueDifference]:
    """Yield the differences in the order of the fields.

    Of lists of two lengths only the first is: what follows may have moved. With `every`, all are where it has
    not.

    Iterative, because an adapter can return values of any depth.
    """
    pending: list[tuple[str, JsonOrMissing, JsonOrMissing]] = [("", want, got)]
    while pending:
        path, left, right = pending.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            # Why what was read is incomplete is first: all other differences follow from it.
            cause = right.keys() & {UNREADABLE} if not path else ()
            keys = left if masked else dict.fromkeys((*cause, *left, *right))
            head = f"{path}." if path else ""
            pairs = [(f"{head}{key}", left.get(key, MISSING), right.get(key, MISSING)) for key in keys]
            pending.extend(reversed(pairs))
        elif isinstance(left, list) and isinstance(right, list):
            found: list[tuple[str, JsonOrMissing, JsonOrMissing]] = list(_unequal(path, left, right))
            if len(left) != len(right):
                found.append((f"{path}.length", str(len(left)), str(len(right))))
                if not every or _has_moved(left, right):
                    del found[1:]
            pending.extend(reversed(found))
        elif left is MISSING or right is MISSING or type(left) is not type(right) or left != right:
            # The last step may be a name that an adapter made up.
            yield ValueDifference(one_line(path, 300), left, right)


def _unequal(path: str, left: list[Json], right: list[Json]) -> Iterator[tuple[str, Json, Json]]:
    for number, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            yield f"{path}[{number}]", one, other


def _has_moved(left: list[Json], right: list[Json]) -> bool:
    """Return whether behind the first difference more elements are equal one place or more further on."""
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    at = next(
        (number for number, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), 0
    )
    further = at + len(longer) - len(shorter)
    here, there = (list(map(eq, longer[start:], shorter[at:])) for start in (at, further))
    return here.count(True) <= there.count(True)


_NUMBER: Final = re.compile(r"-?[0-9]{1,20}")


def shape_of(found: ValueDifference) -> str:
    """Return how a value differs, in a few words that do not depend on the values.

    Two bugs in one field mostly have two shapes: null for empty, a sign, a number that is off by a power of
    two. Numbers are decimal text, as bytes in hex may look too; their shape is then that of numbers.
    """
    want, got = found.want, found.got
    if not (isinstance(want, str) and isinstance(got, str) and want and got):
        return f"{_sort_of(got)} for {_sort_of(want)}"
    if _NUMBER.fullmatch(want) and _NUMBER.fullmatch(got):
        return _shape_of_numbers(int(want), int(got))
    if len(want) == len(got):
        return "other"
    if want.startswith(got):
        return "cut"
    return "shorter" if len(got) < len(want) else "longer"


def _shape_of_numbers(want: int, got: int) -> str:
    off = abs(got - want)
    if got in (-want, ~want):
        return "sign"
    if off & (off - 1) == 0 and off <= 1 << 16:  # a bit; what lies above is mostly cut off
        return f"off by 2^{off.bit_length() - 1}"
    wrapped = next((bits for bits in (32, 16, 8) if off % (1 << bits) == 0), 0)
    return f"modulo 2^{wrapped}" if wrapped else "another number"


def _sort_of(value: JsonOrMissing) -> str:
    """Return `null`, `empty`, `nothing` or the type of a part of a value."""
    if value is MISSING:
        return "nothing"
    if value is None:
        return "null"
    return f"{value}".lower() if isinstance(value, bool) else type(value).__name__ if value else "empty"


def is_shorter(got: Json, want: Json) -> bool:
    """Return whether `got` differs from `want` only by shorter lists or by null."""
    pending: list[tuple[Json, Json]] = [(got, want)]
    while pending:
        left, right = pending.pop()
        if left is None:
            continue
        if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
            pending.extend((left[key], right[key]) for key in left)
        elif isinstance(left, list) and isinstance(right, list) and len(left) <= len(right):
            pending.extend(zip(left, right, strict=False))
        elif left != right:
            return False
    return True


def split_path(path: str) -> tuple[PathStep, ...]:
    """Split `records[0].key` into `("records", 0, "key")`."""
    return tuple(name or int(index) for name, index in _STEP.findall(path))


_PAIR: Final = {"key": 0, "value": 1}
"""A header is a pair in JSON, but codecs name its two parts."""


def value_at(value: Json, path: Sequence[PathStep]) -> JsonOrMissing:
    """Return the part of `value` at `path`, or `MISSING`."""
    part: JsonOrMissing = value
    for step in path:
        index = _PAIR.get(step, -1) if isinstance(step, str) else step
        if isinstance(part, dict):
            part = part.get(str(step), MISSING)
        elif isinstance(part, list) and 0 <= index < len(part):
            part = part[index]
        else:
            part = MISSING
    return part


def without_item_classes(scan: Json) -> Json:
    """Return the value of a scan without the classes of its garbage."""
    if not isinstance(scan, dict) or not isinstance(items := scan.get("items"), list):
        return scan
    bare: list[Json] = [
        {key: part for key, part in item.items() if key != "class"} if isinstance(item, dict) else item
        for item in items
    ]
    return {**scan, "items": bare}


def cut_to(got: Json, want: Json) -> Json:
    """Return `got` without the entries beyond `want`: a reader may deliver more before it rejects.

    Only whole entries, records or messages (objects) are cut; a header (a pair) is not.
    """
    match got, want:
        case dict(), dict():
            return {key: cut_to(part, want[key]) if key in want else part for key, part in got.items()}
        case list(), list() if all(isinstance(one, dict) for one in got):
            return [cut_to(one, two) for one, two in zip(got, want, strict=False)]
        case _:
            return got


def apply_remarks(want: Json, got: Json, remarks: Sequence[Remark]) -> tuple[Json, tuple[str, ...]]:
    """Return `want` with each allowed value that `got` has in its place, and the classes of those remarks."""
    applied: dict[str, None] = {}
    for remark in remarks:
        for other in remark.others:
            path = split_path(other.path)
            if value_at(want, path) in (MISSING, other.value) or value_at(got, path) != other.value:
                continue
            want = deepcopy(want) if not applied else want
            applied[remark.cls] = None
            if path:
                *outer, last = path
                match value_at(want, outer):
                    case dict() as mapping:
                        mapping[str(last)] = other.value
                    case list() as parts:
                        parts[_PAIR[last] if isinstance(last, str) else last] = other.value
            else:
                want = other.value
    return want, tuple(applied)


def scan_patterns(wanted: FieldTree) -> FieldTree:
    """Convert observation patterns of a stream's value into patterns of the items of its scan.

    A stream's value holds its frames in one list; an item holds one frame and four fields of its own.
    """
    if not wanted or "items" in wanted:
        return wanted
    frames = next((below["[]"] for below in wanted.values() if "[]" in below), wanted)
    item: FieldTree = {"kind": {}, "at": {}, "length": {}, "class": {}, "value": frames}
    return {"items": {"[]": item}}


MAX_TEXT: Final = 120
"""Maximum characters of one answer in a report."""

MAX_OUTPUT: Final = 400
"""Maximum characters of the last output of a dead process or its adapter."""


def shorten(text: str, most: int = MAX_TEXT) -> str:
    """Return `text` on one line of at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def short_expect(expect: Expect) -> str:
    match expect:
        case Accept(consumed=consumed):
            return f"accept{_used(consumed)}"
        case Reject(cls, also, at):
            where = "" if at is None else f" at {at}"
            return f"refuse {' or '.join((cls, *also))}{where}"
        case Either(behaviours):
            return shorten("one of " + ", ".join(known.id for known in behaviours))


def _used(consumed: int | None) -> str:
    return "" if consumed is None else f", {counted(consumed, 'byte', grouped=False)} consumed"


def short_outcome(outcome: Outcome) -> str:
    match outcome:
        case Accepted(data=bytes(data)):
            said = f"accept: {len(data)} bytes {data.hex()}"
        case Accepted(value, consumed):
            said = f"accept{_used(consumed)}: {short_value(value)}"
        case Refused(cls, at, path, detail, text):
            where = "" if at is None else f" at {at}"
            said = f"refuse {cls}{where} {path} {detail} {text}"
        case TimedOut(ms):
            said = f"no answer in {ms} ms"
        case Crashed(text):
            said = f"crashed: {text.removeprefix('died with ')}"
        case Exhausted(resource, text):
            said = text or f"used too much {resource}"
        case Faulty(text):
            said = text if text.startswith("invalid answer") else f"invalid answer: {text}"
        case _:
            said = f"{type(outcome).__name__.lower()}: {outcome.text}"
    return shorten(said)


_ENCODER: Final = JSONEncoder(separators=(",", ":"), skipkeys=True, check_circular=False, default=repr)
"""Encodes any object that an adapter in this process returns."""


def short_value(value: object) -> str:
    """Return the JSON text of a value, cut while it is encoded: the value of an adapter may be endless."""
    if value is MISSING:
        return repr(value)
    text = ""
    for piece in _ENCODER.iterencode(value):
        text += piece
        if len(text) > MAX_TEXT:
            break
    return shorten(text)


def short_field(found: ValueDifference) -> tuple[str, str]:
    """Return both sides of a difference as `name = value`; long texts from the place where they differ."""
    name = found.path or "value"
    want, got = found.want, found.got
    if isinstance(want, str) and isinstance(got, str) and max(len(want), len(got)) + len(name) > MAX_TEXT:
        return _from_difference(name, want, got), _from_difference(name, got, want)
    return f"{name} = {short_value(want)}", f"{name} = {short_value(got)}"


def _from_difference(name: str, text: str, other: str) -> str:
    """Return a text in hex around the first byte in which it differs from another, with the place of it."""
    pairs = enumerate(zip(text, other, strict=False))
    start = next((at for at, (one, two) in pairs if one != two), min(len(text), len(other))) // 2
    rest, size = text[2 * start :], len(text) // 2
    before = text[max(0, 2 * (start - 4)) : 2 * start]  # four bytes, and a bar behind them
    lead = f"{'…' if start > 4 else ''}{before}|" if before else ""
    shown = f'"{lead}{rest[:64]}{"…" if len(rest) > 64 else ""}"' + ("" if rest else " (end)")
    return f"{name} from byte {start:,} of {size:,} = {shown}"
