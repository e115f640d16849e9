"""Check what of the suite and its adapters works on this machine, and how to get what is missing.

An entry has a command, an interpreter, an environment and a build (`prepare`); any of them may be missing.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import Final, Literal

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

State = Literal["ready", "not built", "not here"]

OURS: Final = "wireproof.adapters."
"""Path prefix of the adapter objects of this package."""


@frozen
class Ready:
    """State of an adapter here, a fix, and the version of its library if that is known without a start.

    It is `not built` if its build has all that it needs, and `not here` if something is missing.
    """

    state: State
    version: str = ""
    fix: str = ""


def ready(entry: Entry) -> Ready:
    if entry.absent:
        return Ready("not here", fix=entry.absent)
    if lacking := [name for name in entry.requires if not _is_importable(name)]:
        imports = f"{', '.join(lacking)} cannot be imported"
        return Ready("not here", fix=install_command(entry.extra) if entry.extra else imports)
    try:
        built = entry.prepare is None or is_built(entry.name, entry.prepare)
    except AdapterStartError as error:
        return Ready("not here", fix=str(error))
    steps = entry.prepare.steps if entry.prepare is not None and not built else ()
    programs = [*entry.command[:1], entry.interpreter, *(step[0] for step in steps if step)]
    outside = (  # the others are a part of the build itself
        program for program in dict.fromkeys(filter(None, programs))
        if not program.startswith("{build}") and ("/" not in program or program.startswith("/"))
    )  # fmt: skip
    if tools := [program for program in outside if shutil.which(program) is None]:
        return Ready("not here", fix=f"needs {' and '.join(tools)} on the PATH")
    if not built:
        return Ready("not built", fix=f"wireproof adapters prepare {entry.name}")
    return Ready("ready", _version(entry))


def _is_importable(name: str) -> bool:
    """Return True if a module can be imported; of a dotted name, import only the parent packages."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _version(entry: Entry) -> str:
    if entry.prepare is not None:
        return noted_version(entry.name, entry.prepare)
    if not entry.requires or entry.object.startswith(f"{OURS}reference"):
        return __version__ if entry.object.startswith(OURS) else ""
    from importlib import metadata  # noqa: PLC0415 - its import is slow, and most commands look at no version

    module = entry.requires[0]
    packages = _packages().get(module.partition(".")[0], [])
    start = module.replace(".", "/") + "/"
    owners = [  # several packages may share the first name of a module
        package for package in packages
        if len(packages) == 1 or any(str(path).startswith(start) for path in metadata.files(package) or ())
    ]  # fmt: skip
    try:
        return metadata.version(owners[0]) if owners else ""
    except metadata.PackageNotFoundError:
        return ""


@cache
def _packages() -> Mapping[str, list[str]]:
    """Return the packages of each installed module; cached, because the search takes half a second."""
    from importlib import metadata  # noqa: PLC0415 - as above

    return metadata.packages_distributions()


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
    """A program: the words that print its version, the least one, its use here, its Debian packages."""

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

_ON_LINUX: Final = sys.platform == "linux"

FEATURES: Final = (
    ("end of every process", SUPERVISED,
     "a process that an adapter moves to another session survives it", ""),
    ("memory of a case", _ON_LINUX or find_spec("psutil") is not None,
     "the memory of adapters is neither measured nor limited", "pip install psutil"),
    ("peak memory of a case", _ON_LINUX, "memory that is freed before the answer is not counted", ""),
    ("limit of the address space", _ON_LINUX,
     "a Python adapter is ended only by the limit of its memory", ""),
    ("end with a killed runner", _ON_LINUX,
     "a worker that hangs in C may outlive a runner that is killed", ""),
)  # fmt: skip
"""Each feature that needs more than every system has, whether it works here, what happens else, and a fix."""


@frozen
class InstallationCheck:
    """Result of one check; `fix` is empty if nothing is missing."""

    name: str
    state: ToolState
    version: str
    purpose: str
    fix: str = ""


def examined() -> tuple[InstallationCheck, ...]:
    """Return every result, in the order in which a user would install what is missing."""
    version = ".".join(map(str, sys.version_info[:3]))
    about = f"wireproof {__version__}, builds in {cache_folder()}"
    python = InstallationCheck("Python", "ready", version, about)
    system = (
        InstallationCheck(name, "missing", "", instead, fix)
        for name, works, instead, fix in FEATURES
        if not works
    )
    extras = []
    for name, (purpose, _) in EXTRAS.items():
        fix = "" if all(map(_is_importable, modules_of(name))) else install_command(name)
        extras.append(InstallationCheck(f"[{name}]", "missing" if fix else "ready", "", purpose, fix))
    with ThreadPoolExecutor() as pool:
        tools = pool.map(_tool, TOOLS)
        return (python, *system, *extras, *tools, *families())


def modules_of(extra: str) -> tuple[str, ...]:
    known = entries().values()
    needed = (module for entry in known if entry.extra == extra for module in entry.requires)
    imported = (module for entry in known if extra == PROGRAMS for module in entry.modules)
    return tuple(dict.fromkeys((*EXTRAS[extra][1], *needed, *imported)))


def _tool(name: str) -> InstallationCheck:
    tool = TOOLS[name]
    install = f"{'apt-get install' if shutil.which('apt-get') else 'install'} {tool.package}"
    if shutil.which(name) is None:
        return InstallationCheck(name, "missing", "", tool.purpose, install)
    try:
        done = subprocess.run(  # noqa: S603 - the words come from the table above
            tool.words, capture_output=True, text=True, timeout=20, check=False
        )
        found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    except (OSError, subprocess.TimeoutExpired):
        found = None
    version = found[0] if found else ""  # the first number with a dot that it prints
    old = bool(tool.least and version) and tuple(map(int, version.split("."))) < tool.least
    fix = f"{'.'.join(map(str, tool.least))} or newer is needed: {install}" if old else ""
    return InstallationCheck(name, "too old" if old else "ready", version, tool.purpose, fix)


def families() -> Iterator[InstallationCheck]:
    """Yield the families of formats, and those of other packages that cannot be used."""
    for family in INSTALLED.values():
        names = ", ".join(dict.fromkeys(fmt.name for fmt in family.formats))
        yield InstallationCheck(family.name, "ready", "", names)
    for fault in INSTALLED.faults:
        fix = f"update or remove the package {fault.package}"
        yield InstallationCheck(fault.package, "missing", "", fault.text, fix)
