"""Prove that a change loses nothing: `python -m tests.support.proof COMMIT` in a checkout.

It records what COMMIT does and what HEAD does, each in a checkout and an environment of its own, and prints
what differs. It ends with 1 if something that was there is lost or is another, or if a part could not be
compared. A part of a record is made once for its commit, so that one that was interrupted goes on.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from hashlib import blake2b
from pathlib import Path
from typing import Final

import click

from tests.support.proof.compare import compare, missing
from tests.support.proof.record import QUICK, WHOLE

TOP: Final = Path(__file__).parents[3]
ROOM: Final = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "wireproof" / "proof"
EXTRAS: Final = "test,peers,fuzz,columnar,spark,connect"

SCRIPTS: Final = tuple(Path(__file__).with_name(name) for name in ("record.py", "commands_of_tests.py"))
"""What a record depends on beside its commit: it is made again when one of these changes."""


@click.command()
@click.argument("before")
@click.argument("now", default="HEAD")
@click.option("--whole", is_flag=True, help="derived cases, documents, faulty servers and peers too")
@click.option("--part", "parts", multiple=True, type=click.Choice([*WHOLE]), help="only these parts")
@click.option("--shown", default=10, help="differences of a part that are printed, of each kind")
@click.option("--room", default=ROOM, type=click.Path(path_type=Path), help="where the records lie")
def main(*, before: str, now: str, whole: bool, parts: tuple[str, ...], shown: int, room: Path) -> None:
    """Compare commit BEFORE with commit NOW."""
    wanted = parts or tuple(WHOLE if whole else QUICK)
    records, fault = [], False
    for folder in [prepare(commit, room) for commit in (before, now)]:
        form = blake2b(b"".join(script.read_bytes() for script in SCRIPTS), digest_size=6).hexdigest()
        records.append(folder / f"record-{form}")
        words = (folder / "venv/bin/python", SCRIPTS[0], folder / "checkout", records[-1], *wanted)
        fault |= subprocess.run(words, cwd=folder / "checkout", check=False).returncode != 0
    for difference in compare(*records, wanted):
        click.echo("\n".join(difference.lines(shown)))
        fault |= difference.is_fault
    for line in missing(*records, wanted):
        click.echo(line)
        fault = True
    sys.exit(fault)


def run(*words: str | Path, cwd: Path | None = None) -> str:
    """Run a program and return what it prints.

    Raises:
        ClickException: it fails; the message has its last lines.
    """
    done = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise click.ClickException(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{last}")
    return done.stdout.strip()


def prepare(commit: str, room: Path) -> Path:
    """Return the folder of a commit: its checkout, its environment and its record."""
    name = run("git", "rev-parse", "--verify", f"{commit}^{{commit}}", cwd=TOP)
    folder = room.resolve() / name
    if not (folder / "ready").exists():
        shutil.rmtree(folder / "checkout", ignore_errors=True)
        shutil.rmtree(folder / "venv", ignore_errors=True)
        run("git", "clone", "-q", TOP, folder / "checkout")
        run("git", "checkout", "-q", name, cwd=folder / "checkout")
        # The environment starts with the packages of this one, as hard links where that is possible: it takes
        # little of the disk and of the time, and both commits see the same versions. Pip adds.
        venv, ours = folder / "venv", Path(sysconfig.get_paths()["purelib"])
        run(sys.executable, "-m", "venv", "--without-pip", venv)
        shutil.copytree(ours, venv / ours.relative_to(sys.prefix), copy_function=_link, dirs_exist_ok=True)
        words = ("-m", "pip", "install", "-q", "--no-warn-script-location", "-e", f".[{EXTRAS}]")
        run(venv / "bin/python", *words, cwd=folder / "checkout")
        (folder / "ready").touch()
    return folder


def _link(source: str, target: str) -> None:
    """Make a hard link, or a copy where the file systems differ."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


if __name__ == "__main__":
    main()
