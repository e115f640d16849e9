"""Peers: the adapters of other libraries, each described by `tests/peers/SYSTEM/NAME/adapter.toml`.

The wheel contains these folders too. A lookup of one adapter reads one file.
"""

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from attrs import Factory, evolve, field, frozen

import wireproof
from wireproof.adapters.errors import AdapterFileError, UnknownAdapter
from wireproof.adapters.registry import live_servers
from wireproof.adapters.registry.registered import Build, Entry, PeerLibrary, Pin
from wireproof.installed_families import OWN
from wireproof.strict_parsing import parse_toml, structure

Language = Literal["c", "csharp", "go", "java", "node", "python", "rust"]

FILE: Final = "adapter.toml"

VERSION: Final = re.compile(r"[0-9][0-9A-Za-z._+-]*")
"""The form of the version in a name such as `sarama@1.44.0`."""

PACKAGES: Final = "{build}/lib"
"""The folder into which a chosen release of a Python library is installed."""

SHARED: Final = "_shared"
"""The folder below `peers_folder()` with code that several adapters use: `go`, `python` and others."""


@frozen
class BuildTable:
    """The table `[build]`: commands in a copy of the adapter's folder, and folders of `_shared` for it."""

    steps: tuple[str, ...]
    shared: tuple[str, ...] = ()


@frozen
class AdapterFile:
    """The keys of an `adapter.toml`; it has exactly one of `command`, `python` and `absent`.

    The folders give the name and the system of the adapter. In commands and in the environment, `{python}` is
    the running Python and `{build}` the folder of the build.

    Attributes:
        description: one line for listings.
        language: the language of the adapter's code.
        command: the program that uses the framing of `exec:`, and its arguments.
        client: whether `command` is a client program, as in `kafka-client:COMMAND` for a peer of Kafka.
        python: `FILE.py:NAME`, the object in a Python file; the path is relative to the adapter's folder.
        absent: why there is no adapter, and what would change that.
        build: what must be built first.
        driver: another adapter of the same system whose build this one uses.
        environment: environment variables of the process.
        extra: the extra of wireproof that installs the library.
        requires: modules that the extra installs and the adapter imports, the library's first.
        instrument: modules of the codec, whose coverage guides fuzzing.
        library: the library in its registry of packages, so that `NAME@VERSION` can choose a release of it.
    """

    description: str
    language: Language
    command: str = ""
    client: bool = False
    python: str = ""
    absent: str = ""
    build: BuildTable | None = None
    driver: str = ""
    environment: Mapping[str, str] = field(default=Factory(dict))
    extra: str = ""
    requires: tuple[str, ...] = ()
    instrument: tuple[str, ...] = ()
    library: PeerLibrary | None = None


def peers_folder() -> Path:
    """Return the folder of the peers: `wireproof/_peers` of an installed wheel, else `tests/peers`."""
    return _folder("peers")


def templates_folder() -> Path:
    return _folder("templates")


def _folder(name: str) -> Path:
    package = Path(wireproof.__file__).parent
    installed = package / f"_{name}"
    return installed if installed.is_dir() else package.parents[1] / "tests" / name


def files() -> dict[str, Path]:
    """Return the file of each peer by its name: Kafka's, Iggy's, Heka's, then of other systems."""
    paths = peers_folder().glob(f"[!_]*/*/{FILE}")

    def place(path: Path) -> tuple[int, list[tuple[str, int]]]:
        system, name = path.parts[-3:-1]
        rank = OWN.index(system) if system in OWN else len(OWN)
        return rank, [(text, int(number or -1)) for text, number in re.findall(r"(\D*)(\d*)", name)]

    return {path.parent.name: path for path in sorted(paths, key=place)}


def read(path: Path, options: tuple[str, ...] = (), prefix: tuple[str, ...] = ()) -> Entry:
    """Return the adapter that an `adapter.toml` describes; raises `AdapterFileError`, and `UnknownAdapter`.

    `options` are those of a client program, such as `fetch=11`, and `prefix` are words before its command.
    """
    file = _file(path)
    folder = path.parent
    if options and not file.client:
        raise UnknownAdapter(f"{folder.name} has no options: only client programs have")
    driver = _file(folder.with_name(file.driver) / FILE) if file.driver else None
    try:
        table, build = (driver or file).build, None
        if driver is not None and table is None:
            raise ValueError(f"driver: {file.driver} has no [build]")  # noqa: TRY301 - one line for all faults
        if table is not None:
            steps = tuple(_words("build.steps", step) for step in table.steps)
            build = Build(folder.with_name(file.driver) if driver else folder, steps, table.shared)
        place, search_path = _object(folder, file.python)
        entry = Entry(
            folder.name,
            file.description,
            object=place,
            search_path=search_path,
            command=_words("command", file.command),
            environment=file.environment,
            prepare=build,
            extra=file.extra,
            requires=file.requires,
            formats=(folder.parent.name,),
            instrument=file.instrument,
            library=file.library or (driver.library if driver else None),
            absent=file.absent,
            language=file.language,
            client=file.client,
        )
        started = evolve(entry, command=(*prefix, *entry.command))
        return _client(started, file, options) if file.client else entry
    except ValueError as error:
        raise AdapterFileError(f"{path}: {error}") from None


def with_version(path: Path, version: str, options: tuple[str, ...] = ()) -> Entry:
    """Return the adapter of a file with another release of its library; raises as `read`."""
    entry = read(path, options)
    name = f"{entry.name}@{version}"
    if entry.absent:
        return evolve(entry, name=name)
    library = entry.library
    if library is None:
        raise UnknownAdapter(f"{name}: {path} has no table [library], so no version can be chosen")
    if not VERSION.fullmatch(version):
        raise UnknownAdapter(f"{name}: a version begins with a digit and has letters, digits and . _ + -")
    build = entry.prepare or Build(Path(entry.search_path[0]), (), ("python",))
    installed = library.ecosystem == "pypi"
    if installed and not entry.search_path:  # a program: the worker that starts it keeps its own packages
        entry = read(path, options, ("env", f"PYTHONPATH={PACKAGES}"))
    return evolve(
        entry,
        name=name,
        prepare=evolve(build, pin=Pin(library, version)),
        packages=PACKAGES if installed and entry.search_path else "",
        requires=entry.requires[1:] if installed else entry.requires,  # the first is the library itself
        extra="",
    )


def _client(entry: Entry, file: AdapterFile, options: tuple[str, ...]) -> Entry:
    (system,) = entry.formats
    words = shlex.join([f"name={entry.name}", *options, *entry.command])
    program = live_servers.entry_of_server(f"{system}-client:{words}")
    if program is None or not file.command:
        raise ValueError(f"client: must have a command, and a system with client programs, not {system}")
    return evolve(
        program,
        name=entry.name,
        description=entry.description,
        environment={**program.environment, **entry.environment},
        extra=entry.extra or program.extra,
        requires=entry.requires,
        prepare=entry.prepare,
        library=entry.library,
        language=entry.language,
        client=True,
    )


def _file(path: Path) -> AdapterFile:
    try:
        file = structure(parse_toml(path.read_text(encoding="utf-8")), AdapterFile, "the table")
    except (OSError, ValueError) as error:
        raise AdapterFileError(f"{path}: {error}") from None
    if sum(map(bool, (file.command, file.python, file.absent))) != 1:
        raise AdapterFileError(f"{path}: must have exactly one of command, python and absent")
    if file.build and file.driver:
        raise AdapterFileError(f"{path}: driver: must have no [build] beside it")
    return file


def _object(folder: Path, python: str) -> tuple[str, tuple[str, ...]]:
    """Return `FILE.py:NAME` as `module:attribute`, and the folders to import it from."""
    if not python:
        return "", ()
    found = re.fullmatch(r"(?:.*/)?(\w+)\.py:(\w+)", python)
    if found is None:
        raise ValueError("python: must be FILE.py:NAME")
    file = folder / python.rpartition(":")[0]
    if not file.is_file():
        raise ValueError(f"python: no such file: {file}")
    return f"{found[1]}:{found[2]}", (str(file.resolve().parent), str(peers_folder() / SHARED / "python"))


def _words(key: str, text: str) -> tuple[str, ...]:
    """Return the words of a command; `key` is for the error."""
    try:
        return tuple(word.replace("{python}", sys.executable) for word in shlex.split(text))
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
