"""A release of a library for a driver: the manifest in the copy that is built names it.

Each ecosystem has a function that edits the manifest and a list of commands that resolve it. The result, with
the lock file, is in the folder of the build; the driver's own files do not change.
"""

import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.adapters.registry_entry import Ecosystem, Pin
from wireproof.release_order import age

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
