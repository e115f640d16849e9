"""The page that says which implementation is safe for which use: boxes and pills by requirement set."""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

from wireproof.cases.fixtures import Suite
from wireproof.report.html_template import render_template, template_file
from wireproof.report.level_results import (
    CONCERNS,
    Implementation,
    Level,
    VersionResult,
    concern_of,
    implementations,
    levels_of,
    sections,
)
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent

WITHOUT_RULE: Final = "other cases"


@frozen
class Results:
    """What the page shows.

    Attributes:
        suite: the cases.
        levels: the requirement sets of the newest date.
        implementations: by name.
    """

    suite: Suite
    levels: Sequence[Level]
    implementations: Sequence[Implementation]

    def by_concern(self, version: VersionResult) -> Mapping[str, Sequence[CaseEvent]]:
        """Return the wrong answers of a version by what they mean, the worst first."""
        found: dict[str, list[CaseEvent]] = {name: [] for name in CONCERNS}
        for event in version.wrong:
            found[concern_of(event, self.suite.get(event.id))].append(event)
        return {name: events for name, events in found.items() if events}


def results_of(suite: Suite, streams: Sequence[EventStream]) -> Results:
    """Return the results of the streams of runs."""
    levels = levels_of(suite)
    return Results(suite, levels, implementations(levels, streams))


def results_page(results: Results) -> str:
    """Render the page, which is one HTML file that needs nothing else."""
    tables = list(sections(results.levels, results.implementations))
    listed = {row.name for table in tables for row in table.rows}
    runs = [version.stream.run for one in results.implementations for version in one.versions]
    return render_template(
        "results.html",
        style=template_file("results.css"),
        script=template_file("results.js"),
        sections=tables,
        others=[one for one in results.implementations if one.name not in listed],
        levels=results.levels,
        count=len(results.implementations),
        runs=len(runs),
        dates=sorted(run.started[:10] for run in runs if run.started),
        rules=results.suite.rules,
        concerns=CONCERNS,
        by_concern=results.by_concern,
        by_rule=by_rule,
    )


def by_rule(events: Sequence[CaseEvent]) -> Sequence[tuple[str, Sequence[CaseEvent]]]:
    """Return events by the first rule of their cases, the rule with most of them first."""
    found: dict[str, list[CaseEvent]] = {}
    for event in sorted(events, key=lambda one: not one.is_security):
        found.setdefault(next(iter(event.deciding_rules), WITHOUT_RULE), []).append(event)
    return sorted(found.items(), key=lambda row: (not row[1][0].is_security, -len(row[1]), row[0]))
