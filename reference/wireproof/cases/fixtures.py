"""The loader of fixtures: fixture files as cases.

Reading is strict: an unknown key, a wrong type or a missing file is a `FixtureError` of one line that names
the file, the case and the fault.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Any, Final

import cattrs
from attrs import evolve, field, frozen

import wireproof
from wireproof.cases.case import (
    Accept,
    Behaviour,
    Case,
    Chunks,
    Data,
    Either,
    Expect,
    Input,
    Limits,
    Reject,
    Source,
    Value,
    Witness,
)  # fmt: skip
from wireproof.cases.rules import ID_COMPONENT, Rule, read_rules
from wireproof.files import read_limited_bytes
from wireproof.safe_parsing import parse_json
from wireproof.wire.json_values import HEX_PATTERN, Json
from wireproof.wire.options_json import options_from_json
from wireproof.wire.reject_classes import REJECT_CLASSES

SCHEMA: Final = 1

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of one file."""

FIXTURE_GLOBS: Final = ("*/rules.toml", "*/*/*.json", "*/*/*.bin")
"""The files of a folder of fixtures that define expectations."""

FROZEN: Final = "frozen.json"
"""The file with the digests of frozen inputs in a folder of fixtures, see `frozen`."""

REQUIRED: Final = ("id", "title", "why", "op", "level", "rules", "input", "expect", "source")
OPTIONAL: Final = ("aliases", "profile", "options", "flags", "twin", "needs", "limits")


class FixtureError(ValueError):
    """A fixture file cannot be read; the message names the file, the case and the fault."""


@frozen
class Suite:
    """All the fixtures that were loaded.

    Attributes:
        cases: sorted by id.
        rules: by id.
        files: the file of each case, by its id.
        hash: blake2b over every fixture file, its rules and its long inputs, in hex.
        aliases: from each alias to its id.
        frozen: the digest of each frozen input, by id.
    """

    cases: tuple[Case, ...]
    rules: Mapping[str, Rule]
    files: Mapping[str, Path]
    hash: str
    aliases: Mapping[str, str] = field(factory=dict)
    frozen: Mapping[str, str] = field(factory=dict)

    @cached_property
    def by_id(self) -> Mapping[str, Case]:
        """Return every case by its id."""
        return {case.id: case for case in self.cases}

    def get(self, name: str) -> Case | None:
        """Return the case of an id or an alias; None if there is none."""
        return self.by_id.get(self.aliases.get(name, name))


def fixtures_folder() -> Path:
    """Return the fixtures of this package: those in the wheel if they exist, else those of the checkout."""
    package = Path(wireproof.__file__).parent
    packaged = package / "_fixtures"
    return packaged if packaged.is_dir() else package.parents[1] / "fixtures"


def load(further: Sequence[Path] = (), own: Path | None = None) -> Suite:
    """Load the fixtures of the package and of further folders; raises `FixtureError`.

    `own` replaces the folder of the package.
    """
    cases: dict[str, Case] = {}
    files: dict[str, Path] = {}
    rules: dict[str, Rule] = {}
    frozen: dict[str, str] = {}
    seal = hashlib.blake2b(digest_size=16)
    for root in (own or fixtures_folder(), *further):
        for path in sorted(root.glob("*/rules.toml")):
            for rule in _rules(path):
                if rule.id in rules:
                    raise FixtureError(f"{path}: the rule {rule.id} is in another file too")
                rules[rule.id] = rule
        frozen |= read_frozen(root / FROZEN)
        seal.update(_digest(root))
        for path in sorted(root.glob("*/*/*.json")):
            for case in read(path):
                _check_place(case, path)
                if case.id in cases:
                    raise FixtureError(f"{path}: {case.id} is in {files[case.id]} too")
                cases[case.id], files[case.id] = case, path
    ordered = tuple(cases[name] for name in sorted(cases))
    aliases = {alias: case.id for case in ordered for alias in case.aliases}
    return Suite(ordered, rules, files, seal.hexdigest(), aliases, frozen)


def cases_of_format(format_id: str, further: Sequence[Path] = ()) -> Iterator[Case]:
    """Yield the cases of one format, such as `kafka.batch/v2`, from its files; raises `FixtureError`."""
    for root in (fixtures_folder(), *further):
        for path in sorted(root.glob(f"{format_id}/*.json")):
            yield from read(path)


def _check_place(case: Case, path: Path) -> None:
    """Reject an id that does not match its file, or is no plain path: pages and files are named by it."""
    place = (path.parent.parent.name, path.parent.name, path.stem)
    parts = case.id.split("/")
    plain = all(re.fullmatch(ID_COMPONENT, part) for part in (*parts, case.format, case.revision))
    if not plain or len(parts) != 4 or tuple(parts[:3]) != place:
        raise FixtureError(f"{path}: {case.id}: its id does not fit its file, {'/'.join(place)}")
    if (case.format, case.revision) != place[:2]:
        raise FixtureError(
            f"{path}: {case.id}: its file says {case.format_id} and lies under {place[0]}/{place[1]}"
        )


def fixture_files(root: Path) -> list[Path]:
    """Return the files of a folder of fixtures with expectations: rules, cases and long inputs."""
    return sorted(path for pattern in FIXTURE_GLOBS for path in root.glob(pattern))


def _digest(root: Path) -> bytes:
    """Return the digest of name and bytes of every such file, independent of the folder's place."""
    digest = hashlib.blake2b(digest_size=16)
    for path in fixture_files(root):
        try:
            data = read_limited_bytes(path, MAX_FILE_BYTES)
        except OSError as error:
            raise FixtureError(f"{path}: {error}") from None
        digest.update(f"{path.relative_to(root).as_posix()} {len(data)}\n".encode() + data)
    return digest.digest()


def _rules(path: Path) -> Iterator[Rule]:
    try:
        yield from read_rules(path)
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {error}") from None


def read_frozen(path: Path) -> dict[str, str]:
    """Return the digests of a file of frozen cases; none if there is no file."""
    if not path.exists():
        return {}
    try:
        page = parse_json(read_limited_bytes(path, MAX_FILE_BYTES))
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {error}") from None
    if not isinstance(page, dict) or not all(isinstance(text, str) for text in page.values()):
        raise FixtureError(f"{path}: wants an object of ids and digests")
    return page


def read(path: Path) -> list[Case]:
    """Return the cases of one file; raises `FixtureError`."""
    try:
        page = parse_json(read_limited_bytes(path, MAX_FILE_BYTES), pairs=_once)
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {error}") from None
    if not isinstance(page, dict) or set(page) != {"schema", "format", "revision", "cases"}:
        raise FixtureError(f"{path}: wants schema, format, revision and cases, and nothing else")
    if page["schema"] != SCHEMA or not isinstance(page["cases"], list):
        raise FixtureError(f"{path}: wants schema {SCHEMA} and a list of cases")
    return [_case(path, page, row, number) for number, row in enumerate(page["cases"], 1)]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Reject a repeated key: JSON permits it, and the first value would be lost silently."""
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)} is repeated")
    return found


def _case(path: Path, page: Mapping[str, Any], row: Any, number: int) -> Case:  # noqa: ANN401 - JSON
    name = row.get("id", f"case {number}") if isinstance(row, dict) else f"case {number}"
    try:
        return case_from_json(row, str(page["format"]), str(page["revision"]), path.parent)
    except (cattrs.BaseValidationError, AttributeError, LookupError, OSError, TypeError, ValueError) as error:
        description = (
            "; ".join(cattrs.transform_error(error, path="case")) if _gathered(error) else str(error)
        )
        raise FixtureError(f"{path}: {name}: {description}") from None


def _gathered(error: Exception) -> bool:
    return isinstance(error, cattrs.BaseValidationError)


def case_from_json(row: Mapping[str, Any], form: str, revision: str, here: Path | None) -> Case:
    """Return the case of one JSON object; raises ValueError, LookupError or cattrs' errors.

    `here` is the folder of its input file; None forbids files, as for a token from an untrusted source.
    """
    _keys("case", row, REQUIRED, OPTIONAL)
    case = Case(
        id=_typed("id", row["id"], str),
        format=form,
        revision=revision,
        input=_input(row["input"], here),
        expect=expect_from_json(row["expect"]),
        **_read(_Texts, {key: row[key] for key in row if key in _TEXTS}),
    )
    extra: dict[str, Any] = {
        "options": evolve(options_from_json(row.get("options", {})), profile=case.profile),
        "source": _CONVERTER.structure(row["source"], Source),
        "limits": _CONVERTER.structure(row.get("limits", {}), Limits),
    }
    return evolve(case, **extra)


@frozen
class _Texts:
    """The keys of a case that are copied unchanged."""

    title: str
    why: str
    op: str
    level: str
    rules: tuple[str, ...]
    profile: str = "reader"
    flags: tuple[str, ...] = ()
    twin: str | None = None
    needs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


_TEXTS: Final = ("title", "why", "op", "level", "rules", "profile", "flags", "twin", "needs", "aliases")

_LISTS: Final = {"rules", "flags", "needs", "aliases"}

_WORDS: Final = {
    "op": ("decode", "encode", "scan"),
    "level": ("must", "should", "may", "info"),
    "profile": ("reader", "produce"),
}


def _read(cls: type, row: Mapping[str, Any]) -> dict[str, Any]:
    for name in _LISTS & row.keys():
        _texts(name, row[name])
    texts: Any = _CONVERTER.structure(row, cls)
    for name, words in _WORDS.items():
        if getattr(texts, name) not in words:
            raise ValueError(f"{name} wants one of {', '.join(words)}, not {getattr(texts, name)}")
    return {name: getattr(texts, name) for name in _TEXTS}


def _keys(what: str, row: Mapping[str, Any], required: Iterable[str], optional: Iterable[str] = ()) -> None:
    """Check that every required key is there, and no unknown one."""
    if not isinstance(row, dict):
        raise TypeError(f"{what} wants an object")
    missing, unknown = set(required) - set(row), set(row) - {*required, *optional}
    if missing or unknown:
        parts = [f"misses {', '.join(sorted(missing))}"] * bool(missing)
        parts += [f"has the unknown {', '.join(sorted(unknown))}"] * bool(unknown)
        raise ValueError(f"{what} {' and '.join(parts)}")


def _input(row: Mapping[str, Any], here: Path | None) -> Input:
    match dict(row):
        case {"hex": str(text), **rest} if not rest:
            return Data(_octets("hex", text))
        case {"file": str(name), "sha256": str(seal), **rest} if not rest:
            if here is None:
                raise ValueError("a token cannot refer to a local file")
            if Path(name).name != name:
                raise ValueError(f"{name} is not the name of a file beside the case")
            data = read_limited_bytes(here / name, MAX_FILE_BYTES)
            if hashlib.sha256(data).hexdigest() != seal:
                raise ValueError(f"{name} has another sha256 than the case says")
            return Data(data)
        case {"value": value, **rest} if not rest:
            return Value(value)
        case {"chunks": list(chunks), **rest} if not rest:
            return Chunks(tuple(_octets("chunks", chunk) for chunk in chunks))
    raise ValueError("input wants exactly one of hex, file with sha256, value, chunks")


def expect_from_json(row: Mapping[str, Any]) -> Expect:
    """Return an expectation from its JSON object."""
    match dict(row):
        case {"accept": dict(body), **rest} if not rest:
            return _accept(body)
        case {"reject": dict(body), **rest} if not rest:
            return _reject(body)
        case {"either": {"behaviours": list(behaviours)}, **rest} if not rest:
            return Either(tuple(_behaviour(behaviour) for behaviour in behaviours))
    raise ValueError("expect wants exactly one of accept, reject, either")


def _accept(row: dict[str, Any]) -> Accept:
    _keys("accept", row, (), ("value", "consumed", "remarks", "bytes"))
    data = tuple(_octets("bytes", text) for text in _texts("bytes", row.get("bytes", [])))
    consumed = _typed("consumed", row.get("consumed"), int, NoneType)
    return Accept(row.get("value"), consumed, _texts("remarks", row.get("remarks", [])), data)


def _reject(row: dict[str, Any]) -> Reject:
    _keys("reject", row, ("class",), ("also", "at", "before"))
    cls = _typed("class", row["class"], str)
    also: Any = _texts("also", row.get("also", []))
    for name in (cls, *also):
        if name not in REJECT_CLASSES:
            raise ValueError(f"{name} is no class")
    at = _typed("at", row.get("at"), int, str, NoneType)
    if isinstance(at, str) and not re.fullmatch(r"([0-9]+>)+[0-9]+", at):
        raise ValueError(f"at wants a position such as 17 or 61>3, not {at}")
    return Reject(cls, also, at, row.get("before"))


def _behaviour(row: dict[str, Any]) -> Behaviour:
    rest = {key: row[key] for key in row if key != "id"}
    expect = expect_from_json(rest)
    if isinstance(expect, Either):
        raise TypeError("a behaviour is an accept or a reject")
    return Behaviour(_typed("id", row["id"], str), expect)


def _typed(name: str, value: object, *kinds: type) -> Any:  # noqa: ANN401 - one of `kinds`
    if type(value) not in kinds:
        raise TypeError(
            f"{name} is a {type(value).__name__}, and wants {' or '.join(map(_type_name, kinds))}"
        )
    return value


def _octets(name: str, text: object) -> bytes:
    """Return bytes from lower-case hex; `bytes.fromhex` alone accepts capitals and blanks too."""
    if not isinstance(text, str):
        raise TypeError(f"{name} wants bytes as lower-case hex")
    if not re.fullmatch(HEX_PATTERN, text):
        raise ValueError(f"{name} wants bytes as lower-case hex")
    return bytes.fromhex(text)


def _type_name(kind: type) -> str:
    return {str: "a text", int: "a whole number", list: "a list", NoneType: "nothing"}[kind]


def _texts(name: str, value: object) -> tuple[str, ...]:
    return tuple(_typed(name, text, str) for text in _typed(name, value, list))


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    for kind in (str, int):
        converter.register_structure_hook(kind, _exactly)
    return converter


def _exactly(value: object, kind: type) -> object:
    if type(value) is not kind:
        raise ValueError(f"want {'a text' if kind is str else 'a whole number'}")
    return value


_CONVERTER: Final = _converter()

__all__ = [
    "FixtureError",
    "Json",
    "Suite",
    "Witness",
    "case_from_json",
    "cases_of_format",
    "expect_from_json",
    "fixtures_folder",
    "load",
    "read",
]
