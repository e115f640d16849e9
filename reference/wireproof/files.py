"""Safe access to files: replacement in one step, locks, a size limit for reading, the cache."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

try:
    import fcntl
except ImportError:
    raise SystemExit(
        "wireproof runs on Linux and other POSIX systems: on Windows, use WSL or a container"
    ) from None

NEW_FILE_MODE: Final = 0o666
"""Mode of a new file, before the umask."""


class FileInUseError(OSError):
    """Another run is writing the file; the message is one line with its path."""


class UnreadableError(OSError):
    """The file is not a regular file, or it is larger than the limit."""


# --- writing ---


def replace_file(path: Path, write: Callable[[Path], object], *, durable: bool = True) -> None:
    """Replace `path` in one step: `write` fills a draft next to it, which is then renamed to `path`.

    If the process is killed at any time, `path` is the old file or the new one. The next write reuses a draft
    that was left. Missing folders are created, links are followed, and the mode is kept. A path that is not a
    regular file, such as `/dev/stdout`, is written directly. `durable` waits until the data is on the disk;
    it is False for many files that can be built again.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        with naming(path):
            write(path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name[:200]}.new")  # a longer name may be too long
    file = _locked_draft(draft)
    try:
        with naming(path):
            write(draft)
            if path.exists():
                os.fchmod(file, stat.S_IMODE(path.stat().st_mode))
            if durable:
                os.fsync(file)
            draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name `path` in an error of the system: Python names no file when a read or a write fails."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def replace_text(path: Path, text: str, *, durable: bool = True) -> None:
    replace_bytes(path, text.encode(), durable=durable)


def replace_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    replace_file(path, lambda draft: draft.write_bytes(data), durable=durable)


def _locked_draft(draft: Path) -> int:
    """Open and lock the draft; wait while another process writes the same file."""
    while True:
        file = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, NEW_FILE_MODE)
        lock_file(file)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), draft.stat()):
                return file
        os.close(file)  # the other process renamed it, so this file is not the draft any more


@contextmanager
def open_locked(path: Path) -> Iterator[IO[str]]:
    """Open and lock `path` for writing, each line at once; raises `FileInUseError` without any change."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, NEW_FILE_MODE)
    with naming(path), os.fdopen(file, "w", encoding="utf-8", buffering=1, newline="\n") as out:
        if stat.S_ISREG(os.fstat(file).st_mode):
            if not try_lock_file(file):
                raise FileInUseError(
                    f"{path}: another run is writing it: wait until it ends, or choose another file"
                )
            os.ftruncate(file, 0)
        yield out


# --- reading ---


def read_limited_bytes(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a regular file of at most `max_bytes`; raises `UnreadableError`, or `OSError`."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe without a writer would block
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("it is not a regular file")
        with naming(path), os.fdopen(file, "rb", closefd=False) as stream:
            data = stream.read(min(status.st_size, max_bytes) + 1)  # the limit alone would allocate as much
            if len(data) > status.st_size:  # it has grown meanwhile
                data += stream.read(max(0, max_bytes + 1 - len(data)))
        if len(data) > max_bytes:
            raise UnreadableError(f"it is larger than {max_bytes:,} bytes")
        return data
    finally:
        os.close(file)


def read_limited_text(path: Path, max_bytes: int) -> str:
    """Return the text of a regular file in UTF-8; raises `UnicodeDecodeError`, or as `read_limited_bytes`."""
    return read_limited_bytes(path, max_bytes).decode()


def cache_folder() -> Path:
    """Return `$WIREPROOF_CACHE`, else `wireproof` under `$XDG_CACHE_HOME` or `~/.cache`."""
    if own := os.environ.get("WIREPROOF_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wireproof"


def lock_file(file: int) -> None:
    fcntl.flock(file, fcntl.LOCK_EX)


def try_lock_file(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
