"""Check what of the suite and its adapters works on this machine, and how to get what is missing.

An entry has a command, an interpreter, an environment and a build (`prepare`); any of them may be missing.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal

from attrs import frozen

from wireproof import __version__
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.process.controller import SUPERVISED
from wireproof.adapters.registry.driver_build import is_built, noted_version
from wireproof.adapters.registry.registered import Entry
from wireproof.adapters.registry.registry import entries
from wireproof.files import cache_folder
from wireproof.install_hint import install_command
from wireproof.installed_families import INSTALLED

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
        programs += (step[0] for step in entry.prepare.steps if step)
    return [one for one in dict.fromkeys(programs) if not _in_build(one) and shutil.which(one) is None]


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


ToolState = Literal["ready", "missing", "too old"]

PROGRAMS: Final = "broker"
"""The extra with what the workers of live servers and client programs import."""

EXTRAS: Final = {
    "property": ("check --property, the pytest plugin with examples", ("hypothesis", "pytest")),
    "test": ("the tests of this repository", ("hypothesis", "jsonschema", "pytest", "yaml")),
    "peers": ("codecs from PyPI to judge", ()),
    PROGRAMS: ("live brokers and client programs as adapters", ()),
    "fuzz": ("fuzz", ("atheris",)),
    "columnar": ("the fast decoders", ("numba", "pyarrow")),
    "spark": ("scan, fuzz --spark", ("numba", "pandas", "pyarrow", "pyspark")),
    "connect": ("the data sources over Spark Connect", ("pyspark", "grpc")),
}
"""Purpose of each extra, and modules that it installs, beside those that the adapters of the extra need."""


@frozen
class Tool:
    """A program of another language.

    Attributes:
        words: the command that prints its version.
        least: the lowest version that the peers need; empty for any.
        purpose: the use that the suite has for it.
        package: the Debian packages, separated by blanks.
    """

    words: tuple[str, ...]
    least: tuple[int, ...]
    purpose: str
    package: str


TOOLS: Final = {
    "java": Tool(("java", "-version"), (17,), "Spark, peers and templates in Java", "openjdk-17-jdk"),
    "mvn": Tool(("mvn", "-v"), (), "peers and templates in Java", "maven"),
    "go": Tool(("go", "version"), (1, 26), "peers and templates in Go", "golang"),
    "cargo": Tool(("cargo", "--version"), (1, 80), "peers and templates in Rust", "cargo"),
    "node": Tool(("node", "--version"), (18,), "templates in JavaScript; peers bring their own", "nodejs"),
    "cc": Tool(("cc", "--version"), (), "templates in C", "gcc"),
}

SECONDS: Final = 20
"""Time limit for printing a version: a JVM on a busy machine takes some seconds."""


@frozen
class SystemLimit:
    """A feature that a system may lack.

    Attributes:
        name: of the feature.
        works: returns whether this system has what it needs.
        instead: what happens without it.
        fix: what can be done about it; empty for nothing.
    """

    name: str
    works: Callable[[], bool]
    instead: str
    fix: str = ""


def _measures_memory() -> bool:
    return sys.platform == "linux" or find_spec("psutil") is not None


def _is_linux() -> bool:
    return sys.platform == "linux"


FEATURES: Final = (
    SystemLimit(
        "end of every process",
        lambda: SUPERVISED,
        "a process that an adapter moves to another session survives it",
    ),
    SystemLimit(
        "memory of a case",
        _measures_memory,
        "the memory of adapters is neither measured nor limited",
        "pip install psutil",
    ),
    SystemLimit("peak memory of a case", _is_linux, "memory that is freed before the answer is not counted"),
    SystemLimit(
        "limit of the address space", _is_linux, "a Python adapter is ended only by the limit of its memory"
    ),
    SystemLimit(
        "end with a killed runner", _is_linux, "a worker that hangs in C may outlive a runner that is killed"
    ),
)
"""Each feature that needs more than every system has."""


@frozen
class InstallationCheck:
    """Result of one check; `fix` is empty if nothing is missing."""

    name: str
    state: ToolState
    version: str
    purpose: str
    fix: str = ""


def examined() -> tuple[InstallationCheck, ...]:
    """Return every result, in the order in which a user would install what is missing.

    Of a program only its own `--version` is started.
    """
    with ThreadPoolExecutor() as pool:
        tools = pool.map(_tool, TOOLS)
        return (_python(), *_system(), *map(_extra, EXTRAS), *tools, *families())


def _python() -> InstallationCheck:
    version = ".".join(map(str, sys.version_info[:3]))
    return InstallationCheck(
        "Python", "ready", version, f"wireproof {__version__}, builds in {cache_folder()}"
    )


def _system() -> Iterator[InstallationCheck]:
    for one in FEATURES:
        if not one.works():
            yield InstallationCheck(one.name, "missing", "", one.instead, one.fix)


def _extra(name: str) -> InstallationCheck:
    lacking = [module for module in modules_of(name) if not _found(module)]
    fix = install_command(name) if lacking else ""
    return InstallationCheck(f"[{name}]", "missing" if lacking else "ready", "", EXTRAS[name][0], fix)


def modules_of(extra: str) -> tuple[str, ...]:
    """Return the modules that an extra installs."""
    needed = (module for entry in entries().values() if entry.extra == extra for module in entry.requires)
    programs = entries().values() if extra == PROGRAMS else ()
    imported = (module for entry in programs for module in entry.modules)
    return tuple(dict.fromkeys((*EXTRAS[extra][1], *needed, *imported)))


def _found(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _tool(name: str) -> InstallationCheck:
    tool = TOOLS[name]
    if shutil.which(name) is None:
        return InstallationCheck(name, "missing", "", tool.purpose, _install_tool(tool))
    version = version_of(tool)
    old = bool(tool.least) and bool(version) and tuple(map(int, version.split("."))) < tool.least
    least = ".".join(map(str, tool.least))
    fix = f"{least} or newer is needed: {_install_tool(tool)}" if old else ""
    return InstallationCheck(name, "too old" if old else "ready", version, tool.purpose, fix)


def _install_tool(tool: Tool) -> str:
    return f"apt-get install {tool.package}" if shutil.which("apt-get") else f"install {tool.package}"


def version_of(tool: Tool) -> str:
    """Return the first number with a dot that a tool prints; empty if it prints none in time."""
    try:
        done = subprocess.run(  # noqa: S603 - the words come from the table above
            tool.words, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found[0] if found else ""


def families() -> Iterator[InstallationCheck]:
    """Yield the families of formats, and those of other packages that cannot be used."""
    for family in INSTALLED.families.values():
        names = ", ".join(dict.fromkeys(fmt.name for fmt in family.formats))
        yield InstallationCheck(family.name, "ready", "", names)
    for fault in INSTALLED.faults:
        fix = f"update or remove the package {fault.package}"
        yield InstallationCheck(fault.package, "missing", "", fault.text, fix)
