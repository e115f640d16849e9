"""The loader of fixtures: fixture files as cases.

Reading is strict: an unknown key, a wrong type or a missing file is a `FixtureError` of one line that names
the file, the case and the fault.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import cattrs
from attrs import evolve, field, fields, frozen

import wireproof
from wireproof.cases.case import (
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
from wireproof.cases.history import HISTORY_FILE, Bug, read_history
from wireproof.cases.made_case import check_generated
from wireproof.cases.rules import ID_COMPONENT, Rule, read_rules
from wireproof.cases.sources import SOURCES_FILE, SourceDocument, Sources, read_sources
from wireproof.cases.steps import SEQUENCE, expectation_of, steps_of_json
from wireproof.family import Family
from wireproof.files import read_limited_bytes
from wireproof.formats import FAMILIES
from wireproof.safe_parsing import parse_json
from wireproof.strict_converter import object_hook, strict_converter, structure, unchanged
from wireproof.wire.options import DEFAULT_OPTIONS, Options, Profile
from wireproof.wire.options_json import OPTIONS_IN_CASES

SCHEMA: Final = 1

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of one file."""

FIXTURE_GLOBS: Final = ("sources.toml", "*/rules.toml", "*/*/*.json", "*/*/*.bin")
"""The files of a folder of fixtures that define expectations."""

FROZEN: Final = "frozen.json"
"""The file with the digests of frozen inputs in a folder of fixtures, see `frozen`."""

REQUIRED: Final = ("id", "title", "why", "op", "level", "rules", "source")
"""The fields that every case has in its file, beside input and expect, or steps."""


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
        sources: the documents that rules cite, by their keys.
        history: known bugs of implementations, and the cases that catch them.
    """

    cases: tuple[Case, ...]
    rules: Mapping[str, Rule]
    files: Mapping[str, Path]
    hash: str
    aliases: Mapping[str, str] = field(factory=dict)
    frozen: Mapping[str, str] = field(factory=dict)
    sources: Sources = field(factory=dict)
    history: tuple[Bug, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Case]:
        """Return every case by its id."""
        return {case.id: case for case in self.cases}

    @cached_property
    def by_rule(self) -> Mapping[str, Sequence[Case]]:
        """Return the cases of each rule that has some, sorted by id."""
        found: dict[str, list[Case]] = {}
        for case in self.cases:
            for name in dict.fromkeys(case.rules):
                found.setdefault(name, []).append(case)
        return found

    @cached_property
    def roots(self) -> Sequence[Path]:
        """Return the folders of fixtures that have cases, in the order in which they were read."""
        return tuple(dict.fromkeys(path.parents[2] for path in self.files.values()))

    def get(self, name: str) -> Case | None:
        """Return the case of an id or an alias; None if there is none."""
        return self.by_id.get(self.aliases.get(name, name))


def fixtures_folder() -> Path:
    """Return the fixtures of this package: those in the wheel if they exist, else those of the checkout."""
    package = Path(wireproof.__file__).parent
    packaged = package / "_fixtures"
    return packaged if packaged.is_dir() else package.parents[1] / "fixtures"


def own_folders(families: Iterable[Family] | None = None) -> tuple[Path, ...]:
    """Return the folder of this package, and those of families of other packages; by default of all."""
    of_families = (family.fixtures for family in (FAMILIES.values() if families is None else families))
    return (fixtures_folder(), *(folder for folder in of_families if folder is not None))


def _roots(own: Sequence[Path], further: Sequence[Path]) -> list[Path]:
    """Return all folders; a further one that is there already is read once."""
    there = {root.resolve() for root in own}
    return [*own, *(root for root in further if root.resolve() not in there)]


def load(further: Sequence[Path] = (), own: Path | None = None) -> Suite:
    """Load the fixtures of the package, of the families and of further folders; raises `FixtureError`.

    `own` replaces the folders of the package and of the families.
    """
    cases: dict[str, Case] = {}
    files: dict[str, Path] = {}
    rules: dict[str, Rule] = {}
    frozen: dict[str, str] = {}
    sources: dict[str, SourceDocument] = {}
    history: list[Bug] = []
    seal = hashlib.blake2b(digest_size=16)
    for root in _roots((own,) if own is not None else own_folders(), further):
        for path in sorted(root.glob("*/rules.toml")):
            for rule in _rules(path):
                if rule.id in rules:
                    raise FixtureError(f"{path}: the rule {rule.id} is in another file too")
                rules[rule.id] = rule
        frozen |= read_frozen(root / FROZEN)
        sources |= _sources(root / SOURCES_FILE)
        history += _history(root / HISTORY_FILE)
        seal.update(_digest(root))
        for path in sorted(root.glob("*/*/*.json")):
            for case in read(path):
                _check_place(case, path)
                if case.id in cases:
                    raise FixtureError(f"{path}: {case.id} is in {files[case.id]} too")
                cases[case.id], files[case.id] = case, path
    ordered = tuple(cases[name] for name in sorted(cases))
    aliases = {alias: case.id for case in ordered for alias in case.aliases}
    return Suite(ordered, rules, files, seal.hexdigest(), aliases, frozen, sources, tuple(history))


@cache
def obligations() -> Mapping[str, Level]:
    """Return the level of each rule that an answer must keep in every case; raises `FixtureError`."""
    paths = (path for root in own_folders() for path in sorted(root.glob("*/rules.toml")))
    return {rule.id: rule.level for path in paths for rule in _rules(path) if rule.level}


def cases_of_format(format_id: str, further: Sequence[Path] = ()) -> Iterator[Case]:
    """Yield the cases of one format, such as `kafka.batch/v2`, from its files; raises `FixtureError`.

    Only the family of the format is loaded.
    """
    family = FAMILIES.get(format_id.partition(".")[0])
    for root in _roots(own_folders(() if family is None else (family,)), further):
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


def _sources(path: Path) -> dict[str, SourceDocument]:
    try:
        return read_sources(path)
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {error}") from None


def _history(path: Path) -> tuple[Bug, ...]:
    try:
        return read_history(path)
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
        raise FixtureError(f"{path}: must be an object of ids and digests")
    return page


def read(path: Path) -> list[Case]:
    """Return the cases of one file; raises `FixtureError`."""
    try:
        page = parse_json(read_limited_bytes(path, MAX_FILE_BYTES), pairs=_once)
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {error}") from None
    if not isinstance(page, dict) or set(page) != {"schema", "format", "revision", "cases"}:
        raise FixtureError(f"{path}: must have schema, format, revision and cases, and nothing else")
    if page["schema"] != SCHEMA or not isinstance(page["cases"], list):
        raise FixtureError(f"{path}: must have schema {SCHEMA} and a list of cases")
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
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {name}: {error}") from None


def case_from_json(row: object, form: str, revision: str, here: Path | None) -> Case:
    """Return the case of one JSON object; raise ValueError, or OSError if its input file cannot be read.

    `here` is the folder of its input file; None forbids files, as for a token from an untrusted source.
    """
    read = structure(_CONVERTER, row, _CaseFields, "case")
    given, expect = _input_and_expect(read)
    texts = {name: getattr(read, name) for name in _COPIED}
    case = Case(
        format=form,
        revision=revision,
        input=_load(given, here) if isinstance(given, _InputFile) else given,
        expect=expect,
        options=evolve(read.options, profile=read.profile),
        **texts,
    )
    check_generated(case)
    return case


def _input_and_expect(read: "_CaseFields") -> tuple["Input | _InputFile", Expect]:
    """Return input and expectation: those of a sequence are in its steps."""
    if (read.op == SEQUENCE) != (read.steps is not None):
        raise ValueError(f"steps belong to the op {SEQUENCE}, and to no other")
    if read.steps is None:
        if read.input is None or read.expect is None:
            raise ValueError("must have input and expect")
        return read.input, read.expect
    if read.input is not None or read.expect is not None:
        raise ValueError("a case with steps has neither input nor expect of its own")
    return read.steps, expectation_of(read.steps.steps)


# --- the JSON of a case ---


@frozen
class _InputFile:
    """An input that lies in a file beside the case."""

    file: str
    sha256: str


@frozen
class _CaseFields:
    """The fields of a case in JSON; format and revision are those of its file."""

    id: str
    title: str
    why: str
    op: Op
    level: Level
    rules: tuple[str, ...]
    source: Source
    input: Input | _InputFile | None = None
    expect: Expect | None = None
    steps: Steps | None = None
    aliases: tuple[str, ...] = ()
    profile: Profile = "reader"
    options: Options = DEFAULT_OPTIONS
    flags: tuple[str, ...] = ()
    twin: str | None = None
    needs: tuple[str, ...] = ()
    limits: Limits = field(default=Limits())


_COPIED: Final = frozenset(one.name for one in fields(_CaseFields)) - {"input", "options", "expect", "steps"}


def _load(named: _InputFile, here: Path | None) -> Data:
    """Return the bytes of an input file."""
    if here is None:
        raise ValueError("a token cannot refer to a local file")
    if Path(named.file).name != named.file:
        raise ValueError(f"{named.file} is not the name of a file beside the case")
    data = read_limited_bytes(here / named.file, MAX_FILE_BYTES)
    if hashlib.sha256(data).hexdigest() != named.sha256:
        raise ValueError(f"{named.file} has another sha256 than the case says")
    return Data(data)


_INPUTS: Final[Mapping[frozenset[str], type]] = {
    frozenset({"hex"}): Data,
    frozenset({"value"}): Value,
    frozenset({"chunks"}): Chunks,
    frozenset({"file", "sha256"}): _InputFile,
    frozenset({"generate", "size", "sha256"}): Generated,
}
"""The class of an input, by the names of its fields."""


def _input(tree: object, _: object) -> object:
    kind = _INPUTS.get(frozenset(tree)) if isinstance(tree, dict) else None
    if kind is None:
        raise ValueError(
            "must have exactly one of hex, file with sha256, value, chunks, generate with size and sha256"
        )
    return _CONVERTER.structure(tree, kind)


def _expect(tree: object, _: object) -> object:
    match tree:
        case {"accept": body, **rest} if not rest:
            return _CONVERTER.structure(body, Accept)
        case {"reject": body, **rest} if not rest:
            return _CONVERTER.structure(body, Reject)
        case {"either": body, **rest} if not rest:
            return _CONVERTER.structure(body, Either)
    raise ValueError("must have exactly one of accept, reject, either")


def _behaviour(tree: object, _: object) -> Behaviour:
    match tree:
        case {"id": str(name), "accept": body, **rest} if not rest:
            return Behaviour(name, _CONVERTER.structure(body, Accept))
        case {"id": str(name), "reject": body, **rest} if not rest:
            return Behaviour(name, _CONVERTER.structure(body, Reject))
    raise ValueError("must have an id, and one of accept, reject")


def _converter() -> cattrs.Converter:
    converter = strict_converter()
    for kind, name in ((Accept, "value"), (Reject, "before"), (Value, "value")):
        converter.register_structure_hook(kind, object_hook(kind, converter, **{name: unchanged}))
    converter.register_structure_hook(Generated, object_hook(Generated, converter, list_name=None))
    converter.register_structure_hook(Options, OPTIONS_IN_CASES)
    converter.register_structure_hook(Steps | None, lambda rows, _: steps_of_json(rows))
    converter.register_structure_hook(Behaviour, _behaviour)
    converter.register_structure_hook_func(lambda kind: kind in (Expect, Expect | None), _expect)
    converter.register_structure_hook_func(
        lambda kind: kind in (Input | _InputFile, Input | _InputFile | None), _input
    )
    return converter


_CONVERTER: Final = _converter()
