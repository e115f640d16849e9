"""The frozen cases that nothing needs any more: what each of them tests, other cases test too.

    python -m tests.support.unneeded_cases [--kill DIR]

A case is needed if it is the twin of another one or of a covering array, or if a bug, a vector, a sentence, a
known failure, a found fault or a document names it. Else it is needed while it alone has one of its rules
with its kind of answer, fills a cell of the table of states, or kills a mutant by the `kill.json` in DIR
(`python -m tests.mutants --table golden --out DIR`). The cases that are printed could go all together. They
stay, because their ids are promised.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from tests.mutants.kill_table import kills_by_case
from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite, load
from wireproof.cases.states import state_table

TOP: Final = Path(__file__).parents[2]
NAMED_IN: Final = (
    "fixtures/sources.toml",
    "tests/peers/*/*/baseline.toml",
    "tests/peers/found.toml",
    "reference/docs/*.md",
    "README.md",
)
"""The files that need the cases that they name. A pattern names none: it is about those that there are."""

_ID: Final = re.compile(r"[a-z.-]+/[\w.-]+/[\w.-]+/[\w.-]*\w")


def named_cases(texts: Iterable[str]) -> set[str]:
    """Return everything in some texts that may be the id of a case."""
    return {found for text in texts for found in _ID.findall(text)}


def what_needs_cases(suite: Suite, kills: Mapping[str, Sequence[str]]) -> dict[Hashable, set[str]]:
    """Return what some case must have, and the cases that have it: rules, cells, and mutants."""
    needs: defaultdict[Hashable, set[str]] = defaultdict(set)
    for case in suite.cases:
        for rule in case.rules:
            needs[rule, case.format_id, case.op, case.level, type(case.expect)].add(case.id)
    for cell, ids in state_table(suite).filled.items():
        needs[cell].update(ids)
    for name, mutants in kills.items():
        for mutant in mutants:
            needs[mutant].add(name)
    return needs


def unneeded(
    cases: Iterable[Case], needs: Mapping[Hashable, Collection[str]], kept: Collection[str]
) -> Iterator[Case]:
    """Yield each case that may go after those before it; `kept` are the ids of those that stay."""
    left = {need: set(ids) for need, ids in needs.items()}
    of_case: defaultdict[str, list[Hashable]] = defaultdict(list)
    for need, ids in needs.items():
        for name in ids:
            of_case[name].append(need)
    for case in cases:
        if case.id not in kept and all(len(left[need]) > 1 for need in of_case[case.id]):
            for need in of_case[case.id]:
                left[need].discard(case.id)
            yield case


@click.command()
@click.option("--kill", "folder", type=click.Path(path_type=Path), help="the folder of a kill.json")
def main(folder: Path | None) -> None:
    """Print the frozen cases that nothing needs, and their number."""
    suite = load()
    kills = kills_by_case(folder) if folder else {}
    texts = [path.read_text("utf-8") for pattern in NAMED_IN for path in sorted(TOP.glob(pattern))]
    kept = named_cases(texts) | {case.twin for case in suite.cases if case.twin}
    kept |= {case.id for case in suite.cases if "/pairs" in case.id}
    kept |= {case.id for case in suite.cases if case.source.vectors or case.source.bugs}
    found = list(unneeded(suite.cases, what_needs_cases(suite, kills), kept))
    for case in found:
        click.echo(case.id)
    mutants = len({one for row in kills.values() for one in row})
    click.echo(
        f"{len(found)} of {len(suite.cases)} cases are needed by nothing; mutants looked at: {mutants}"
    )


if __name__ == "__main__":
    main()
