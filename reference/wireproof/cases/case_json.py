"""The cases of a fixture file, read from its JSON.

Reading is strict: an unknown key, a wrong type or a missing file is a `FixtureError` of one line that names
the file, the case and the fault.
"""

import hashlib
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import msgspec
from attrs import define, evolve, field, fields, frozen
from msgspec import Raw

from wireproof.cases.case import (
    OPTIONS_IN_CASES,
    Accept,
    Behaviour,
    Case,
    Chunks,
    Data,
    Either,
    Expect,
    Generated,
    Input,
    Level,
    Limits,
    Op,
    Reject,
    Source,
    Steps,
    Value,
)  # fmt: skip
from wireproof.cases.generated_bytes import Recipe
from wireproof.cases.made_case import GenerateError, check_generated
from wireproof.cases.steps import SEQUENCE, expectation_of, steps_of_json
from wireproof.files import UnreadableError, read_limited_bytes
from wireproof.strict_parsing import Reader, parse_json, refuse_repeated_keys
from wireproof.wire.options import DEFAULT_OPTIONS, Options, Profile

SCHEMA: Final = 1

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of one file."""

REQUIRED: Final = ("id", "title", "why", "op", "level", "rules", "source")
"""The fields that every case has in its file, beside input and expect, or steps."""


class FixtureError(ValueError):
    """A fixture file cannot be read; the message names the file, the case and the fault."""


@frozen
class _Page:
    """A fixture file."""

    schema: int
    format: str
    revision: str
    cases: tuple[Raw, ...]


_ABSENT: Final[Any] = msgspec.UNSET
"""The value of a field that is not there, where null is a value too."""


@define
class _InputFields:
    """An input in JSON: the fields of one of `_INPUTS`."""

    hex: bytes = _ABSENT
    value: Any = _ABSENT
    chunks: tuple[bytes, ...] = _ABSENT
    file: str = _ABSENT
    generate: Recipe = _ABSENT
    size: int = _ABSENT
    sha256: str = _ABSENT


@frozen
class _InputFile:
    """An input that lies in a file beside the case."""

    file: str
    sha256: str


_INPUT_NAMES: Final = tuple(attribute.name for attribute in fields(_InputFields))

_INPUTS: Final[Mapping[tuple[str, ...], type[Input | _InputFile]]] = {
    ("hex",): Data,
    ("value",): Value,
    ("chunks",): Chunks,
    ("file", "sha256"): _InputFile,
    ("generate", "size", "sha256"): Generated,
}
"""The class of an input, by the names of its fields."""


@define
class _BehaviourFields:
    """A permitted answer in JSON: one of its two last fields is there."""

    id: str
    accept: Accept = _ABSENT
    reject: Reject = _ABSENT


@define
class _EitherFields:
    """The expectation of a case whose answer is open."""

    behaviours: tuple[_BehaviourFields, ...]


@define
class _ExpectFields:
    """An expectation in JSON: one of its fields is there."""

    accept: Accept = _ABSENT
    reject: Reject = _ABSENT
    either: _EitherFields = _ABSENT


@define
class _CaseFields:
    """The fields of a case in JSON; format and revision are those of its file."""

    id: str
    title: str
    why: str
    op: Op
    level: Level
    rules: tuple[str, ...]
    source: Raw
    input: _InputFields | None = None
    expect: _ExpectFields | None = None
    steps: Steps | None = None
    options: Options = DEFAULT_OPTIONS
    limits: Limits = field(default=Limits())
    profile: Profile = "reader"
    flags: tuple[str, ...] = ()
    twin: str | None = None
    needs: tuple[str, ...] = ()


_LATER: Final = ("source", "input", "expect", "steps", "options", "limits")
"""The fields of a case that are read when one of them is asked for."""

_COPIED: Final = tuple(attribute.name for attribute in fields(_CaseFields) if attribute.name not in _LATER)
_copied: Final = attrgetter(*_COPIED)


def _unread(
    text: Raw, head: _CaseFields, format_: tuple[str, str], here: Path | None, file: Path | None = None
) -> Case:
    """Return a case of whose JSON only the head is read; without a folder `here` it may name no file."""
    names = (*_COPIED, "format", "revision", "parent", "family")
    known = dict(zip(names, (*_copied(head), *format_, None, None), strict=True))
    return Case.unread(known, partial(_rest, text, here, file))


def _rest(text: Raw, here: Path | None, file: Path | None, case: Case, _: str) -> Mapping[str, object]:
    """Return the parts that an unread case does not have yet."""
    try:
        read = _READER.decode(text, _CaseFields, "case")
        given, expect = _input_and_expect(read)
        options, profile = read.options, read.profile
        return {
            "input": _load(given, here) if isinstance(given, _InputFile) else given,
            "expect": expect,
            "source": _source(bytes(read.source)),
            "options": options if options.profile == profile else evolve(options, profile=profile),
            "limits": read.limits,
        }
    except (OSError, ValueError) as error:
        where = "" if file is None else f"{file}: {case.id}: "
        raise FixtureError(f"{where}{error}") from None


@lru_cache(maxsize=4096)
def _source(text: bytes) -> Source:
    """Return the source of a case; four cases have the same."""
    return _READER.decode(text, Source, "source", at="source")


def _input_and_expect(read: _CaseFields) -> tuple[Input | _InputFile, Expect]:
    """Return input and expectation: those of a sequence are in its steps."""
    if (read.op == SEQUENCE) != (read.steps is not None):
        raise ValueError(f"steps belong to the op {SEQUENCE}, and to no other")
    if read.steps is not None:
        if read.input is not None or read.expect is not None:
            raise ValueError("a case with steps has neither input nor expect of its own")
        return read.steps, expectation_of(read.steps.steps)
    if read.input is None or read.expect is None:
        raise ValueError("must have input and expect")
    parts = {name: part for name in _INPUT_NAMES if (part := getattr(read.input, name)) is not _ABSENT}
    kind = _INPUTS.get(tuple(parts))
    if kind is None:
        raise ValueError(
            "input must have exactly one of "
            "hex, file with sha256, value, chunks, generate with size and sha256"
        )
    return kind(*parts.values()), _expect(read.expect)


def _expect(read: _ExpectFields) -> Expect:
    answers = [part for part in (read.accept, read.reject, read.either) if part is not _ABSENT]
    match answers:
        case [Accept() | Reject() as answer]:
            return answer
        case [_EitherFields(behaviours)]:
            found = []
            for number, row in enumerate(behaviours):
                if (row.accept is _ABSENT) == (row.reject is _ABSENT):
                    raise ValueError(f"expect.either.behaviours[{number}] must have one of accept, reject")
                found.append(Behaviour(row.id, row.reject if row.accept is _ABSENT else row.accept))
            return Either(tuple(found))
    raise ValueError("expect must have exactly one of accept, reject, either")


def read(path: Path) -> list[Case]:
    """Return the cases of one file, read as a whole; raises `FixtureError`."""
    cases = [*read_heads(path)]
    try:
        refuse_repeated_keys(read_limited_bytes(path, MAX_FILE_BYTES))
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {error}") from None
    for case in cases:
        try:
            check_generated(case)
        except GenerateError as error:
            raise FixtureError(f"{path}: {case.id}: {error}") from None
    return cases


def read_heads(path: Path) -> Iterator[Case]:
    """Yield the cases of one file; what they expect is read when it is asked for. Raises `FixtureError`."""
    try:
        page = _READER.decode(read_limited_bytes(path, MAX_FILE_BYTES), _Page, "the file")
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {error}") from None
    if page.schema != SCHEMA:
        raise FixtureError(f"{path}: must have schema {SCHEMA}")
    for number, row in enumerate(page.cases, 1):
        try:
            head = _HEADS.decode(row, _CaseFields, "case")
        except ValueError as error:
            tree = parse_json(bytes(row))
            name = tree.get("id", f"case {number}") if isinstance(tree, dict) else f"case {number}"
            raise FixtureError(f"{path}: {name}: {error}") from None
        yield _unread(row, head, (page.format, page.revision), path.parent, path)


def case_from_json(row: object, form: str, revision: str, here: Path | None) -> Case:
    """Return the case of one JSON object; without a folder `here` it may name no file. Raises ValueError."""
    text = Raw(msgspec.json.encode(row))
    case = _unread(text, _HEADS.decode(text, _CaseFields, "case"), (form, revision), here)
    check_generated(case)
    return case


def _load(named: _InputFile, here: Path | None) -> Data:
    if here is None:
        raise ValueError("a token cannot refer to a local file")
    if Path(named.file).name != named.file:
        raise ValueError(f"{named.file} is not the name of a file beside the case")
    try:
        data = read_limited_bytes(here / named.file, MAX_FILE_BYTES)
    except UnreadableError as error:
        raise ValueError(f"{named.file}: {error}") from None
    if hashlib.sha256(data).hexdigest() != named.sha256:
        raise ValueError(f"{named.file} has another sha256 than the case says")
    return Data(data)


_READER: Final = Reader(
    {
        (Accept, "value"): Any,
        (Reject, "before"): Any,
        (_CaseFields, "steps"): steps_of_json,
        **OPTIONS_IN_CASES,
    }
)
_HEADS: Final = Reader({(_CaseFields, name): Raw for name in _LATER})
"""Reads the head of a case: the other fields are there, and nothing more is known of them."""
