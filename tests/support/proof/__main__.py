"""Prove that a change loses nothing: `python -m tests.support.proof COMMIT` in a checkout.

It records what COMMIT does and what HEAD does, each in a checkout and an environment of its own, prints what
differs, and ends with 1 if something that was there is lost or is another. A record is kept for its commit;
one that was interrupted goes on. Without `--whole` it takes about ten minutes on two cores for a new commit.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import click

from tests.support.proof.compare import compare, missing
from tests.support.proof.record import QUICK, WHOLE

TOP: Final = Path(__file__).parents[3]
ROOM: Final = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "wireproof" / "proof"
EXTRAS: Final = "test,peers,fuzz,columnar,spark,connect"

BENCHMARKS: Final = ("test_decode.py", "test_mutator.py", "test_transport.py")
LEAST_ROUNDS: Final = 3


def _run(*words: str | Path, cwd: Path | None = None) -> str:
    """Run a program; stop with its last lines if it fails."""
    done = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise click.ClickException(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{last}")
    return done.stdout.strip()


def prepare(commit: str, room: Path) -> Path:
    """Return the folder of a commit: its checkout, its environment and its record."""
    name = _run("git", "rev-parse", "--verify", f"{commit}^{{commit}}", cwd=TOP)
    folder = room / name
    if not (folder / "checkout").exists():
        _run("git", "clone", "-q", TOP, folder / "checkout")
        _run("git", "checkout", "-q", name, cwd=folder / "checkout")
    if not (folder / "ready").exists():
        _run(sys.executable, "-m", "venv", folder / "venv")
        _run(folder / "venv/bin/pip", "install", "-q", "-e", f".[{EXTRAS}]", cwd=folder / "checkout")
        (folder / "ready").touch()
    return folder


def record(folder: Path, parts: tuple[str, ...]) -> int:
    """Record the parts of a commit that are not there yet; return the exit code."""
    script = Path(__file__).with_name("record.py")
    return subprocess.run(
        [folder / "venv/bin/python", script, folder / "checkout", folder / "record", *parts],
        cwd=folder / "checkout",
        check=False,
    ).returncode


@click.command()
@click.argument("before")
@click.argument("now", default="HEAD")
@click.option("--whole", is_flag=True, help="faulty servers, peers and benchmarks too: up to an hour")
@click.option("--part", "parts", multiple=True, type=click.Choice(list(WHOLE)), help="only these parts")
@click.option("--shown", default=10, help="differences of a part that are printed, of each kind")
@click.option("--room", default=ROOM, type=click.Path(path_type=Path), help="where the records lie")
def main(*, before: str, now: str, whole: bool, parts: tuple[str, ...], shown: int, room: Path) -> None:
    """Compare commit BEFORE with commit NOW."""
    wanted = parts or tuple(WHOLE if whole else QUICK)
    folders = [prepare(commit, room) for commit in (before, now)]
    failed = [record(folder, wanted) for folder in folders]
    records = [folder / "record" for folder in folders]
    fault = any(failed)
    for difference in compare(*records):
        if difference.part in wanted:
            click.echo("\n".join(difference.lines(shown)))
            fault |= difference.is_fault
    for part in missing(*records):
        click.echo(f"{part}: only one of the records has it")
        fault = True
    if whole:
        benchmarks(*folders)
    sys.exit(fault)


def benchmarks(*folders: Path) -> None:
    """Print the least time of each benchmark in both checkouts, which run in turn, and the ratio."""
    best: list[dict[str, float]] = [{}, {}]
    for _ in range(LEAST_ROUNDS):
        for times, folder in zip(best, folders, strict=True):
            for name, seconds in _times(folder).items():
                times[name] = min(seconds, times.get(name, seconds))
    for name in sorted(best[0].keys() & best[1].keys()):
        before, now = (times[name] for times in best)
        click.echo(f"benchmark {name}: {before * 1e6:,.1f} -> {now * 1e6:,.1f} µs, {now / before:.2f}")


def _times(folder: Path) -> dict[str, float]:
    """Run the benchmarks of a checkout once; return the least seconds of each."""
    out = folder / "benchmarks.json"
    files = [f"tests/benchmarks/{name}" for name in BENCHMARKS]
    words = ("-q", "-n", "0", "-p", "no:cacheprovider", "--benchmark-enable", f"--benchmark-json={out}")
    _run(folder / "venv/bin/python", "-m", "pytest", *words, *files, cwd=folder / "checkout")
    rows = json.loads(out.read_text(encoding="utf-8"))["benchmarks"]
    return {row["name"]: row["stats"]["min"] for row in rows}


if __name__ == "__main__":
    main()
