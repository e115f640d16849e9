"""Builds a driver into the user's cache, once for each edition of its source.

The folder is named after the driver and a digest of its files, so that an older edition never answers
for a newer one; a lock lets one builder in at a time; `.ready` stands in it once every step has passed.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final

import wireproof
from wireproof.adapters.entry import Build
from wireproof.adapters.errors import AdapterStartError
from wireproof.cache import cache_folder
from wireproof.files import replace_text

STEP_SECONDS: Final = 1800
"""For one step; a first Maven or Cargo build fetches its dependencies, and machines are loaded."""

_READY: Final = ".ready"
_VERSION: Final = ".version-{name}"
"""By adapter: several editions of a library may stand in one build."""

_MADE: Final = frozenset({"target", "node_modules", "baseline.toml"})
"""What a build leaves in a checkout, and the known failures of what it made; no source of the next one."""


def drivers_folder() -> Path:
    """The peers' drivers: in the wheel as `wireproof/_peers`, in a checkout under `tests/peers`."""
    package = Path(wireproof.__file__).parent
    packaged = package / "_peers"
    return packaged if packaged.is_dir() else package.parents[1] / "tests" / "peers"


def built(name: str, build: Build) -> Path:
    """The folder in which every step has passed; raises `AdapterStartError` with the step that did not."""
    target = _target(name, build)
    if (target / _READY).exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    with _locked(target.with_suffix(".lock")):
        if not (target / _READY).exists():
            _build(name, build, target)
    return target


def is_built(name: str, build: Build) -> bool:
    """Whether this edition of the driver stands ready in the cache; nothing is built."""
    return (_target(name, build) / _READY).exists()


def note_version(folder: Path, name: str, version: str) -> None:
    """Keep beside a built driver what the hello of `name` said, so that a listing need not start it."""
    path = folder / _VERSION.format(name=name)
    if not path.exists():
        replace_text(path, version, durable=False)


def noted_version(name: str, build: Build) -> str:
    """What the first hello of `name` said; empty where it has not said any."""
    path = _target(name, build) / _VERSION.format(name=name)
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _target(name: str, build: Build) -> Path:
    return cache_folder() / f"{build.source}-{_edition(_sources(name, build), build)}"


def _sources(name: str, build: Build) -> list[Path]:
    """The driver's folder, then those it shares; raises `AdapterStartError` where one is not there."""
    folders = [drivers_folder() / part for part in (build.source, *build.shared)]
    for folder in folders:
        if not folder.is_dir():
            raise AdapterStartError(f"{name}: its driver is not there: {folder}")
    return folders


def _build(name: str, build: Build, target: Path) -> None:
    own, *shared = _sources(name, build)
    for folder, to in [(own, target), *((folder, target / folder.name) for folder in shared)]:
        shutil.copytree(folder, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_MADE))
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


def _edition(sources: list[Path], build: Build) -> str:
    """A digest of the driver's files and steps."""
    state = blake2b(repr(build.steps).encode(), digest_size=6)
    for source in sources:
        for path in sorted(source.rglob("*")):
            inner = path.relative_to(source)
            if path.is_file() and not _MADE & set(inner.parts):
                state.update(str(inner).encode() + b"\0" + path.read_bytes())
    return state.hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file; waits for another builder, whose own steps are bounded."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
