"""What the last `check` of a project left: its events, and the number of each kind of failure.

It is in a folder of the cache for each project: the nearest folder upwards with `.git`, else the current one.
`report last` shows the events, `replay '#6'` judges a finding again, `diff` compares with an earlier run.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, cast

import click
from attrs import field, frozen

from wireproof.cases.id_patterns import PatternError
from wireproof.files import cache_folder, read_limited_bytes, replace_text
from wireproof.report.failure_groups import Kind
from wireproof.run.events import EventError, EventStream, joined, read_events
from wireproof.strict_parsing import parse_json, structure, to_tree

LAST: Final = "last"
"""The name of the last run, in place of a file."""

NAMED: Final = f"{__name__}.named"
"""The key of click's context under which stands that the user wrote `last`, and not the file itself."""


@frozen
class Finding:
    """A kind of failure of an adapter, as the user wrote it, with the id or token of its first case."""

    spec: str
    name: str
    kind: Kind


@frozen
class LastRun:
    """The last run of a project.

    Attributes:
        file: its events; empty if another run wrote to that file meanwhile, or nobody may write it.
        findings: in the order of their numbers.
        earlier: by adapter as the user wrote it, the file of its last run with `--out` and its version.
    """

    file: str = ""
    findings: tuple[Finding, ...] = ()
    earlier: Mapping[str, tuple[str, str]] = field(factory=dict)

    @property
    def numbers(self) -> Mapping[tuple[str, Kind], int]:
        return {(one.spec, one.kind): number for number, one in enumerate(self.findings, 1)}


def project_folder() -> Path:
    here = Path.cwd()
    root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    return cache_folder() / "runs" / blake2b(str(root).encode(), digest_size=8).hexdigest()


def own_events() -> Path:
    """Return the file for the events of a run without `--out`, in a folder that exists; raises `OSError`."""
    folder = project_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "run.jsonl"


def store_last_run(run: LastRun) -> None:
    """Store the run as the last one of the project; a home that nobody may write to is left as it is."""
    with suppress(OSError):
        folder = project_folder()
        folder.mkdir(parents=True, exist_ok=True)
        replace_text(folder / "last.json", json.dumps(to_tree(run)), durable=False)


def last_run() -> LastRun:
    """Return the last run of the project, an empty one if there is none; raises `PatternError`."""
    path = project_folder() / "last.json"
    try:
        return structure(parse_json(read_limited_bytes(path, 16 << 20)), LastRun, "the last run")
    except FileNotFoundError:
        return LastRun()
    except (OSError, ValueError) as error:
        raise PatternError(f"{path}: {error}; remove it") from None


def readable_last_run() -> LastRun:
    """Return the last run of the project; one that cannot be read counts as none."""
    try:
        return last_run()
    except PatternError:
        return LastRun()


def streams_of(paths: Sequence[Path]) -> list[EventStream]:
    """Return the runs of files, shards joined; raises `EventError` if there is none."""
    streams = joined(stream for path in paths for stream in read_events(path))
    if not streams:
        raise EventError(
            f"{paths[0]}: holds no run: write one with `wireproof check … --out {paths[0].name}`"
        )
    return streams


class RunFile(click.Path):
    """The type of a file or folder of runs; `last` is the last run of the project."""

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ANN401 - click's signature
        """Return the path; fail if nothing is there."""
        if value == LAST and not Path(LAST).exists():
            stored = last_run().file
            if not stored or not Path(stored).is_file():
                self.fail("no run of this project is stored: run `wireproof check ADAPTER` first", param, ctx)
            if ctx is not None:
                ctx.meta[NAMED] = True
            return Path(stored)
        return cast("Path", super().convert(value, param, ctx))
