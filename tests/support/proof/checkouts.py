"""The checkouts of commits, each with an environment of its own, and the programs that run in them."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final

import click

TOP: Final = Path(__file__).parents[3]
ROOM: Final = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "wireproof" / "proof"
EXTRAS: Final = "test,peers,fuzz,columnar,spark,connect"

SCRIPTS: Final = tuple(Path(__file__).with_name(name) for name in ("record.py", "commands_of_tests.py"))
"""What a record depends on beside its commit: it is made again when one of these changes."""

BENCHMARKS: Final = ("test_decode.py", "test_mutator.py", "test_transport.py")

CLOCK: Final = "time.process_time"
"""The clock of the benchmarks, which stands still while other programs have the processor."""


def run(*words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a program and return what it prints; a pytest in it is no worker of the one around it.

    Raises:
        ClickException: it fails; the message has its last lines.
    """
    around = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env={**around, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise click.ClickException(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{last}")
    return done.stdout.strip()


def prepare(commit: str, room: Path) -> Path:
    """Return the folder of a commit: its checkout, its environment and its record."""
    name = run("git", "rev-parse", "--verify", f"{commit}^{{commit}}", cwd=TOP)
    folder = room / name
    if not (folder / "ready").exists():
        shutil.rmtree(folder / "checkout", ignore_errors=True)
        shutil.rmtree(folder / "venv", ignore_errors=True)
        run("git", "clone", "-q", TOP, folder / "checkout")
        run("git", "checkout", "-q", name, cwd=folder / "checkout")
        _make_environment(folder)
        (folder / "ready").touch()
    return folder


def _make_environment(folder: Path) -> None:
    """Install a checkout into an environment that starts with the packages of this one.

    They are hard links where that is possible: an environment takes little of the disk and of the time, and
    both commits see the same versions. Pip installs what a commit wants beyond them.
    """
    venv = folder / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    ours = Path(sysconfig.get_paths()["purelib"])
    shutil.copytree(ours, venv / ours.relative_to(sys.prefix), copy_function=_link, dirs_exist_ok=True)
    words = ("-m", "pip", "install", "-q", "--no-warn-script-location", "-e", f".[{EXTRAS}]")
    run(venv / "bin/python", *words, cwd=folder / "checkout")


def _link(source: str, target: str) -> None:
    """Make a hard link, or a copy where the file systems differ."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def record_folder(folder: Path) -> Path:
    """Return where the record of a commit lies that the present scripts make."""
    form = blake2b(b"".join(script.read_bytes() for script in SCRIPTS), digest_size=6).hexdigest()
    return folder / f"record-{form}"


def record(folder: Path, parts: Sequence[str], only: str = "") -> int:
    """Record the parts of a commit that are not there yet; return the exit code."""
    words = ["--only", only] if only else []
    return subprocess.run(
        [folder / "venv/bin/python", SCRIPTS[0], folder / "checkout", record_folder(folder), *parts, *words],
        cwd=folder / "checkout",
        check=False,
    ).returncode


def times(python: Path, checkout: Path, out: Path, only: str = "") -> dict[str, float]:
    """Run the benchmarks of a checkout once, or the one with this id; return the least seconds of each."""
    files = [f"tests/benchmarks/{name}" for name in ([only] if only else BENCHMARKS)]
    words = ("-q", "-n", "0", "-p", "no:cacheprovider", "--benchmark-enable", f"--benchmark-timer={CLOCK}")
    environment = {"PYTHONPATH": str(checkout / "reference")}
    run(python, "-m", "pytest", *words, f"--benchmark-json={out}", *files, cwd=checkout, env=environment)
    rows = json.loads(out.read_text(encoding="utf-8"))["benchmarks"]
    return {row["name"]: row["stats"]["min"] for row in rows}
