"""The corpus of a campaign: inputs named by their SHA-1, as libFuzzer names them, and how it is minimised."""

import hashlib
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import asdict, define, frozen

from wireproof.cases.case import Case, Chunks, Data
from wireproof.derive.mutate import seed
from wireproof.derive.mutate.dictionary import dictionary_text
from wireproof.formats import Format
from wireproof.strict_parsing import parse_json, structure

MAX_SIZE: Final = 4096
"""Largest input in bytes; of a longer one, its beginning is used."""

MAX_FILE_SIZE: Final = 1 << 20
"""A file of a corpus with more bytes is none of a fuzzer."""

MAX_NAMED: Final = 4
"""Files that a line about a corpus names."""

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
    named = [f"{name} ({fault})" for name, fault in faults.items()][:MAX_NAMED]
    more = f", and {len(faults) - MAX_NAMED} more" if len(faults) > MAX_NAMED else ""
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
        match case.input:
            case Data(data):
                add_input(folder, data[:MAX_SIZE])
            case Chunks(chunks):
                add_input(folder, b"".join(chunks)[:MAX_SIZE])
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


TEST_FILE_BYTES: Final = 1 << 16
"""Size in bytes of the test file that shows that the disk is not full."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9.+-]+")


def slug(name: str) -> str:
    """Return `name` as a safe file name."""
    return _UNSAFE.sub("-", name).strip("-.")[:80] or "x"


@frozen
class WorkDirectory:
    """The work directory of a campaign."""

    root: Path

    def corpus(self, adapter: str, format_id: str) -> Path:
        """Return the folder of the inputs of one adapter and format."""
        return self.root / "corpus" / slug(adapter) / slug(format_id)

    def corpora(self, adapter: str) -> list[Path]:
        """Return the folders of the inputs of one adapter that there are, by format."""
        folders = (self.root / "corpus" / slug(adapter)).glob("[!.]*")
        return sorted(folder for folder in folders if folder.is_dir())

    def findings(self, adapter: str) -> Path:
        """Return the folder of the findings in one adapter."""
        return self.root / "findings" / slug(adapter)

    def worker(self, name: str) -> Path:
        """Return the folder of the files that belong to one worker."""
        return self.root / "work" / name

    def check_space(self) -> None:
        """Write a test file; raises OSError if the disk is full or not writable."""
        with tempfile.TemporaryFile(dir=self.root) as file:
            file.write(bytes(TEST_FILE_BYTES))

    @property
    def stats(self) -> Path:
        """Return the file of the statistics of all workers."""
        return self.root / "stats.jsonl"


# --- the statistics ---


@define
class StatsLine:
    """One line of `stats.jsonl`: one turn of one format, up to a moment.

    Attributes:
        at: time of the line, in seconds since the epoch.
        worker, adapter, format_id: the worker, its adapter and the id of the format.
        seconds: since the turn began.
        executions: inputs that were checked.
        coverage, features, corpus: as libFuzzer counts them.
        deaths: fuzzing processes that died or were stopped.
        last: how the last of them ended.
        resident: largest resident memory of a fuzzing process, in bytes.
    """

    at: float
    worker: str
    adapter: str
    format_id: str
    seconds: float
    executions: int = 0
    coverage: int = 0
    features: int = 0
    corpus: int = 0
    deaths: int = 0
    last: str = ""
    resident: int = 0


@frozen
class FormatStats:
    """The statistics of one format, summed over its turns; of coverage, features and corpus the maximum."""

    format_id: str
    executions: int
    seconds: float
    coverage: int
    features: int
    corpus: int
    deaths: int
    resident: int


def append_line(directory: WorkDirectory, line: StatsLine) -> None:
    """Append one line to the statistics of a campaign."""
    with directory.stats.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(line)) + "\n")


class StatsReader:
    """Reads the statistics of an adapter while workers append to them.

    A turn has many lines, and the last one counts. A turn ends where the format changes or the seconds fall.

    Attributes:
        last: the newest line; None before the first one.
    """

    def __init__(self, directory: WorkDirectory, adapter: str, since: float) -> None:
        """Read the lines of `adapter` from `since` on (seconds since the epoch)."""
        self._path, self._adapter, self._since = directory.stats, adapter, since
        self._place = 0
        self._turns: dict[tuple[str, int], StatsLine] = {}
        self._current: dict[str, int] = {}
        self.last: StatsLine | None = None

    def formats(self) -> list[FormatStats]:
        """Read the lines that are new, and return the statistics of each format."""
        for line in self._new_lines():
            if line.adapter == self._adapter and line.at >= self._since:
                self._add(line)
        names = dict.fromkeys(line.format_id for line in self._turns.values())
        turns = self._turns.values()
        return [_sum(name, [line for line in turns if line.format_id == name]) for name in names]

    def _add(self, line: StatsLine) -> None:
        key = (line.worker, self._current.get(line.worker, 0))
        before = self._turns.get(key)
        if before is not None and (line.seconds < before.seconds or line.format_id != before.format_id):
            self._current[line.worker] = key[1] + 1
            key = (line.worker, self._current[line.worker])
        self._turns[key] = self.last = line

    def _new_lines(self) -> Iterator[StatsLine]:
        """Yield the complete lines; one that was being written when its process was killed is left out."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._place)
            complete, newline, _ = file.read().rpartition(b"\n")
        self._place += len(complete) + len(newline)
        for text in complete.splitlines():
            try:
                line = structure(parse_json(text), StatsLine, "the line")
            except ValueError:
                continue
            yield line


def _sum(name: str, lines: list[StatsLine]) -> FormatStats:
    """Return the sum of the last lines of the turns of one format."""
    return FormatStats(
        name,
        sum(line.executions for line in lines),
        sum(line.seconds for line in lines),
        max(line.coverage for line in lines),
        max(line.features for line in lines),
        max(line.corpus for line in lines),
        sum(line.deaths for line in lines),
        max(line.resident for line in lines),
    )
