"""Build of a driver in the user's cache, once for each version of its source.

The folder is named after the driver and a digest of its files, so that an old build is never used for new
source. A lock admits one builder at a time. The folder contains `.ready` once every step has succeeded.
"""

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final

from wireproof.adapters import packaged_folders
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry_entry import Build
from wireproof.cache import cache_folder
from wireproof.file_locks import lock_file
from wireproof.files import replace_text

STEP_SECONDS: Final = 1800
"""Time limit of one step: a first Maven or Cargo build fetches its dependencies, and machines are loaded."""

_READY: Final = ".ready"
_VERSION: Final = ".version-{name}"
"""One file for each adapter: one build may contain several versions of a library."""

_NOT_SOURCE: Final = frozenset({"target", "node_modules", "__pycache__", "adapter.toml", "baseline.toml"})
"""Files and folders that are no source of a driver: results of a build, the description, known failures."""


def built(name: str, build: Build) -> Path:
    """Return the folder of the build, which is made if needed; raise `AdapterStartError` if a step fails."""
    target = _target(name, build)
    if (target / _READY).exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    with _lock(target.with_suffix(".lock")):
        if not (target / _READY).exists():
            _build(name, build, target)
    return target


def is_built(name: str, build: Build) -> bool:
    """Return True if the cache has a build of this version of the driver; build nothing."""
    return (_target(name, build) / _READY).exists()


def note_version(folder: Path, name: str, version: str) -> None:
    """Save the version from the hello of `name` beside its build, so that a listing need not start it."""
    path = folder / _VERSION.format(name=name)
    if not path.exists():
        replace_text(path, version, durable=False)


def noted_version(name: str, build: Build) -> str:
    """Return the version from the first hello of `name`; empty if there has been no hello."""
    path = _target(name, build) / _VERSION.format(name=name)
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _target(name: str, build: Build) -> Path:
    folder, *_ = sources = _sources(name, build)
    return cache_folder() / f"{folder.parent.name}-{folder.name}-{_source_digest(sources, build)}"


def _sources(name: str, build: Build) -> dict[Path, str]:
    """Return the driver's folder and the shared ones, each with its place in the copy.

    Raises `AdapterStartError` if a folder is missing.
    """
    peers = packaged_folders.peers_folder()
    shared = (f"{packaged_folders.SHARED}/{part}" for part in build.shared)
    folders = {peers / build.source: "", **{peers / place: place for place in shared}}
    for folder in folders:
        if not folder.is_dir():
            raise AdapterStartError(f"{name}: its driver is not there: {folder}")
    return folders


def _build(name: str, build: Build, target: Path) -> None:
    for folder, place in _sources(name, build).items():
        ignored = shutil.ignore_patterns(*_NOT_SOURCE)
        shutil.copytree(folder, target / place, dirs_exist_ok=True, ignore=ignored)
    for step in build.steps:
        command = [part.replace("{build}", str(target)) for part in step]
        _run(name, command, target)
    (target / _READY).touch()


def _run(name: str, command: list[str], folder: Path) -> None:
    shown = " ".join(command)
    try:
        done = subprocess.run(  # noqa: S603 - the steps come from the registry
            command, cwd=folder, capture_output=True, text=True, timeout=STEP_SECONDS, check=False
        )
    except OSError as error:
        raise AdapterStartError(f"{name}: its build cannot run `{shown}`: {error}") from None
    except subprocess.TimeoutExpired:
        raise AdapterStartError(f"{name}: `{shown}` did not end in {STEP_SECONDS} s, in {folder}") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no output"]
        raise AdapterStartError(f"{name}: `{shown}` ended with {done.returncode}, in {folder}: {lines[-1]}")


def _source_digest(sources: Iterable[Path], build: Build) -> str:
    """Return a digest of the driver's files and steps."""
    state = blake2b(repr(build.steps).encode(), digest_size=6)
    for source in sources:
        for path in sorted(source.rglob("*")):
            inner = path.relative_to(source)
            if path.is_file() and not _NOT_SOURCE & set(inner.parts):
                state.update(str(inner).encode() + b"\0" + path.read_bytes())
    return state.hexdigest()


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Lock the file at `path`; wait for another builder, whose own steps have time limits."""
    with path.open("w") as file:
        lock_file(file.fileno())
        yield
