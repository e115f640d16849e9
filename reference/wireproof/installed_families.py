"""Find the installed families of formats: those of this package, then those of other packages.

Another package provides a family as an entry point of the group `wireproof.formats`. If its family cannot be
used, the others still work, and `INSTALLED.faults` has one line about it. A family of this package is
imported when it is asked for, those of other packages when all are: a command often needs a single one.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, Final

from attrs import frozen

from wireproof.family import Family, object_at
from wireproof.wire.remark_classes import register
from wireproof.wire.text import one_line

GROUP: Final = "wireproof.formats"

OWN: Final = ("kafka", "iggy", "heka")
"""The families of this package, in the order in which they are listed.

They are entry points too. But the package must work without its metadata: from a checkout, from an archive on
the path, and in an adapter's own Python.
"""


@frozen
class FamilyFault:
    """A family that cannot be used: the package that provides it, and the reason in one line."""

    package: str
    text: str

    def __str__(self) -> str:
        return f"{self.package}: {self.text}"


@frozen
class Provider:
    """A family that a package provides by an entry point; `load` returns it, and may raise anything."""

    package: str
    name: str
    load: Callable[[], Any]
    module: str = "wireproof"


def _own() -> Iterator[Provider]:
    for name in OWN:
        yield Provider("wireproof", name, partial(object_at, f"wireproof.{name}.suite:FAMILY"))


def _others(folders: Iterable[str]) -> Iterator[Provider]:
    """Yield the families of other packages, in the order of their names."""
    if not any(map(_provides, folders)):
        return
    from importlib.metadata import entry_points  # noqa: PLC0415 - see above

    for point in sorted(entry_points(group=GROUP)):
        package = point.dist.name if point.dist is not None else point.value
        if package != "wireproof":
            yield Provider(package, point.name, point.load, point.module)


def _provides(folder: str) -> bool:
    if os.path.isfile(folder):  # noqa: PTH113 - an archive: its metadata is read as usual
        return True
    files = (file for file in Path(folder or ".").glob("*-info/entry_points.txt"))
    return any(
        f"[{GROUP}]" in file.read_text(errors="replace")
        for file in files
        if not file.parent.name.startswith("wireproof-")
    )


class FamilyTable(MutableMapping[str, Family]):
    """Families by name, in the order of their providers; each of the first ones is loaded when asked for."""

    def __init__(self, first: Iterable[Provider], others: Callable[[], Iterable[Provider]]) -> None:
        """Load nothing yet; `others` is called when a name is unknown, or all families are needed."""
        self._first = {provider.name: provider for provider in first}
        self._waiting = dict(self._first)
        self._others: Callable[[], Iterable[Provider]] | None = others
        self._loaded: dict[str, Family] = {}
        self._faults: list[FamilyFault] = []
        self._packages: set[str] = set()
        self._lock = RLock()

    @property
    def faults(self) -> tuple[FamilyFault, ...]:
        self._load_all()
        return tuple(self._faults)

    @property
    def packages(self) -> frozenset[str]:
        self._load_all()
        return frozenset(self._packages - {"wireproof"})

    def of_others(self) -> list[Family]:
        """Return the families of other packages. Without any, those of this package are not loaded."""
        with self._lock:
            if self._others is not None:
                providers = tuple(self._others())
                self._others = lambda: providers
                if providers:
                    self._load_all()
        return [family for name, family in self._loaded.items() if name not in self._first]

    def __getitem__(self, name: str) -> Family:
        if (family := self._loaded.get(name)) is not None:
            return family
        if name in self._first:
            self._load_first(name)
        else:
            self._load_all()
        return self._loaded[name]

    def __setitem__(self, name: str, family: Family) -> None:
        self._loaded[name] = family

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names in order; a family is loaded when its turn comes."""
        for name in self._first:
            self._load_first(name)
            if name in self._loaded:
                yield name
        self._load_all()
        yield from [name for name in self._loaded if name not in self._first]

    def __len__(self) -> int:
        self._load_all()
        return len(self._loaded)

    def _load_first(self, name: str) -> None:
        with self._lock:
            if name in self._waiting:
                self._load(self._waiting[name])
                self._waiting.pop(name, None)

    def _load_all(self) -> None:
        with self._lock:
            for name in self._first:
                self._load_first(name)
            others, self._others = self._others, None
            for provider in others() if others is not None else ():
                self._load(provider)

    def _load(self, provider: Provider) -> None:
        try:
            family = provider.load()
        except Exception as error:  # noqa: BLE001 - a foreign package; the others still work
            reason = one_line(f"{type(error).__name__}: {error}", 300)
            self._faults.append(
                FamilyFault(provider.package, f"the family {provider.name} cannot be loaded: {reason}")
            )
            return
        if reason := _unfit(family, self._loaded):
            self._faults.append(
                FamilyFault(provider.package, f"the family {provider.name} is not used: {reason}")
            )
        else:
            self._loaded[family.name] = family
            self._packages.add(provider.module.partition(".")[0])


def _unfit(family: object, known: dict[str, Family]) -> str:
    """Return why a family cannot be used beside the known ones; empty if it can."""
    if not isinstance(family, Family):
        return f"its entry point is a {type(family).__name__}, not a wireproof.family.Family"
    if family.name in known:
        return f"there is a family {family.name} already"
    names = [fmt.format_id for fmt in family.formats]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        return f"it has the format {twice} twice"
    if other := next((fmt.format_id for fmt in family.formats if fmt.family != family.name), ""):
        return f"the name of its format {other} does not begin with {family.name}."
    try:
        register(family.remarks)
    except ValueError as error:
        return str(error)
    return ""


INSTALLED: Final = FamilyTable(_own(), lambda: _others(sys.path))
"""The families of this environment."""
