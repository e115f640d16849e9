"""Files are replaced completely or not at all, even if the process is killed."""

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from kill_inside_call import every_kill, killed_at

from wireproof import files
from wireproof.files import (
    FileInUseError,
    open_locked,
    read_limited_bytes,
    replace_text,
)


@every_kill
@pytest.mark.parametrize("at", ["fchmod", "fsync", "replace"])
def test_a_kill_inside_a_replacement_leaves_the_old_file_whole(
    tmp_path: Path, at: str, kill: signal.Signals
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    killed_at(f"os.{at}", kill, lambda: replace_text(path, "new"))
    assert path.read_text() == "old"
    replace_text(path, "newest")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("file", "newest")]


def test_an_error_or_an_interrupt_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for error in (OSError(28, "No space left"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            files.replace_file(path, _raising(error))
    assert not list(tmp_path.iterdir())
    with pytest.raises(OSError, match=r"No space left: '.*/file'"):
        files.replace_file(path, _raising(OSError(28, "No space left")))


def _raising(error: BaseException) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text("ne")
        raise error

    return write


def test_a_mode_is_kept_and_a_link_is_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    replace_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_what_is_no_regular_file_is_written_directly() -> None:
    replace_text(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()


def test_a_second_writer_of_the_same_file_waits_for_the_first(tmp_path: Path) -> None:
    path = tmp_path / "file"
    second = Thread(target=replace_text, args=(path, "second"))

    def write(draft: Path) -> None:
        draft.write_text("first")
        second.start()
        second.join(0.1)
        assert second.is_alive()

    files.replace_file(path, write)
    second.join()
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("file", "second")]


def test_a_file_that_a_run_writes_is_refused_to_a_second_one(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with open_locked(path) as out:
        out.write("one\n")
        with pytest.raises(FileInUseError, match=r"run\.jsonl: another run is writing it"), open_locked(path):
            pass
        assert path.read_text() == "one\n"  # at once, and the second run has taken nothing away
    with open_locked(path) as out:
        assert path.read_text() == ""


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: os.mkfifo(folder / "x"), "not a regular file"),
        (lambda folder: (folder / "x").symlink_to("/dev/zero"), "not a regular file"),
        (lambda folder: (folder / "x").mkdir(), "not a regular file"),
        (lambda folder: (folder / "x").write_bytes(bytes(101)), "larger than 100 bytes"),
        (lambda _: None, "No such file"),
    ],
    ids=["pipe", "device", "folder", "too large", "missing"],
)
def test_a_file_is_read_within_its_bound_and_never_waited_for(
    tmp_path: Path, make: Callable[[Path], object], said: str
) -> None:
    make(tmp_path)
    with pytest.raises(OSError, match=said):
        read_limited_bytes(tmp_path / "x", 100)
