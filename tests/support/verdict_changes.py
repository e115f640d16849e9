"""Show how a change of `fixtures/` changes the verdicts on implementations: a wrong expectation is seen so.

    python -m tests.support.verdict_changes COMMIT [ADAPTER…]

It compares the fixtures of this checkout with those of COMMIT. Each golden case that is new, or whose
expectation, level or options are other ones, is judged by both, with the code of this checkout. Without an
ADAPTER it takes every codec that is ready here. The result is Markdown: the verdicts that differ, and for
each new case who answers as it expects. A case that nobody, or hardly anybody, answers so is likely to be
wrong.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import click
from attrs import frozen

from wireproof.adapters.registry.readiness import ready
from wireproof.adapters.registry.registry import entries
from wireproof.judge.verdicts import PASSING
from wireproof.run.events import CaseEvent, read_events
from wireproof.run.exit_codes import Exit

TOP: Final = Path(__file__).parents[2]

Verdicts: TypeAlias = Mapping[str, Mapping[str, CaseEvent]]
"""The verdicts by case and adapter."""

LEAST: Final = 12
"""Implementations below which a table says too little about a case."""

OWN: Final = frozenset({"reference", "columnar"})
"""Adapters of the package itself, which have their expectations from the same people."""

WORDS: Final = ("title", "why", "source", "rules")
"""The parts of a case that decide no verdict."""


@frozen
class Changes:
    """The cases that differ between two folders of fixtures: ids of the new ones, and of the others."""

    added: tuple[str, ...]
    changed: tuple[str, ...]


def rows_of(fixtures: Path) -> dict[str, dict[str, Any]]:
    """Return each case of a folder, as in its file."""
    pages = (json.loads(path.read_text("utf-8")) for path in fixtures.glob("*/*/*.json"))
    return {row["id"]: row for page in pages for row in page["cases"]}


def changes(before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]) -> Changes:
    """Compare cases by what decides their verdicts."""

    added, changed = [], []
    for name, row in sorted(now.items()):
        was = before.get(name)
        if was is None:
            added.append(name)
        elif _part(was, words=False) != _part(row, words=False):
            changed.append(name)
    return Changes(tuple(added), tuple(changed))


def _part(row: Mapping[str, Any], *, words: bool) -> dict[str, Any]:
    """Return the id and the words of a case, or all that decides its verdicts."""
    return {key: part for key, part in row.items() if (key in ("id", *WORDS)) is words}


# --- runs ---


def codecs() -> list[str]:
    """Return the codecs of others that are ready here; client programs and live servers take minutes."""
    return [
        name
        for name, entry in entries().items()
        if name not in OWN and not name.endswith("-client") and ready(entry).state == "ready"
    ]


def verdicts(
    fixtures: Path, adapters: Sequence[str], cases: Sequence[str]
) -> dict[str, dict[str, CaseEvent]]:
    """Judge cases of a folder of fixtures; return the verdicts by case and adapter.

    Raises:
        ClickException: the command cannot judge them; the message has its last lines.
    """
    if not cases:
        return {}
    with TemporaryDirectory() as folder:
        tree = Path(folder)
        for name, place in (
            ("reference", TOP / "reference"),
            ("tests", TOP / "tests"),
            ("fixtures", fixtures),
        ):
            (tree / name).symlink_to(place.absolute())
        selected = [word for name in cases for word in ("--run", name)]
        words = ["--timeout-scale", "3", "check", *adapters, *selected, "--no-families", "--out", "run.jsonl"]
        done = subprocess.run(
            [sys.executable, "-m", "wireproof", *words],
            cwd=tree, env={**os.environ, "PYTHONPATH": f"{tree / 'reference'}"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode == Exit.USAGE or not (tree / "run.jsonl").exists():
            last = "\n".join((done.stdout + done.stderr).splitlines()[-5:])
            raise click.ClickException(f"the cases of {fixtures} cannot be judged: {last}")
        streams = read_events(tree / "run.jsonl")
        if missing := set(adapters) - {
            one.run.spec for one in streams if one.footer is not None and not one.footer.error
        }:
            raise click.ClickException(
                f"not judged to the end: {', '.join(sorted(missing))}: {done.stderr[-500:]}"
            )
        found: defaultdict[str, dict[str, CaseEvent]] = defaultdict(dict)
        for stream in streams:
            for event in stream.cases:
                found[event.id][stream.run.spec] = event
    return dict(found)


def rows_at(commit: str) -> dict[str, dict[str, Any]]:
    """Return each case of the fixtures of a commit."""
    packed = subprocess.run(
        ["git", "archive", "--format=tar", commit, "fixtures"], cwd=TOP, capture_output=True, check=False
    )
    if packed.returncode:
        raise click.ClickException(f"{commit}: {packed.stderr.decode().strip()}")
    with TemporaryDirectory() as room:
        subprocess.run(["tar", "-x", "-C", room], input=packed.stdout, check=True)
        return rows_of(Path(room) / "fixtures")


def with_former_cases(
    fixtures: Path, former: Mapping[str, Mapping[str, Any]], changed: Collection[str], into: Path
) -> Path:
    """Copy some fixtures into a folder, with what decided the verdicts of the changed cases before.

    Rules, sources and the words of a case are those of today: their form may have been another one.
    """
    shutil.copytree(fixtures, into)
    for path in into.glob("*/*/*.json"):
        page = json.loads(path.read_text("utf-8"))
        if any(row["id"] in changed for row in page["cases"]):
            page["cases"] = [
                {**_part(row, words=True), **_part(former[row["id"]], words=False)}
                if row["id"] in changed
                else row
                for row in page["cases"]
            ]
            path.write_text(json.dumps(page), "utf-8")
    return into


# --- tables ---


def lines_of(
    found: Changes,
    before: Mapping[str, Mapping[str, CaseEvent]],
    now: Mapping[str, Mapping[str, CaseEvent]],
) -> Iterator[str]:
    """Yield the Markdown: what changed, then who answers the new cases as they expect."""
    rows = [
        row for name in found.changed for row in _changed_rows(name, before.get(name, {}), now.get(name, {}))
    ]
    yield f"## Verdicts on {len(found.changed)} changed cases"
    yield ""
    yield from _table(("case", "before", "now", "implementations"), rows, "No verdict is another one.")
    yield f"## Verdicts on {len(found.added)} new cases"
    yield ""
    added = [_added_row(name, now.get(name, {})) for name in found.added]
    yield from _table(("case", "level", "right", "not right"), added, "There are none.")


def _changed_rows(
    name: str, before: Mapping[str, CaseEvent], now: Mapping[str, CaseEvent]
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each change of verdict or level, with the implementations that have it."""
    turns: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for adapter, event in now.items():
        was = before.get(adapter)
        turn = _words(was), _words(event)
        if turn[0] != turn[1]:
            turns[turn].append(adapter)
    for (was_words, now_words), adapters in turns.items():
        yield f"`{name}`", was_words, now_words, ", ".join(adapters)


def _words(event: CaseEvent | None) -> str:
    if event is None:
        return "–"
    return f"{'pass' if event.verdict in PASSING else event.label} ({event.level})"


def _added_row(name: str, answers: Mapping[str, CaseEvent]) -> tuple[str, ...]:
    judged = {adapter: event for adapter, event in answers.items() if event.verdict != "unsupported"}
    right = [adapter for adapter, event in judged.items() if event.verdict in PASSING]
    wrong = [f"{adapter} ({event.label})" for adapter, event in judged.items() if adapter not in right]
    level = next((event.level for event in judged.values()), "–")
    mark = " **nobody**" if judged and not right else ""
    return f"`{name}`", level, ", ".join(right) + mark, ", ".join(wrong)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], nothing: str) -> Iterator[str]:
    if not rows:
        yield nothing
        yield ""
        return
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', '¦') for cell in row)} |"
    yield ""


@click.command()
@click.argument("commit")
@click.argument("adapters", nargs=-1)
def main(commit: str, adapters: tuple[str, ...]) -> None:
    """Print which verdicts differ between the fixtures of COMMIT and those of this checkout."""
    chosen = adapters or tuple(codecs())
    if not adapters and len(chosen) < LEAST:
        raise click.ClickException(
            f"{len(chosen)} codecs are ready here, and {LEAST} are wanted: `wireproof adapters prepare NAME…`"
        )
    with TemporaryDirectory() as room:
        former = rows_at(commit)
        found = changes(former, rows_of(TOP / "fixtures"))
        old = with_former_cases(TOP / "fixtures", former, found.changed, Path(room) / "former")
        now = verdicts(TOP / "fixtures", chosen, (*found.added, *found.changed))
        before = verdicts(old, chosen, found.changed)
    click.echo(f"{len(chosen)} implementations: {', '.join(chosen)}\n")
    click.echo("\n".join(lines_of(found, before, now)))


if __name__ == "__main__":
    main()
