"""The last lines of `check` and `report`: kinds of failure, the exit code with its reason, next commands."""

import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import click
from attrs import frozen
from rich.console import Console

from wireproof.cache import cache_folder
from wireproof.cli import ARGUMENTS
from wireproof.files import read_limited_bytes, replace_text
from wireproof.report.failure_groups import FailureGroup
from wireproof.report.terminal import ShownFindings, plain_text, print_line
from wireproof.runner.baseline import NO_BASELINE, AppliedBaseline
from wireproof.runner.events import EventStream
from wireproof.runner.exit_codes import MEANINGS, Exit
from wireproof.strict_parsing import parse_json

LARGEST: Final = 1024 * 1024
"""Size limit in bytes of the list of earlier runs."""


@frozen
class PrintedRun:
    """A run that was printed: its adapter as the user wrote it, findings, exit code, known failures."""

    spec: str
    stream: EventStream
    shown: ShownFindings
    code: Exit
    applied: AppliedBaseline = NO_BASELINE


def print_end(
    console: Console, judgements: Sequence[PrintedRun], code: Exit, out: Path | None = None
) -> None:
    """Print the last lines of `check`; `out` is the file of its events."""
    for line in _counted(judgements):
        print_line(console, line)
    print_line(console, f"exit code {int(code)}: {_reason(judgements, code)}")
    _print_commands(console, [*_commands(judgements, out), *_diffs(judgements, out)])


def print_report_end(console: Console, judgements: Sequence[PrintedRun], files: Sequence[Path]) -> None:
    """Print the last lines of `report`."""
    for line in _counted(judgements):
        print_line(console, line)
    named = files[0] if len(files) == 1 else None
    _print_commands(console, _report_commands(judgements, named))


def numbered_findings(judgements: Sequence[PrintedRun]) -> Iterator[tuple[str, FailureGroup]]:
    """Yield every finding with its adapter, in the order of their numbers."""
    for one in judgements:
        yield from ((one.spec, group) for group in one.shown.found)


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


def _print_commands(console: Console, commands: Sequence[tuple[str, str]]) -> None:
    """Print commands that can be pasted, each with its purpose after it, or above it if it is long."""
    if not commands:
        return
    console.print(plain_text("next:"))
    widest = max(len(command) for command, _ in commands)
    longest = max(len(purpose) for _, purpose in commands)
    beside = 2 + widest + 4 + longest <= min(console.width, 160)
    for command, purpose in commands:
        line = f"  {command:<{widest}}  # {purpose}" if beside else f"  # {purpose}\n  {command}"
        console.print(plain_text(line) if beside else line, soft_wrap=True, markup=False, highlight=False)


def _commands(judgements: Sequence[PrintedRun], out: Path | None) -> Iterator[tuple[str, str]]:
    yield from _replay(judgements, "#1")
    if any(one.shown.printed < len(one.shown.found) for one in judgements):
        yield (_report(out, "--all") if out else _again("--all")), "show every kind of failure"
    if not judgements:
        return
    if out:
        yield _report(out, "--html", "matrix.html"), "all cases as one HTML page"
    else:
        words = ("--out", "run.jsonl", "--html", "matrix.html")
        yield _again(*words), "store the events; all cases as one HTML page"


def _report_commands(judgements: Sequence[PrintedRun], file: Path | None) -> list[tuple[str, str]]:
    if file is None:
        return []
    commands = list(_replay(judgements, f"{file}#1"))
    if any(one.shown.printed < len(one.shown.found) for one in judgements):
        commands.append((_report(file, "--all"), "show every kind of failure"))
    return [*commands, (_report(file, "--html", "matrix.html"), "all cases as one HTML page")]


def _replay(judgements: Sequence[PrintedRun], name: str) -> Iterator[tuple[str, str]]:
    first = next(numbered_findings(judgements), None)
    if first is not None:
        yield shlex.join(("wireproof", "replay", name, first[0])), "judge finding #1 again; #N for another"


def _report(file: Path, *words: str) -> str:
    return shlex.join(("wireproof", "report", str(file), *words))


def _again(*words: str) -> str:
    """Return the command line of this run with further options."""
    context = click.get_current_context(silent=True)
    given = context.meta.get(ARGUMENTS, ()) if context else ()
    return shlex.join(("wireproof", *given, *words))


# --- earlier runs ---


def _diffs(judgements: Sequence[PrintedRun], out: Path | None) -> list[tuple[str, str]]:
    """Return commands that compare each adapter with its previous run, and store the present runs."""
    earlier = _earlier()
    commands: dict[str, str] = {}
    if out is None:
        return []
    for one in judgements:
        path, version = earlier.get(one.spec, ("", ""))
        if path and Path(path) != out.absolute() and Path(path).is_file():
            now = one.stream.run.version
            purpose = "compare with the previous run" if version == now else f"compare {version} with {now}"
            commands.setdefault(shlex.join(("wireproof", "diff", path, str(out))), purpose)
        earlier[one.spec] = (str(out.absolute()), one.stream.run.version)
    if out:
        with suppress(OSError):  # a home that nobody may write to: nothing is compared
            replace_text(_memory(), json.dumps(earlier), durable=False)
    return list(commands.items())


def _memory() -> Path:
    return cache_folder() / "runs.json"


def _earlier() -> dict[str, tuple[str, str]]:
    """Return the file and version of the last run of each adapter; a damaged list counts as an empty one."""
    try:
        rows = parse_json(read_limited_bytes(_memory(), LARGEST))
        return {str(spec): (str(path), str(version)) for spec, (path, version) in dict(rows).items()}
    except (OSError, ValueError, TypeError):
        return {}
