"""The corpus of a campaign: inputs named by their SHA-1, as libFuzzer names them, and how it is minimised."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.cases.case import Case, Chunks, Data
from wireproof.cases.mutate import seed
from wireproof.cases.mutate.dictionary import dictionary_text
from wireproof.formats import Format

MINIMISE_FROM: Final = 300
"""A corpus with fewer inputs is not minimised."""

LIBFUZZER_TIMEOUT: Final = 600.0
"""Time limit in seconds of a minimisation."""

_FEATURES: Final = re.compile(r"INITED cov: (\d+) ft: (\d+)")


def add_input(folder: Path, data: bytes) -> Path:
    """Add `data` to the corpus in `folder`."""
    path = folder / _name(data)
    if not path.exists():
        path.write_bytes(data)
    return path


def remove_input(folders: Iterable[Path], data: bytes) -> None:
    """Remove `data` from the corpora in `folders`.

    An input that ends the process must not stay: every new process reads the whole corpus first.
    """
    for folder in folders:
        (folder / _name(data)).unlink(missing_ok=True)


def _name(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def write_seeds(folder: Path, fmt: Format, cases: Iterable[Case], max_size: int) -> Path:
    """Write the first inputs of a worker: the minimal encoding of `fmt`, and the inputs of its cases.

    Chunks of a scan are joined, inputs are cut to `max_size` bytes, and values to encode are left out.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    add_input(folder, seed(fmt))
    for case in cases:
        if case.format_id != fmt.format_id:
            continue
        match case.input:
            case Data(data):
                add_input(folder, data[:max_size])
            case Chunks(chunks):
                add_input(folder, b"".join(chunks)[:max_size])
            case _:
                pass
    return folder


def write_dictionary(path: Path, words: Sequence[bytes]) -> Path:
    """Write words that libFuzzer inserts into inputs, in libFuzzer's file format."""
    path.write_text(dictionary_text(words), encoding="ascii")
    return path


@frozen
class Minimised:
    """The result of a minimisation.

    Attributes:
        inputs: number of inputs before and after.
        features: number of libFuzzer's features before and after.
        kept: whether the smaller corpus has replaced the larger one.
    """

    inputs: tuple[int, int]
    features: tuple[int, int]
    kept: bool


def minimise(folder: Path, launcher: Path, seconds: float = LIBFUZZER_TIMEOUT) -> Minimised:
    """Replace a corpus by a smaller one if that is shown to have as many features.

    libFuzzer starts itself again by the name of its program when it merges. If that program cannot be
    started, the merge keeps no input and reports no error: so the features of both corpora are compared.

    Args:
        folder: the corpus; no process may fuzz with it meanwhile.
        launcher: an executable file that runs the target with libFuzzer's own flags.
        seconds: time limit; a corpus that would take longer is left as it was.
    """
    until = time.monotonic() + seconds
    smaller = folder.with_name(f".{folder.name}.smaller")
    shutil.rmtree(smaller, ignore_errors=True)
    smaller.mkdir()
    _run(launcher, until, "-set_cover_merge=1", str(smaller), str(folder))
    inputs = _size(folder), _size(smaller)
    features = _features(launcher, until, folder), _features(launcher, until, smaller)
    kept = 0 < inputs[1] < inputs[0] and 0 < features[0] <= features[1]
    if kept:
        old = folder.with_name(f".{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
        smaller.rename(folder)
        shutil.rmtree(old)
    else:
        shutil.rmtree(smaller)
    return Minimised(inputs, features, kept)


def recover(folder: Path) -> None:
    """Bring back a corpus if a minimisation was interrupted between its two renames."""
    old = folder.with_name(f".{folder.name}.old")
    if old.is_dir() and not folder.exists():
        old.rename(folder)


def _size(folder: Path) -> int:
    return sum(1 for _ in folder.iterdir())


def _features(launcher: Path, until: float, folder: Path) -> int:
    """Return the features that a fresh process counts in a corpus; 0 if the process does not end well."""
    found = _FEATURES.findall(_run(launcher, until, "-runs=0", str(folder)))
    return int(found[-1][1]) if found else 0


def _run(launcher: Path, until: float, *arguments: str) -> str:
    """Return the error output of the launcher; empty if it does not end before `until`."""
    with subprocess.Popen(  # noqa: S603 - our own launcher
        [str(launcher), *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            return process.communicate(timeout=max(0.0, until - time.monotonic()))[1]
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)  # and the processes that a merge has started
            if isinstance(error, subprocess.TimeoutExpired):
                return ""
            raise
