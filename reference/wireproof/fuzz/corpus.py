"""The inputs that a campaign keeps: by their sha1, as libFuzzer keeps them, made fewer by coverage alone."""

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.cases.case import Case, Chunks, Data
from wireproof.cases.mutate import seed
from wireproof.formats import Format

ENOUGH: Final = 300
"""Inputs that nobody minds; fewer are left as they are."""

SECONDS: Final = 600.0
"""For one pass over a corpus."""

_FEATURES: Final = re.compile(r"INITED cov: (\d+) ft: (\d+)")


def keep(folder: Path, data: bytes) -> Path:
    """Add `data` to a corpus."""
    path = folder / _name(data)
    if not path.exists():
        path.write_bytes(data)
    return path


def drop(folders: Iterable[Path], data: bytes) -> None:
    """Take an input that ends processes out of corpora, or every process would begin with its end."""
    for folder in folders:
        (folder / _name(data)).unlink(missing_ok=True)


def _name(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def write_seeds(folder: Path, row: Format, cases: Iterable[Case], max_size: int) -> Path:
    """The least encoding of `row`, and the inputs of its cases and of their scans: a lane's first corpus."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    keep(folder, seed(row))
    for case in cases:
        if case.joined != row.joined:
            continue
        match case.input:
            case Data(data):
                keep(folder, data[:max_size])
            case Chunks(chunks):
                keep(folder, b"".join(chunks)[:max_size])
            case _:
                pass
    return folder


def write_dictionary(path: Path, words: Sequence[bytes]) -> Path:
    """Words as a file of libFuzzer's."""
    lines = ['"' + "".join(f"\\x{byte:02x}" for byte in word) + '"' for word in words]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


@frozen
class Minimised:
    """What came of it: inputs and features before and after; `kept` tells whether the smaller one stands."""

    inputs: tuple[int, int]
    features: tuple[int, int]
    kept: bool


def minimise(folder: Path, launcher: Path) -> Minimised:
    """Replace a corpus by the least part of it that covers as much, if that is shown.

    Args:
        folder: the corpus; nobody may fuzz over it meanwhile.
        launcher: an executable file that is the target in libFuzzer's own terms. libFuzzer starts it again
            by its name, so that a script that cannot be started keeps nothing and says so nowhere.
    """
    less = folder.with_name(f".{folder.name}.less")
    shutil.rmtree(less, ignore_errors=True)
    less.mkdir()
    _ran(launcher, "-set_cover_merge=1", str(less), str(folder))
    counts = _size(folder), _size(less)
    features = _features(launcher, folder), _features(launcher, less)
    kept = 0 < counts[1] < counts[0] and 0 < features[0] <= features[1]
    if kept:
        old = folder.with_name(f".{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
        less.rename(folder)
        shutil.rmtree(old)
    else:
        shutil.rmtree(less)
    return Minimised(counts, features, kept)


def recover(folder: Path) -> None:
    """Bring back a corpus whose replacement was cut off between its two renames."""
    old = folder.with_name(f".{folder.name}.old")
    if old.is_dir() and not folder.exists():
        old.rename(folder)


def _size(folder: Path) -> int:
    return sum(1 for _ in folder.iterdir())


def _features(launcher: Path, folder: Path) -> int:
    """The features that a fresh process counts over a corpus; 0 if it did not come to an end."""
    found = _FEATURES.findall(_ran(launcher, "-runs=0", str(folder)))
    return int(found[-1][1]) if found else 0


def _ran(launcher: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - our own launcher
            [str(launcher), *arguments],
            capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return ""
    return done.stderr


def write_launcher(path: Path, lane: str) -> Path:
    """A shell script that runs `wireproof.fuzz.plain` on a lane, with what libFuzzer appends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    quoted = lane.replace("'", "'\\''")
    path.write_text(
        f"#!/bin/sh\nexport WIREPROOF_LANE='{quoted}' WIREPROOF_SELF=\"$0\"\n"
        f"exec '{sys.executable}' -m wireproof.fuzz.plain \"$@\"\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path
