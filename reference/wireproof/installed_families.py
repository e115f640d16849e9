"""Find the installed families of formats: those of this package, then those of other packages.

Another package provides a family as an entry point of the group `wireproof.formats`. If its family cannot be
used, the others still work, and `INSTALLED.faults` has one line about it.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof.family import Family, object_at
from wireproof.wire.remark_classes import register
from wireproof.wire.safe_text import one_line

GROUP: Final = "wireproof.formats"

OWN: Final = ("kafka", "iggy", "heka")
"""The families of this package, in the order in which they are listed.

They are entry points too. But the package must work without its metadata: from a checkout, from an archive on
the path, and in an adapter's own Python.
"""

MAX_REASON: Final = 300
"""Characters of the reason why a family cannot be loaded, which another package gives."""


@frozen
class FamilyFault:
    """A family that cannot be used: the package that provides it, and the reason in one line."""

    package: str
    text: str

    def __str__(self) -> str:
        """Return the line for a person."""
        return f"{self.package}: {self.text}"


@frozen
class InstalledFamilies:
    """The families by name, what cannot be used, and the top-level modules of families of other packages."""

    families: dict[str, Family]
    faults: tuple[FamilyFault, ...] = ()
    packages: frozenset[str] = frozenset()


@frozen
class Provider:
    """A family that a package provides.

    Attributes:
        package: the name of the package.
        name: that of the entry point.
        load: returns the family; it may raise anything.
        module: the module that has it.
    """

    package: str
    name: str
    load: Callable[[], Any]
    module: str = "wireproof"


def _own() -> Iterator[Provider]:
    for name in OWN:
        yield Provider("wireproof", name, partial(object_at, f"wireproof.{name}.family:FAMILY"))


def _others(folders: Iterable[str]) -> Iterator[Provider]:
    """Yield the families of other packages, in the order of their names.

    Importing `importlib.metadata` takes longer than the search in the files that it would read.
    """
    if not any(map(_provides, folders)):
        return
    from importlib.metadata import entry_points  # noqa: PLC0415 - see above

    for point in sorted(entry_points(group=GROUP)):
        package = point.dist.name if point.dist is not None else point.value
        if package != "wireproof":
            yield Provider(package, point.name, point.load, point.module)


def _provides(folder: str) -> bool:
    """Return whether a package other than this one in a folder of the path may provide a family."""
    if os.path.isfile(folder):  # noqa: PTH113 - an archive: its metadata is read as usual
        return True
    files = (file for file in Path(folder or ".").glob("*-info/entry_points.txt"))
    return any(
        f"[{GROUP}]" in file.read_text(errors="replace")
        for file in files
        if not file.parent.name.startswith("wireproof-")
    )


def install(providers: Iterable[Provider]) -> InstalledFamilies:
    """Load families; of two with the same name or the same format, the first one is used."""
    families: dict[str, Family] = {}
    faults: list[FamilyFault] = []
    packages: set[str] = set()
    for one in providers:
        try:
            family = one.load()
        except Exception as error:  # noqa: BLE001 - a foreign package; the others still work
            reason = one_line(f"{type(error).__name__}: {error}", MAX_REASON)
            faults.append(FamilyFault(one.package, f"the family {one.name} cannot be loaded: {reason}"))
            continue
        if reason := _unfit(family, families):
            faults.append(FamilyFault(one.package, f"the family {one.name} is not used: {reason}"))
        else:
            families[family.name] = family
            packages.add(one.module.partition(".")[0])
    return InstalledFamilies(families, tuple(faults), frozenset(packages - {"wireproof"}))


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


INSTALLED: Final = install((*_own(), *_others(sys.path)))
"""The families of this environment."""
