"""Build of a driver in the user's cache, once for each version of its source, and releases of its library.

The folder is named after the driver and a digest of its files, so that an old build is never used for new
source. A lock admits one builder at a time. The folder contains `.ready` once every step has succeeded. A
build with a chosen release of its library has a folder of its own, with the lock file of that release.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from wireproof import __version__
from wireproof.adapters.errors import AdapterError, AdapterStartError
from wireproof.adapters.registry import peers
from wireproof.adapters.registry.registered import Build, Ecosystem, PeerLibrary, Pin, age, is_final
from wireproof.files import cache_folder, lock_file, replace_text

STEP_SECONDS: Final = 1800
"""Time limit of one step: a first Maven or Cargo build fetches its dependencies, and machines are loaded."""

_READY: Final = ".ready"
_VERSION: Final = ".version-{name}"
"""One file for each adapter: one build may contain several versions of a library."""

_NOT_SOURCE: Final = frozenset({"target", "node_modules", "__pycache__", "adapter.toml", "baseline.toml"})
"""Files and folders that are no source of a driver: results of a build, the description, known failures."""

_PROBLEM: Final = tuple(map(re.compile, (r"^error[\[:]", r"\.\w+:\[?\d+", r"(?i)\berror\b")))
"""A line of a compiler that begins with its word for a problem, or names a place in a file, or has it."""

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


class StepError(AdapterStartError):
    """A step of a build failed; `output` is what it printed."""

    def __init__(self, what: str, output: str) -> None:
        super().__init__(f"{what}: {output.splitlines()[-1]}")
        self.output = output

    @property
    def first_problem(self) -> str:
        """Return the first line of the output that reports a problem; the last one if none does."""
        lines = self.output.splitlines()
        found = (line for problem in _PROBLEM for line in lines if problem.search(line))
        return next(found, lines[-1]).strip()


def built(name: str, build: Build) -> Path:
    """Return the folder of the build, which is made if needed; raise `AdapterStartError` if a step fails."""
    target = build_folder(name, build)
    if (target / _READY).exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    with target.with_name(f"{target.name}.lock").open("w") as lock:
        lock_file(lock.fileno())  # another builder has it, whose own steps have time limits
        if not (target / _READY).exists():
            for folder, place in _sources(name, build).items():
                ignored = shutil.ignore_patterns(*_NOT_SOURCE)
                shutil.copytree(folder, target / place, dirs_exist_ok=True, ignore=ignored)
            if build.pin is None:
                _run_steps(name, build.steps, target)
            else:
                _build_pinned(name, build.pin, build.steps, target)
            (target / _READY).touch()
    return target


def is_built(name: str, build: Build) -> bool:
    """Return True if the cache has a build of this version of the driver; build nothing."""
    return (build_folder(name, build) / _READY).exists()


def note_version(folder: Path, name: str, version: str) -> None:
    """Save the version from the hello of `name` beside its build, so that a listing need not start it."""
    path = folder / _VERSION.format(name=name)
    if not path.exists():
        replace_text(path, version, durable=False)


def noted_version(name: str, build: Build) -> str:
    """Return the version from the first hello of `name`; empty if there has been no hello."""
    path = build_folder(name, build) / _VERSION.format(name=name)
    return path.read_text(encoding="utf-8") if path.exists() else ""


def build_folder(name: str, build: Build) -> Path:
    """Return the folder of the build in the cache: its name has a digest of the driver's files and steps."""
    folder, *_ = sources = _sources(name, build)
    release, chosen = (
        (f"@{build.pin.version}", f"{build.pin.name} {build.pin.version}") if build.pin else ("", "")
    )
    state = blake2b(f"{build.steps!r}{chosen}".encode(), digest_size=6)
    for source in sources:
        for path in sorted(source.rglob("*")):
            inner = path.relative_to(source)
            if path.is_file() and not _NOT_SOURCE & set(inner.parts):
                state.update(str(inner).encode() + b"\0" + path.read_bytes())
    return cache_folder() / f"{folder.parent.name}-{folder.name}{release}-{state.hexdigest()}"


def _sources(name: str, build: Build) -> dict[Path, str]:
    """Return the driver's folder and the shared ones, each with its place in the copy."""
    root = peers.peers_folder()
    shared = (f"{peers.SHARED}/{part}" for part in build.shared)
    folders = {root / build.source: "", **{root / place: place for place in shared}}
    for folder in folders:
        if not folder.is_dir():
            raise AdapterStartError(f"{name}: its driver is not there: {folder}")
    return folders


def _build_pinned(name: str, pin: Pin, steps: tuple[tuple[str, ...], ...], target: Path) -> None:
    """Resolve a release of the library, then build the driver with it."""
    try:
        _run_steps(name, pin_manifest(target, pin), target)
        _run_steps(name, renamed_steps(steps, pin), target)
    except ManifestError as error:
        raise AdapterStartError(f"{name}: no version can be chosen: {error}") from None
    except StepError as error:
        text = f"the driver cannot be built with {pin.name} {pin.version}: {error.first_problem}"
        if pin.version in error.output:
            with suppress(AdapterError):
                known = releases(pin.library)
                if known and pin.version not in known:
                    found = ", ".join(near(pin.version, known))
                    text = f"{pin.library.name} has no release {pin.version}; near ones: {found}"
        raise AdapterStartError(f"{name}: {text}") from None


def _run_steps(name: str, steps: Iterable[tuple[str, ...]], folder: Path) -> None:
    for step in steps:
        command = [part.replace("{build}", str(folder)) for part in step]
        shown = " ".join(command)
        try:
            done = subprocess.run(  # noqa: S603 - the steps come from the registry
                command, cwd=folder, capture_output=True, text=True, timeout=STEP_SECONDS, check=False
            )
        except OSError as error:
            raise AdapterStartError(f"{name}: its build cannot run `{shown}`: {error}") from None
        except subprocess.TimeoutExpired:
            text = f"`{shown}` did not end in {STEP_SECONDS} s, in {folder}"
            raise AdapterStartError(f"{name}: {text}") from None
        if done.returncode:
            printed = (_COLOUR.sub("", text).strip() for text in (done.stderr, done.stdout))
            output = next(filter(None, printed), "no output")
            raise StepError(f"{name}: `{shown}` ended with {done.returncode}, in {folder}", output)


SECONDS: Final = 120
"""Time limit of one question to a registry."""


def releases(library: PeerLibrary) -> tuple[str, ...]:
    """Return the releases of a library, no pre-releases, the oldest first; raises `AdapterError`."""
    names = dict.fromkeys((*(former.name for former in library.former), library.name))
    found = [
        version
        for name in names
        for version in _LISTS[library.ecosystem](name)
        if is_final(version) and library.name_at(version) == name
    ]
    return tuple(sorted({version.removeprefix("v") for version in found}, key=age))


def near(version: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the two releases before, and the two behind, one that does not exist."""
    place = bisect(known, age(version), key=age)
    return known[max(0, place - 2) : place + 2]


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
    crate = name.lower()
    places = {1: "1", 2: "2", 3: f"3/{crate[0]}"}  # in the index of the registry
    page = _fetched(f"https://index.crates.io/{places.get(len(crate), f'{crate[:2]}/{crate[2:4]}')}/{crate}")
    return [row["vers"] for row in map(json.loads, page.splitlines()) if not row["yanked"]]


def _from_maven(name: str) -> list[str]:
    group, _, artifact = name.partition(":")
    folder = f"https://repo1.maven.org/maven2/{group.replace('.', '/')}"
    page = _fetched(f"{folder}/{artifact}/maven-metadata.xml")
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
            text: str = answer.read(32 * 1024 * 1024).decode("utf-8")
    except (OSError, ValueError) as error:
        raise AdapterError(f"the releases cannot be listed: {address}: {error}") from None
    return text


# --- library pins: the manifest in the copy that is built names the release of a library ---


class ManifestError(ValueError):
    """A manifest does not name the library; the message names both."""


def pin_manifest(folder: Path, pin: Pin) -> tuple[tuple[str, ...], ...]:
    """Write the release into the manifest in `folder`, and return the commands that resolve it.

    The driver's files and names for old releases replace the others first. Raises `ManifestError` if the
    manifest does not name the library.
    """
    for variant in pin.library.variants:
        if age(pin.version) < age(variant.before):
            shutil.copytree(folder / variant.folder, folder, dirs_exist_ok=True)
    own = {} if pin.name == pin.library.name else {pin.library.name: pin.name}
    renames = (rename for rename in pin.library.renames if age(pin.version) < age(rename.before))
    if names := own | {rename.name: rename.old for rename in renames}:
        for path in folder.rglob("*"):
            if path.suffix in {".cjs", ".go", ".java", ".mjs", ".mod", ".rs"} and path.is_file():
                path.write_text(_filled(path.read_text("utf-8"), names), "utf-8")
    edit, commands = RESOLVERS[pin.library.ecosystem]
    edit(folder, pin)
    return tuple(tuple(word.replace("{python}", sys.executable) for word in command) for command in commands)


def renamed_steps(steps: tuple[tuple[str, ...], ...], pin: Pin) -> tuple[tuple[str, ...], ...]:
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
    own = [line for line in text.splitlines() if line.startswith(("module ", "go "))]
    manifest.write_text("\n".join([*own, f"require {pin.name} v{pin.version}"]) + "\n", "utf-8")
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
    pattern = rf'^({re.escape(pin.name)}\s*=\s*(?:\{{.*?\bversion\s*=\s*)?")[^"]*'
    _replace_version(folder / "Cargo.toml", pattern, f"={pin.version}")


def _edit_maven(folder: Path, pin: Pin) -> None:
    _replace_version(folder / "pom.xml", r"^(\s*<library\.version>)[^<]*", pin.version)


def _replace_version(manifest: Path, pattern: str, version: str) -> None:
    lines = manifest.read_text("utf-8").splitlines()
    text, count = re.subn(pattern, rf"\g<1>{version}", "\n".join(lines) + "\n", flags=re.MULTILINE)
    if not count:
        raise ManifestError(f"{manifest} has no place for a version: {pattern}")
    manifest.write_text(text, "utf-8")


RESOLVERS: Final[Mapping[Ecosystem, tuple[Callable[[Path, Pin], None], tuple[tuple[str, ...], ...]]]] = {
    "cargo": (_edit_cargo, (("cargo", "update", "--quiet", "--workspace"),)),
    "go": (_edit_go, (("go", "mod", "tidy"),)),
    "maven": (_edit_maven, ()),
    "npm": (_edit_npm, ()),
    "pypi": (_edit_pypi, (
        ("{python}", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade",
         "--report", "installed.json", "--target", "lib", "-r", "requirements.txt"),
    )),
}  # fmt: skip
"""By ecosystem: what writes a release into the manifest of a folder, and the commands that resolve it."""
