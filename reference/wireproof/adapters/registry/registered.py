"""Entry of the adapter registry: the program or object to start, its requirements, the order of releases."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from attrs import Factory, field, frozen

Wire = Literal["exec", "jsonl"]
Ecosystem = Literal["cargo", "go", "maven", "npm", "pypi"]


@frozen
class FormerName:
    """The name of a library, in its ecosystem and in the driver's sources, before one of its releases."""

    name: str
    before: str


@frozen
class Rename:
    """A name in the sources of a driver for which the releases before one have an old name."""

    before: str
    name: str
    old: str


@frozen
class Variant:
    """The folder of a driver whose files replace those of the same path for releases before one."""

    before: str
    folder: str


@frozen
class PeerLibrary:
    """The library behind an adapter, in the registry of packages that has its releases.

    Its name is a module path, a package, a crate, or `group:artifact`; earlier names come the oldest first,
    and variants of the driver the newest first: later ones replace earlier ones.
    """

    ecosystem: Ecosystem
    name: str
    former: tuple[FormerName, ...] = ()
    renames: tuple[Rename, ...] = ()
    variants: tuple[Variant, ...] = ()

    def name_at(self, version: str) -> str:
        return next((former.name for former in self.former if age(version) < age(former.before)), self.name)


@frozen
class Pin:
    """A release of a library in place of the one that the adapter's own lock file names."""

    library: PeerLibrary
    version: str

    @property
    def name(self) -> str:
        return self.library.name_at(self.version)


@frozen
class Build:
    """Build of a driver in the user's cache, once for each version of its source.

    The steps are run in a copy of `source`, a folder that is absolute or below `tests/peers`, with the
    folders `shared` of `tests/peers/_shared` as `_shared/NAME`; `{build}` is its path. Without a `pin` it
    uses the release of the driver's lock file.
    """

    source: Path | str
    steps: tuple[tuple[str, ...], ...]
    shared: tuple[str, ...] = ()
    pin: Pin | None = None


@frozen
class AdapterOption:
    """An option behind the name of an adapter, `NAME:fetch=11`: words, or a first and a last number."""

    name: str
    values: str
    about: str
    default: str


@frozen
class Entry:
    """A row of the registry: it has an `object`, a `command`, or the reason for having neither.

    What an `adapter.toml` may have too is explained at `peers.AdapterFile`.

    Attributes:
        object: `module:attribute` of a Python object, of a class or of a function that makes one.
        search_path: folders that are added to `sys.path` before `object` is imported.
        wire: the framing that the command uses.
        interpreter: the Python that runs `object`, if not this one; may contain `{build}`.
        prepare: the build that must be made first; `{build}` in the command is its folder.
        formats: the formats that listings show; the hello decides.
        start_seconds: least time limit of its hello, for an adapter that compiles code at its start.
        case_seconds: least time limit of a case, for an adapter that starts a program for each.
        reserves: MiB of addresses that its libraries reserve without use: a worker's limit is on addresses.
        modules: the modules that its process imports and `extra` installs, checked before the start.
        cleanup: program and arguments that remove what the process may have left elsewhere; it runs after the
            process, however that ended.
        relay: `module:function` that connects to a server as the path between writers and readers: `relay`.
        packages: a folder of Python packages that the worker prefers to the installed ones.
    """

    name: str
    description: str = ""
    object: str = ""
    search_path: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    wire: Wire = "exec"
    interpreter: str = ""
    environment: Mapping[str, str] = field(default=Factory(dict))
    prepare: Build | None = None
    extra: str = ""
    requires: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    instrument: tuple[str, ...] = ()
    start_seconds: float = 0
    case_seconds: float = 0
    reserves: int = 0
    relay: str = ""
    library: PeerLibrary | None = None
    packages: str = ""
    absent: str = ""
    modules: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()
    options: tuple[AdapterOption, ...] = ()
    language: str = ""
    client: bool = False


Age = tuple[tuple[int, int, str], ...]


def age(version: str) -> Age:
    """Return the sort key of a version: numbers by value; `1.0rc1` comes before `1.0`."""
    parts = re.findall(r"\d+|[a-z]+", version.removeprefix("v").lower())
    words = {"final": 0, "post": 1}  # of a release, by their place; every other word makes a pre-release
    keys = ((1, int(part), "") if part.isdecimal() else (words.get(part, -1), 0, part) for part in parts)
    return (*keys, (0, 0, ""))


def is_final(version: str) -> bool:
    """Return True for a release, in any registry, that is no pre-release and no snapshot."""
    return re.fullmatch(r"v?\d+(\.\d+)*(\.post\d+|\.Final)?", version) is not None
