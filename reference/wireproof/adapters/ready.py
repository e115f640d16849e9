"""Whether a registered adapter can be started here, and what makes it so if not; nothing is started.

Design, section 4: an entry is command, interpreter, environment and `prepare`; each may lack something.
"""

import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal

from attrs import frozen

from wireproof import __version__
from wireproof.adapters.build import is_built, noted_version
from wireproof.adapters.entry import Build, Entry
from wireproof.adapters.errors import AdapterStartError

if TYPE_CHECKING:
    from importlib.metadata import Distribution

State = Literal["ready", "not built", "not here"]

OURS: Final = "wireproof.adapters."
"""Where the objects of this package stand."""


@frozen
class Ready:
    """How an adapter stands here.

    Attributes:
        state: `not built`: all that its build wants is here; `not here`: something is missing.
        version: of the library, as far as it shows without a start; else empty.
        remedy: the one command, or the tool that is missing; empty if it is ready.
    """

    state: State
    version: str = ""
    remedy: str = ""


def ready(entry: Entry) -> Ready:
    """How `entry` stands; raises nothing."""
    if entry.absent:
        return Ready("not here", remedy=entry.absent)
    if absent := [name for name in entry.requires if not _found(name)]:
        return Ready("not here", remedy=_install(entry, absent))
    try:
        built = entry.prepare is None or is_built(entry.name, entry.prepare)
    except AdapterStartError as error:
        return Ready("not here", remedy=str(error))
    if tools := missing_tools(entry, built=built):
        return Ready("not here", remedy=f"needs {' and '.join(tools)} on the PATH")
    if not built:
        return Ready("not built", remedy=f"wireproof adapters prepare {entry.name}")
    return Ready("ready", _version(entry))


def _install(entry: Entry, absent: list[str]) -> str:
    if entry.extra:
        return f"pip install 'wireproof[{entry.extra}]'"
    return f"{', '.join(absent)} cannot be imported"


def _found(name: str) -> bool:
    """Whether a module can be imported; of a dotted name the packages around it are, and they alone."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def missing_tools(entry: Entry, *, built: bool) -> list[str]:
    """The programs of its start, and of its steps if it is not built, that the PATH does not have."""
    programs = [*entry.command[:1], *filter(None, [entry.interpreter])]
    if entry.prepare is not None and not built:
        programs += _steps(entry.prepare)
    return [one for one in dict.fromkeys(programs) if not _made(one) and shutil.which(one) is None]


def _steps(build: Build) -> Iterator[str]:
    return (step[0] for step in build.steps if step)


def _made(program: str) -> bool:
    """Whether a program is a part of the build itself."""
    return program.startswith("{build}") or ("/" in program and not program.startswith("/"))


def _version(entry: Entry) -> str:
    if entry.prepare is not None:
        return noted_version(entry.name, entry.prepare)
    if entry.requires and not entry.object.startswith((f"{OURS}columnar", f"{OURS}reference")):
        return _of_module(entry.requires[0])
    return __version__ if entry.object.startswith(OURS) else ""


def _of_module(name: str) -> str:
    """The version of the package that a module stands in; several packages may share its first name."""
    from importlib import metadata  # noqa: PLC0415 - its import is slow, and most commands look at no version

    names = _packages().get(name.partition(".")[0], [])
    owners = [one for one in names if len(names) == 1 or _holds(metadata.distribution(one), name)]
    try:
        return metadata.version(owners[0]) if owners else ""
    except metadata.PackageNotFoundError:
        return ""


@cache
def _packages() -> Mapping[str, list[str]]:
    """The packages of each module that is installed: to look through them all takes half a second."""
    from importlib import metadata  # noqa: PLC0415 - as above

    return metadata.packages_distributions()


def _holds(package: "Distribution", name: str) -> bool:
    start = name.replace(".", "/") + "/"
    return any(str(path).startswith(start) for path in package.files or ())
