"""The corpus of a campaign: inputs named by their SHA-1, as libFuzzer names them, and how it is minimised."""

import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.cases.case import Case, Chunks, Data
from wireproof.cases.made_case import input_bytes
from wireproof.derive.mutate import seed
from wireproof.derive.mutate.draws import MAX_SIZE
from wireproof.formats import Format

MAX_FILE_SIZE: Final = 1 << 20
"""A file of a corpus with more bytes is none of a fuzzer."""

MINIMISE_FROM: Final = 300
"""A corpus with fewer inputs is not minimised."""

LIBFUZZER_TIMEOUT: Final = 600.0
"""Time limit in seconds of a minimisation."""


def add_input(folder: Path, data: bytes) -> Path:
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


def _fault(path: Path) -> str:
    """Return why a file of a corpus is no input; empty if it is one."""
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            return "a folder"
        if not stat.S_ISREG(found.st_mode):
            return "no regular file"
        if found.st_size > MAX_FILE_SIZE:
            return f"{found.st_size:,} bytes, at most {MAX_FILE_SIZE:,} are read"
        path.open("rb").close()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def input_files(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the files of some corpora that can be inputs, in order."""
    yield from sorted(path for folder in folders for path in folder.iterdir() if not _fault(path))


def left_out(folder: Path) -> str:
    """Return one line about what is no input in the corpus `folder`; empty if all of it is."""
    faults = {path.name: fault for path in sorted(folder.iterdir()) if (fault := _fault(path))}
    if not faults:
        return ""
    named = [f"{name} ({fault})" for name, fault in faults.items()][:4]
    more = f", and {len(faults) - 4} more" if len(faults) > 4 else ""
    return f"{folder}: not read as inputs: {', '.join(named)}{more}"


def copy_inputs(folders: Iterable[Path], target: Path) -> Path:
    """Copy the inputs of other folders into the empty folder `target`, each cut to `MAX_SIZE` bytes."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in input_files(folders):
        with path.open("rb") as file:
            add_input(target, file.read(MAX_SIZE))
    return target


def _name(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def write_seeds(folder: Path, fmt: Format, cases: Iterable[Case]) -> Path:
    """Write the first inputs of a worker: the minimal encoding of `fmt`, and the inputs of its cases.

    Chunks of a scan are joined, inputs are cut to `MAX_SIZE` bytes, and values to encode are left out.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    add_input(folder, seed(fmt))
    for case in cases:
        if case.format_id != fmt.format_id:
            continue
        if isinstance(case.input, Data | Chunks):
            add_input(folder, input_bytes(case)[:MAX_SIZE])
    return folder


@frozen
class Minimised:
    """The numbers of inputs and of libFuzzer's features before and after, and whether the smaller is kept."""

    inputs: tuple[int, int]
    features: tuple[int, int]
    kept: bool


def minimise(
    folder: Path, command: Sequence[str], environment: Mapping[str, str], seconds: float = LIBFUZZER_TIMEOUT
) -> Minimised:
    """Replace a corpus by a smaller one if that is shown to have as many features.

    libFuzzer starts itself again by the name of its program when it merges. If that program cannot be
    started, the merge keeps no input and reports no error: so the features of both corpora are compared.

    No process may fuzz with it meanwhile. `command` runs the target with libFuzzer's own flags. A corpus that
    would take more than `seconds` is left as it was.
    """
    until = time.monotonic() + seconds
    smaller = folder.with_name(f".{folder.name}.smaller")
    shutil.rmtree(smaller, ignore_errors=True)
    smaller.mkdir()

    def features_of(inputs: Path) -> int:
        """Return the features that a fresh process counts; 0 if the process does not end well."""
        output = _run(command, environment, until, "-runs=0", str(inputs))
        found = re.findall(r"INITED cov: \d+ ft: (\d+)", output)
        return int(found[-1]) if found else 0

    _run(command, environment, until, "-set_cover_merge=1", str(smaller), str(folder))
    inputs = size_of(folder), size_of(smaller)
    features = features_of(folder), features_of(smaller)
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


def size_of(folder: Path) -> int:
    """Return the number of files of a corpus; 0 if there is none."""
    return sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0


def _run(command: Sequence[str], environment: Mapping[str, str], until: float, *arguments: str) -> str:
    """Return the error output of a command; empty if it does not end before `until`."""
    with subprocess.Popen(  # noqa: S603 - our own module
        [*command, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        try:
            return process.communicate(timeout=max(0.0, until - time.monotonic()))[1]
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)  # and the processes that a merge has started
            if isinstance(error, subprocess.TimeoutExpired):
                return ""
            raise
