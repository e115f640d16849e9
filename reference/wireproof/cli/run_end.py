"""The last lines of `check` and `report`: kinds of failure, the exit code with its reason, next commands."""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click
from attrs import frozen
from rich.console import Console

from wireproof.cli.last_run import LAST
from wireproof.report.failure_groups import replay_command
from wireproof.report.terminal import ShownFindings, plain_text, print_line
from wireproof.runner.baseline import NO_BASELINE, AppliedBaseline
from wireproof.runner.conclusion import counted
from wireproof.runner.events import EventStream
from wireproof.runner.exit_codes import MEANINGS, Exit
from wireproof.runner.origins import COUNTED

MAX_COMMANDS: Final = 3
"""Number of commands that the end of a run proposes."""


@frozen
class PrintedRun:
    """A run that was printed: its adapter as the user wrote it, findings, exit code, known failures."""

    spec: str
    stream: EventStream
    shown: ShownFindings
    code: Exit
    applied: AppliedBaseline = NO_BASELINE


def print_end(
    console: Console,
    judgements: Sequence[PrintedRun],
    code: Exit,
    out: Path | None = None,
    earlier: Mapping[str, tuple[str, str]] | None = None,
    *,
    stored: bool = True,
) -> None:
    """Print the last lines of `check`: its exit code, and at most `MAX_COMMANDS` commands that may follow.

    Args:
        console: prints them.
        judgements: the runs.
        code: the exit code of the command.
        out: the file of the events, if the user named one.
        earlier: see `LastRun.earlier`.
        stored: whether the events are in a file.
    """
    console.print()
    print_line(console, f"exit code {int(code)}: {_reason(judgements, code)}")
    _print_commands(console, list(_baseline_commands(judgements, out or Path(LAST))), "for the baseline:")
    commands = [*_replay(judgements, "#1"), *_diffs(judgements, out, earlier or {})]
    commands += _last() if stored else ()
    _print_commands(console, list(dict.fromkeys(commands))[:MAX_COMMANDS])


def _last() -> Iterator[tuple[str, str]]:
    yield f"wireproof report {LAST}", "every kind of failure, and tables"
    yield from _page(Path(LAST))


def _page(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the command that writes the page of a run, unless the command that ends has `--html` itself."""
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("html"):
        yield _report(file, "--html", "page.html"), "all of it as one page"


def print_report_end(
    console: Console, judgements: Sequence[PrintedRun], files: Sequence[Path], *, last: bool = False
) -> None:
    """Print the last lines of `report`; with `last`, of the last run of the project."""
    for line in _counted(judgements):
        print_line(console, line)
    run_file = Path(LAST) if last else files[0]
    if len(files) == 1:  # of shards no single file has the whole run
        _print_commands(console, list(_baseline_commands(judgements, run_file)), "for the baseline:")
        commands = _report_commands(judgements, run_file, last=last)
        _print_commands(console, list(commands))


def _counted(judgements: Sequence[PrintedRun]) -> Iterator[str]:
    found = sum(len(one.shown.found) for one in judgements)
    printed = sum(one.shown.printed for one in judgements)
    if found:
        part = f", {printed} shown, the most severe first" if printed < found else ""
        yield f"{found} {'kinds' if found > 1 else 'kind'} of failure{part}"


def _reason(judgements: Sequence[PrintedRun], code: Exit) -> str:
    """Return the meaning of the exit code and the adapters that it comes from."""
    names = [one.spec for one in judgements if one.code == code]
    if code == Exit.CONFORMS:
        return "every adapter conforms" if len(judgements) > 1 else MEANINGS[code]
    return MEANINGS[code] + (f": {', '.join(names)}" if names else "")


def _baseline_commands(judgements: Sequence[PrintedRun], run_file: Path) -> Iterator[tuple[str, str]]:
    """Yield the command for the new failures of each origin, and for entries that are out of date."""
    context = click.get_current_context(silent=True)
    given = context.params.get("baseline_file") if context else None
    for one in judgements:
        applied, run = one.applied, one.stream.run
        file = str(given or applied.file)
        counts = Counter(origin.kind for origin in applied.origins.values())
        if applied.suite in ("", run.suite) and not counts.keys() - {"codec"}:
            counts.clear()
        for kind, words in COUNTED.items():
            if not counts[kind]:
                continue
            if kind == "codec":
                name = next(name for name, origin in applied.origins.items() if origin.kind == kind)
                event = next(event for event in one.stream.cases if event.id == name)
                yield replay_command(event, run), f"judge again: {counted(counts[kind], 'failure')} {words}"
            else:
                command = shlex.join(("wireproof", "baseline", "add", file, str(run_file), kind))
                yield command, f"accept {counted(counts[kind], 'failure')} {words}"
        if number := len({*applied.stale, *applied.changed}):
            command = shlex.join(("wireproof", "baseline", "fix", file, str(run_file)))
            yield command, f"remove or rewrite {number:,} {'entries' if number > 1 else 'entry'} out of date"


def _print_commands(console: Console, commands: Sequence[tuple[str, str]], title: str = "next:") -> None:
    """Print commands that can be pasted, each with its purpose after it, or above it if it is long."""
    if not commands:
        return
    console.print(plain_text(title))
    widest = max(len(command) for command, _ in commands)
    longest = max(len(purpose) for _, purpose in commands)
    beside = 2 + widest + 4 + longest <= min(console.width, 160)
    for command, purpose in commands:
        line = f"  {command:<{widest}}  # {purpose}" if beside else f"  # {purpose}\n  {command}"
        console.print(plain_text(line) if beside else line, soft_wrap=True, markup=False, highlight=False)


def _report_commands(
    judgements: Sequence[PrintedRun], file: Path, *, last: bool
) -> Iterator[tuple[str, str]]:
    yield from _replay(judgements, "#1" if last else f"{file}#1")
    if any(one.shown.printed < len(one.shown.found) for one in judgements):
        yield _report(file, "--all"), "show every kind of failure"
    yield from _page(file)


def _replay(judgements: Sequence[PrintedRun], name: str) -> Iterator[tuple[str, str]]:
    if any(one.shown.found for one in judgements):
        yield shlex.join(("wireproof", "replay", name)), "judge finding #1 again; #N for another"


def _report(file: Path, *words: str) -> str:
    return shlex.join(("wireproof", "report", str(file), *words))


# --- earlier runs ---


def _diffs(
    judgements: Sequence[PrintedRun], out: Path | None, earlier: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield commands that compare each adapter with its previous run."""
    for one in judgements:
        path, version = earlier.get(one.spec, ("", ""))
        if out and path and Path(path) != out.absolute() and Path(path).is_file():
            now = one.stream.run.version
            purpose = "compare with the previous run" if version == now else f"compare {version} with {now}"
            yield shlex.join(("wireproof", "diff", _shown_path(path), str(out))), purpose


def _shown_path(path: str) -> str:
    """Return a path as somebody in the current folder would write it."""
    here = Path.cwd()
    return os.path.relpath(path, here) if Path(path).is_relative_to(here) else path
