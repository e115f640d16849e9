"""The loader of fixtures: folders of fixture files as cases, read when somebody asks for them."""

import hashlib
import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from attrs import field, fields, frozen

import wireproof
from wireproof.cases.case import Case, LazyFields, Level
from wireproof.cases.case_json import MAX_FILE_BYTES, FixtureError, read, read_heads
from wireproof.cases.rules import (
    ID_COMPONENT,
    SOURCES_FILE,
    Rule,
    SourceDocument,
    Sources,
    read_rules,
    read_sources,
)
from wireproof.family import Family
from wireproof.files import read_limited_bytes
from wireproof.formats import FAMILIES
from wireproof.strict_parsing import parse_json

T = TypeVar("T")

FIXTURE_GLOBS: Final = ("sources.toml", "*/rules.toml", "*/*/*.json", "*/*/*.bin")
"""The files of a folder of fixtures that define expectations."""

FROZEN: Final = "frozen.json"
"""The file with the digests of frozen inputs in a folder of fixtures, see `frozen`."""


@frozen
class Suite(LazyFields):
    """All the fixtures; those of `load` are read when they are asked for, and those of a format together.

    Cases are sorted by id; other tables are by id or key. `hash` is blake2b over every fixture file, its
    rules and its long inputs. `formats` reads single formats; it is None if the cases were given.
    """

    cases: tuple[Case, ...]
    rules: Mapping[str, Rule]
    files: Mapping[str, Path]
    hash: str
    frozen: Mapping[str, str] = field(factory=dict)
    sources: Sources = field(factory=dict)
    formats: "FixtureFormats | None" = field(default=None, init=False, eq=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process needs: it reads the folders itself, if there are any."""
        if self.formats is not None:
            return Suite.of_folders, (self.formats,)
        return Suite, tuple(getattr(self, one.name) for one in fields(Suite) if one.init)

    @classmethod
    def of_folders(cls, formats: "FixtureFormats") -> Self:
        return cls.unread({"formats": formats}, formats.field)

    @cached_property
    def by_id(self) -> Mapping[str, Case]:
        return {case.id: case for case in self.cases} if self.formats is None else self.formats.by_id

    @cached_property
    def by_rule(self) -> Mapping[str, Sequence[Case]]:
        found: dict[str, list[Case]] = {}
        for case in self.cases:
            for name in dict.fromkeys(case.rules):
                found.setdefault(name, []).append(case)
        return found

    @cached_property
    def roots(self) -> Sequence[Path]:
        """Return the folders of fixtures that have cases, in the order in which they were read."""
        if self.formats is not None:
            return self.formats.roots
        return tuple(dict.fromkeys(path.parents[2] for path in self.files.values()))

    def of_formats(self, wanted: Callable[[str], object]) -> tuple[Case, ...]:
        """Return the cases of the formats, such as `kafka.batch`, that are wanted; others are not read."""
        if self.formats is None:
            return tuple(case for case in self.cases if wanted(case.id.partition("/")[0]))
        return self.formats.cases([name for name in self.formats.folders if wanted(name)])

    def hash_of(self, cases: Iterable[Case]) -> str:
        """Return the hash of the files of the formats of some cases; of all formats it is `hash`."""
        if self.formats is None:
            return self.hash
        return self.formats.hash_of({case.id.partition("/")[0] for case in cases})


class FixtureFormats:
    """The formats of some folders of fixtures, each read when it is asked for."""

    def __init__(self, shipped: Sequence[Path], further: Sequence[Path]) -> None:
        """List the formats of folders of a package, and of folders whose files `check` reads."""
        self._roots = {**dict.fromkeys(shipped, False), **dict.fromkeys(further, True)}
        self.folders: dict[str, list[Path]] = {}
        for root in self._roots:
            for path in sorted(root.glob("*/")):
                self.folders.setdefault(path.name, []).append(path)
        self._read: dict[str, Mapping[str, tuple[Case, Path]]] = {}
        self.by_id: Mapping[str, Case] = ReadInParts(
            self.folders,
            lambda case_id: [case_id.partition("/")[0]],
            lambda name: {case_id: case for case_id, (case, _) in self.of(name).items()},
        )

    @property
    def roots(self) -> Sequence[Path]:
        """Return the folders that have cases; none of them is read."""
        return tuple(root for root in self._roots if any(root.glob("*/*/*.json")))

    def check(self) -> None:
        """Read the formats of the folders that are checked at once."""
        for name, folders in self.folders.items():
            if any(self._roots[folder.parent] for folder in folders):
                self.of(name)

    def __reduce__(self) -> tuple[type[Self], tuple[list[Path], list[Path]]]:
        """Send another process the folders, and not what was read of them."""
        shipped = [root for root, checked in self._roots.items() if not checked]
        return type(self), (shipped, [root for root in self._roots if root not in shipped])

    def of(self, name: str) -> Mapping[str, tuple[Case, Path]]:
        if name not in self._read:
            found: dict[str, tuple[Case, Path]] = {}
            for folder in self.folders.get(name, ()):
                for path in sorted(folder.glob("*/*.json")):
                    place = place_of(path)
                    if not all(map(_PLAIN.fullmatch, place.split("/"))):
                        raise FixtureError(f"{path}: its place is no plain path, {place}")
                    for case in read(path) if self._roots[folder.parent] else read_heads(path):
                        head, _, own = case.id.rpartition("/")  # pages and files are named by it
                        if head != place or not _PLAIN.fullmatch(own):
                            raise FixtureError(f"{path}: {case.id}: its id does not fit its file, {place}")
                        if not place.startswith(f"{case.format}/{case.revision}/"):
                            text = f"its file says {case.format_id} and lies under {place.rpartition('/')[0]}"
                            raise FixtureError(f"{path}: {case.id}: {text}")
                        if case.id in found:
                            raise FixtureError(f"{path}: {case.id} is in {found[case.id][1]} too")
                        found[case.id] = case, path
            self._read[name] = found
        return self._read[name]

    def cases(self, names: Iterable[str]) -> tuple[Case, ...]:
        found = {case_id: case for name in names for case_id, (case, _) in self.of(name).items()}
        return tuple(found[case_id] for case_id in sorted(found))

    def hash_of(self, names: Container[str]) -> str:
        seal = hashlib.blake2b(digest_size=16)
        for root in self._roots:
            # The digest of name and bytes of the files of some formats, independent of the folder's place.
            digest = hashlib.blake2b(digest_size=16)
            for path in fixture_files(root):
                place = path.relative_to(root)
                if len(place.parts) > 1 and place.parts[0] not in names:
                    continue
                try:
                    data = read_limited_bytes(path, MAX_FILE_BYTES)
                except OSError as error:
                    raise FixtureError(f"{path}: {error}") from None
                digest.update(f"{place.as_posix()} {len(data)}\n".encode() + data)
            seal.update(digest.digest())
        return seal.hexdigest()

    def field(self, _: Suite, name: str) -> Mapping[str, object]:
        """Return a field of a suite of these folders, as `LazyFields` asks for it."""
        return {name: getattr(self, f"_{name}")()}

    def _cases(self) -> tuple[Case, ...]:
        return self.cases(self.folders)

    def _files(self) -> Mapping[str, Path]:
        rows = (row for name in self.folders for row in self.of(name).items())
        roots = list(self._roots)
        paths = {case_id: path for case_id, (_, path) in rows}
        return dict(sorted(paths.items(), key=lambda row: (roots.index(row[1].parents[2]), row[1])))

    def _rules(self) -> Mapping[str, Rule]:
        """Return the rules; most ids of rules begin with the family whose formats have the rule."""
        if any(self._roots.values()):
            return self._rules_of("")
        families = dict.fromkeys(map(_family_of, self.folders))

        def parts(name: str) -> list[str]:
            return sorted(families, key=lambda family: family != _family_of(name))

        return ReadInParts(families, parts, self._rules_of)

    def _rules_of(self, family: str) -> Mapping[str, Rule]:
        """Return the rules of the formats of a family; of all for an empty name."""
        rules: dict[str, Rule] = {}
        for root in self._roots:
            for path in sorted(root.glob(f"{family}*/rules.toml")):
                for rule in _rules(path) if family in {"", _family_of(path.parent.name)} else ():
                    if rule.id in rules:
                        raise FixtureError(f"{path}: the rule {rule.id} is in another file too")
                    rules[rule.id] = rule
        return rules

    def _hash(self) -> str:
        return self.hash_of(self.folders)

    def _frozen(self) -> Mapping[str, str]:
        return {name: digest for root in self._roots for name, digest in read_frozen(root / FROZEN).items()}

    def _sources(self) -> Sources:
        found: dict[str, SourceDocument] = {}
        for root in self._roots:
            try:
                found |= read_sources(root / SOURCES_FILE)
            except (OSError, ValueError) as error:
                raise FixtureError(f"{root / SOURCES_FILE}: {error}") from None
        return found


def _family_of(name: str) -> str:
    return name.partition(".")[0]


class ReadInParts(Mapping[str, T]):
    """A mapping whose parts are read when a key of them is asked for."""

    def __init__(
        self,
        parts: Iterable[str],
        places: Callable[[str], Iterable[str]],
        read: Callable[[str], Mapping[str, T]],
    ) -> None:
        """Name the parts in order; `places` returns those that may have a key, `read` reads one."""
        self._parts = dict.fromkeys(parts)
        self._places = places
        self._read = cache(read)

    def __getitem__(self, key: str) -> T:
        for part in self._places(key):
            if part in self._parts and key in (found := self._read(part)):
                return found[key]
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        for part in self._parts:
            yield from self._read(part)

    def __reduce__(self) -> tuple[type[dict[str, T]], tuple[dict[str, T]]]:
        return dict, (dict(self),)

    def __len__(self) -> int:
        return sum(len(self._read(part)) for part in self._parts)


def fixtures_folder() -> Path:
    """Return the fixtures of this package: those in the wheel if they exist, else those of the checkout."""
    package = Path(wireproof.__file__).parent
    packaged = package / "_fixtures"
    return packaged if packaged.is_dir() else package.parents[1] / "fixtures"


def own_folders(families: Iterable[Family] | None = None) -> tuple[Path, ...]:
    """Return the folder of this package, and those of families of other packages; by default of all."""
    of_families = (family.fixtures for family in (FAMILIES.of_others() if families is None else families))
    return (fixtures_folder(), *(folder for folder in of_families if folder is not None))


def _all_roots(own: Sequence[Path], further: Sequence[Path]) -> list[Path]:
    there = {root.resolve() for root in own}
    return [*own, *(root for root in further if root.resolve() not in there)]


def load(
    further: Sequence[Path] = (),
    own: Path | None = None,
    *,
    checked: bool = False,
    without: Sequence[Path] = (),
) -> Suite:
    """Return the fixtures of the package, of the families and of further folders; raises `FixtureError`.

    `own` replaces the folders of the package and of the families. Of these two, what is asked for is read
    when it is: `lint` keeps them free of faults. All other folders are checked here; with `checked` all are.
    The folders `without` are left out, also if they are those of a family.
    """
    left_out = {folder.resolve() for folder in without}
    shipped = own_folders() if own is None else (own,)
    shipped = tuple(folder for folder in shipped if folder.resolve() not in left_out)
    roots = _all_roots(shipped, further)
    lazy = len(shipped) if own is None and not checked else 0
    formats = FixtureFormats(roots[:lazy], roots[lazy:])
    suite = Suite.of_folders(formats)
    if roots[lazy:]:
        _ = suite.rules, suite.frozen, suite.sources
        formats.check()
    return suite


@cache
def obligations() -> Mapping[str, Level]:
    """Return the level of each rule that an answer must keep in every case; raises `FixtureError`."""
    paths = (path for root in own_folders() for path in sorted(root.glob("*/rules.toml")))
    return {rule.id: rule.level for path in paths for rule in _rules(path) if rule.level}


def cases_of_format(format_id: str, further: Sequence[Path] = ()) -> Iterator[Case]:
    """Yield the cases of one format from its files, loading only its family; raises `FixtureError`."""
    family = FAMILIES.get(format_id.partition(".")[0])
    for root in _all_roots(own_folders(() if family is None else (family,)), further):
        for path in sorted(root.glob(f"{format_id}/*.json")):
            yield from read_heads(path)


_PLAIN: Final = re.compile(ID_COMPONENT)


def fixture_files(root: Path) -> list[Path]:
    """Return the files of a folder of fixtures with expectations: rules, cases and long inputs."""
    return sorted(path for pattern in FIXTURE_GLOBS for path in root.glob(pattern))


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
        raise FixtureError(f"{path}: must be an object of ids and digests")
    return page


def completions(root: Path, beginning: str) -> list[str]:
    """Return the ids in a folder of fixtures with this beginning, cut after the part that is being typed."""
    depth = beginning.count("/") + 1
    paths = sorted(root.glob("*/*/*.json"))
    names = [place_of(path) for path in paths]
    if depth > 3:  # a file names the format, the revision and the topic
        chosen = [path for path in paths if place_of(path) == beginning.rpartition("/")[0]]
        names = [row["id"] for path in chosen for row in json.loads(path.read_text("utf-8"))["cases"]]
    heads = ("/".join(name.split("/")[:depth]) for name in names if name.startswith(beginning))
    return list(dict.fromkeys(heads))


def place_of(path: Path) -> str:
    """Return format, revision and topic of a fixture file."""
    return f"{path.parent.parent.name}/{path.parent.name}/{path.stem}"
