"""Check that a registered adapter can be started on this machine, and how to make it so; nothing is started.

An entry has a command, an interpreter, an environment and a build (`prepare`); any of them may be missing.
"""

import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal

from attrs import frozen

from wireproof import __version__
from wireproof.adapters.driver_build import is_built, noted_version
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry_entry import Build, Entry
from wireproof.install_hint import install_command

if TYPE_CHECKING:
    from importlib.metadata import Distribution

State = Literal["ready", "not built", "not here"]

OURS: Final = "wireproof.adapters."
"""Path prefix of the adapter objects of this package."""


@frozen
class Ready:
    """State of an adapter on this machine.

    Attributes:
        state: `not built` if its build has all that it needs; `not here` if something is missing.
        version: version of the library if it is known without a start; else empty.
        fix: the command to run, or the missing tool; empty if the adapter is ready.
    """

    state: State
    version: str = ""
    fix: str = ""


def ready(entry: Entry) -> Ready:
    """Return the state of `entry`; raise nothing."""
    if entry.absent:
        return Ready("not here", fix=entry.absent)
    if absent := [name for name in entry.requires if not _is_importable(name)]:
        return Ready("not here", fix=_install(entry, absent))
    try:
        built = entry.prepare is None or is_built(entry.name, entry.prepare)
    except AdapterStartError as error:
        return Ready("not here", fix=str(error))
    if tools := missing_tools(entry, built=built):
        return Ready("not here", fix=f"needs {' and '.join(tools)} on the PATH")
    if not built:
        return Ready("not built", fix=f"wireproof adapters prepare {entry.name}")
    return Ready("ready", _version(entry))


def _install(entry: Entry, absent: list[str]) -> str:
    if entry.extra:
        return install_command(entry.extra)
    return f"{', '.join(absent)} cannot be imported"


def _is_importable(name: str) -> bool:
    """Return True if a module can be imported; of a dotted name, import only the parent packages."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def missing_tools(entry: Entry, *, built: bool) -> list[str]:
    """Return the missing programs of its start, and of its build steps unless it is built."""
    programs = [*entry.command[:1], *filter(None, [entry.interpreter])]
    if entry.prepare is not None and not built:
        programs += _steps(entry.prepare)
    return [one for one in dict.fromkeys(programs) if not _in_build(one) and shutil.which(one) is None]


def _steps(build: Build) -> Iterator[str]:
    return (step[0] for step in build.steps if step)


def _in_build(program: str) -> bool:
    """Return True if a program is a part of the build itself."""
    return program.startswith("{build}") or ("/" in program and not program.startswith("/"))


def _version(entry: Entry) -> str:
    if entry.prepare is not None:
        return noted_version(entry.name, entry.prepare)
    if entry.requires and not entry.object.startswith((f"{OURS}columnar", f"{OURS}reference")):
        return _module_version(entry.requires[0])
    return __version__ if entry.object.startswith(OURS) else ""


def _module_version(name: str) -> str:
    """Return the version of the package of a module; several packages may share its first name."""
    from importlib import metadata  # noqa: PLC0415 - its import is slow, and most commands look at no version

    names = _packages().get(name.partition(".")[0], [])
    owners = [one for one in names if len(names) == 1 or _holds(metadata.distribution(one), name)]
    try:
        return metadata.version(owners[0]) if owners else ""
    except metadata.PackageNotFoundError:
        return ""


@cache
def _packages() -> Mapping[str, list[str]]:
    """Return the packages of each installed module; cached, because the search takes half a second."""
    from importlib import metadata  # noqa: PLC0415 - as above

    return metadata.packages_distributions()


def _holds(package: "Distribution", name: str) -> bool:
    start = name.replace(".", "/") + "/"
    return any(str(path).startswith(start) for path in package.files or ())
