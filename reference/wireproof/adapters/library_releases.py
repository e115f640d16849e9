"""The releases of a library, as the registry of packages of its language lists them.

The client of each language asks its registry, with the settings of this machine. Cargo and Maven have no
command for it; the lists of their registries are files with a documented address.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof import __version__
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.registry_entry import Ecosystem, PeerLibrary, Pin
from wireproof.release_order import age, is_final

SECONDS: Final = 120
"""Time limit of one question to a registry."""

MAX_LIST: Final = 32 * 1024 * 1024
"""Bytes of a list that are read."""

NEAR: Final = 2
"""Releases before and behind an unknown one that a message names."""

CRATES: Final = "https://index.crates.io"
MAVEN: Final = "https://repo1.maven.org/maven2"


def releases(library: PeerLibrary) -> tuple[str, ...]:
    """Return the releases of a library without its pre-releases, the oldest first.

    Raises `AdapterError` if the registry does not answer.
    """
    names = dict.fromkeys((*(one.name for one in library.former), library.name))
    found = [
        version
        for name in names
        for version in _LISTS[library.ecosystem](name)
        if is_final(version) and library.name_at(version) == name
    ]
    return tuple(sorted({version.removeprefix("v") for version in found}, key=age))


def near(version: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the releases around one that does not exist."""
    place = bisect(known, age(version), key=age)
    return known[max(0, place - NEAR) : place + NEAR]


# --- one list for each ecosystem ---


def _from_go(name: str) -> list[str]:
    return _printed("go", "list", "-m", "-versions", name).split()[1:]


def _from_npm(name: str) -> list[str]:
    versions = json.loads(_printed("npm", "view", name, "versions", "--json"))
    return [versions] if isinstance(versions, str) else list(versions)


def _from_pypi(name: str) -> list[str]:
    printed = _printed(sys.executable, "-m", "pip", "index", "versions", name)
    found = re.search(r"(?m)^Available versions: (.*)$", printed)
    return found[1].split(", ") if found else []


def _from_crates(name: str) -> list[str]:
    rows = [json.loads(line) for line in _fetched(f"{CRATES}/{_index_path(name.lower())}").splitlines()]
    return [row["vers"] for row in rows if not row["yanked"]]


def _index_path(name: str) -> str:
    """Return the path of a crate in the index of its registry."""
    match len(name):
        case 1 | 2:
            return f"{len(name)}/{name}"
        case 3:
            return f"3/{name[0]}/{name}"
        case _:
            return f"{name[:2]}/{name[2:4]}/{name}"


def _from_maven(name: str) -> list[str]:
    group, _, artifact = name.partition(":")
    page = _fetched(f"{MAVEN}/{group.replace('.', '/')}/{artifact}/maven-metadata.xml")
    return re.findall(r"<version>\s*([^<\s]+)\s*</version>", page)


_LISTS: Final[Mapping[Ecosystem, Callable[[str], list[str]]]] = {
    "cargo": _from_crates,
    "go": _from_go,
    "maven": _from_maven,
    "npm": _from_npm,
    "pypi": _from_pypi,
}


def _printed(*command: str) -> str:
    """Return what a client of a registry prints; run it in an empty folder, outside of any project."""
    shown = " ".join(command)
    try:
        with tempfile.TemporaryDirectory(prefix="wireproof-") as folder:
            done = subprocess.run(  # noqa: S603 - the words are those of the table above
                command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AdapterError(f"the releases cannot be listed: `{shown}`: {error}") from None
    if done.returncode:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        raise AdapterError(f"the releases cannot be listed: `{shown}` ended with {done.returncode}: {last}")
    return done.stdout


def _fetched(address: str) -> str:
    from urllib.request import Request, urlopen  # noqa: PLC0415 - slow to import, and few commands ask a registry

    request = Request(address, headers={"User-Agent": f"wireproof/{__version__}"})  # noqa: S310 - https
    try:
        with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - as above
            text: str = answer.read(MAX_LIST).decode("utf-8")
    except (OSError, ValueError) as error:
        raise AdapterError(f"the releases cannot be listed: {address}: {error}") from None
    return text


# --- library pins ---
#
# A release of a library for a driver: the manifest in the copy that is built names it.
#
# Each ecosystem has a function that edits the manifest and a list of commands that resolve it. The result,
# with the lock file, is in the folder of the build; the driver's own files do not change.


SOURCES: Final = frozenset({".cjs", ".go", ".java", ".mjs", ".mod", ".rs"})
"""The suffixes of files that may contain a name which is another one in an old release."""


class ManifestError(ValueError):
    """A manifest does not name the library; the message names both."""


@frozen
class Resolver:
    """How a release is chosen in one ecosystem.

    Attributes:
        edit: writes the release into the manifest in a folder; raises `ManifestError`.
        commands: resolve the manifest in that folder; `{name}` and `{version}` are replaced.
    """

    edit: Callable[[Path, Pin], None]
    commands: tuple[tuple[str, ...], ...] = ()


def pin_manifest(folder: Path, pin: Pin) -> tuple[tuple[str, ...], ...]:
    """Write the release into the manifest in `folder`, and return the commands that resolve it.

    The driver's files and names for old releases replace the others first.

    Raises `ManifestError` if the manifest does not name the library.
    """
    for variant in pin.library.variants:
        if age(pin.version) < age(variant.before):
            shutil.copytree(folder / variant.folder, folder, dirs_exist_ok=True)
    _rename(folder, _old_names(pin))
    resolver = RESOLVERS[pin.library.ecosystem]
    resolver.edit(folder, pin)
    words = {"{name}": pin.name, "{version}": pin.version, "{python}": sys.executable}
    return tuple(tuple(_filled(word, words) for word in command) for command in resolver.commands)


def _old_names(pin: Pin) -> dict[str, str]:
    """Return the names in the sources of the driver that are others in this release."""
    own = {} if pin.name == pin.library.name else {pin.library.name: pin.name}
    return own | {one.name: one.old for one in pin.library.renames if age(pin.version) < age(one.before)}


def _rename(folder: Path, names: Mapping[str, str]) -> None:
    if not names:
        return
    for path in folder.rglob("*"):
        if path.suffix in SOURCES and path.is_file():
            path.write_text(_filled(path.read_text("utf-8"), names), "utf-8")


def renamed_steps(steps: tuple[tuple[str, ...], ...], pin: Pin) -> tuple[tuple[str, ...], ...]:
    """Return build steps with the name that the library has in this release."""
    return tuple(tuple(word.replace(pin.library.name, pin.name) for word in step) for step in steps)


def _filled(word: str, words: Mapping[str, str]) -> str:
    for name, value in words.items():
        word = word.replace(name, value)
    return word


# --- manifests ---


def _edit_go(folder: Path, pin: Pin) -> None:
    """Require the release, and leave all other modules to its own manifest."""
    manifest = folder / "go.mod"
    text = manifest.read_text("utf-8")
    if pin.name not in text:
        raise ManifestError(f"{manifest} does not name {pin.name}")
    kept = [line for line in text.splitlines() if line.startswith(("module ", "go "))]
    manifest.write_text("\n".join([*kept, f"require {pin.name} v{pin.version}"]) + "\n", "utf-8")
    (folder / "go.sum").unlink(missing_ok=True)


def _edit_npm(folder: Path, pin: Pin) -> None:
    """Name the release exactly; without its lock file, the build installs from the manifest."""
    manifest = folder / "package.json"
    table = json.loads(manifest.read_text("utf-8"))
    if pin.name not in table.get("dependencies", {}):
        raise ManifestError(f"{manifest} does not name {pin.name}")
    table["dependencies"][pin.name] = pin.version
    manifest.write_text(json.dumps(table, indent=2) + "\n", "utf-8")
    (folder / "package-lock.json").unlink(missing_ok=True)


def _edit_pypi(folder: Path, pin: Pin) -> None:
    """Write what is installed for the worker; keep the requirements of other packages."""
    manifest = folder / "requirements.txt"
    lines = manifest.read_text("utf-8").splitlines() if manifest.is_file() else []
    others = [line for line in lines if not line.startswith(f"{pin.name}==")]
    manifest.write_text("\n".join([*others, f"{pin.name}=={pin.version}"]) + "\n", "utf-8")


def _edit_cargo(folder: Path, pin: Pin) -> None:
    manifest = folder / "Cargo.toml"
    lines = manifest.read_text("utf-8").splitlines()
    pattern = rf'^({re.escape(pin.name)}\s*=\s*(?:\{{.*?\bversion\s*=\s*)?")[^"]*'
    manifest.write_text(_replaced(manifest, pattern, f"={pin.version}", lines), "utf-8")


def _edit_maven(folder: Path, pin: Pin) -> None:
    manifest = folder / "pom.xml"
    pattern = r"^(\s*<library\.version>)[^<]*"
    lines = manifest.read_text("utf-8").splitlines()
    manifest.write_text(_replaced(manifest, pattern, pin.version, lines), "utf-8")


def _replaced(manifest: Path, pattern: str, version: str, lines: list[str]) -> str:
    text, count = re.subn(pattern, rf"\g<1>{version}", "\n".join(lines) + "\n", flags=re.MULTILINE)
    if not count:
        raise ManifestError(f"{manifest} has no place for a version: {pattern}")
    return text


RESOLVERS: Final[Mapping[Ecosystem, Resolver]] = {
    "cargo": Resolver(_edit_cargo, (("cargo", "update", "--quiet", "--workspace"),)),
    "go": Resolver(_edit_go, (("go", "mod", "tidy"),)),
    "maven": Resolver(_edit_maven),
    "npm": Resolver(_edit_npm),
    "pypi": Resolver(
        _edit_pypi,
        (
            ("{python}", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade",
             "--report", "installed.json", "--target", "lib", "-r", "requirements.txt"),
        ),
    ),
}  # fmt: skip
"""By ecosystem."""
