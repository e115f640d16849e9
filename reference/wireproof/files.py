"""Files that are replaced whole, locked while a run writes them, and bounded when they are read."""

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

MODE: Final = 0o666
"""Of a new file, before the umask."""

NAME: Final = 200
"""Characters of a name that its draft keeps: the name of the draft must fit into a folder too."""


class FileInUseError(OSError):
    """Another run writes the file; one line names it."""


class UnreadableError(OSError):
    """A file that is no regular file, or larger than anything that is expected in its place."""


# --- writing ---


def replace(path: Path, write: Callable[[Path], object], *, durable: bool = True) -> None:
    """Let `write` fill a draft beside `path`, which then takes its place at once; folders are made.

    Whoever is killed at whatever moment, `path` is the old file or the new one. A draft that a kill leaves
    behind is used again by the next write. What is no regular file (`/dev/stdout`) is written directly.

    Args:
        path: the file; a link is followed, a mode is kept.
        write: fills the file that it is given.
        durable: wait until the disk has it; False for many files that can be made again.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        write(path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name[:NAME]}.new")
    file = _locked_draft(draft)
    try:
        write(draft)
        if path.exists():
            os.fchmod(file, stat.S_IMODE(path.stat().st_mode))
        if durable:
            os.fsync(file)
        draft.replace(path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # of a write that failed Python does not know where
        raise
    finally:
        os.close(file)


def replace_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Replace `path` by `text` in UTF-8, as `replace` does."""
    replace_bytes(path, text.encode(), durable=durable)


def replace_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace `path` by `data`, as `replace` does."""
    replace(path, lambda draft: draft.write_bytes(data), durable=durable)


def _locked_draft(draft: Path) -> int:
    """Open the draft, alone: whoever writes the same file at this moment is waited for."""
    while True:
        file = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, MODE)
        fcntl.flock(file, fcntl.LOCK_EX)
        if _same(file, draft):
            return file
        os.close(file)  # the writer before has put it in its place


def _same(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def locked(path: Path) -> Iterator[IO[str]]:
    """Open `path` for lines that are on the disk as soon as they are written; nobody else may write it.

    Raises:
        FileInUseError: another run writes it; it is left as it is.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, MODE)
    with os.fdopen(file, "w", encoding="utf-8", buffering=1) as out:
        if stat.S_ISREG(os.fstat(file).st_mode):
            _lock(file, path)
            os.ftruncate(file, 0)
        yield out


def _lock(file: int, path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileInUseError(
            f"{path}: another run is writing it: wait until it has ended, or name another file"
        ) from None


# --- reading ---


def read_bytes(path: Path, most: int) -> bytes:
    """The bytes of a regular file of `most` bytes at most.

    Raises:
        UnreadableError: it is no regular file, such as a pipe or a device, or it is larger.
        OSError: it cannot be read.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe without a writer would wait
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableError("it is not a regular file")
        with os.fdopen(file, "rb", closefd=False) as data:
            if found.st_size > most or len(got := data.read(most + 1)) > most:
                raise UnreadableError(f"it is larger than {most:,} bytes")
        return got
    finally:
        os.close(file)


def read_text(path: Path, most: int) -> str:
    """The text of a regular file in UTF-8, as `read_bytes`; raises UnicodeDecodeError too."""
    return read_bytes(path, most).decode()
