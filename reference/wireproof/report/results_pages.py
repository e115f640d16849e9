"""The pages of results: a table of implementations by requirement set, a page for each, and the search."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from wireproof.cases.fixtures import Suite
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
from wireproof.report.page_model import verdict_class
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent

WITHOUT_RULE: Final = "other cases"


@frozen
class Trend:
    """A line of the shares of right answers, in the units of its drawing.

    Attributes:
        points: of the line, for SVG.
        dots: x, y and the text of each version.
        scale: y and the text of the lines for all answers right, and for the lowest share.
    """

    width: int
    height: int
    points: str
    dots: Sequence[tuple[float, float, str]]
    scale: Sequence[tuple[int, str]]


@frozen
class Results:
    """What the pages of results show.

    Attributes:
        suite: the cases.
        levels: the requirement sets of the newest date.
        implementations: by name.
    """

    suite: Suite
    levels: Sequence[Level]
    implementations: Sequence[Implementation]

    @property
    def newest(self) -> Sequence[EventStream]:
        """Return the run of the newest version of each implementation."""
        return [one.newest.stream for one in self.implementations]

    def by_concern(self, version: VersionResult) -> Mapping[str, Sequence[CaseEvent]]:
        """Return the wrong answers of a version by what they mean, the worst first."""
        found: dict[str, list[CaseEvent]] = {name: [] for name in CONCERNS}
        for event in version.wrong:
            found[concern_of(event, self.suite.get(event.id))].append(event)
        return {name: events for name, events in found.items() if events}


def results_of(suite: Suite, streams: Sequence[EventStream]) -> Results:
    """Return the results of the streams of runs; without any there is no requirement set to show, either."""
    levels = levels_of(suite) if streams else ()
    return Results(suite, levels, implementations(levels, streams))


def implementation_page(name: str) -> str:
    """Return the path of the page of an implementation."""
    return f"implementation/{name.replace('/', '-')}.html"


def overview(results: Results) -> dict[str, Any]:
    """Return the values of the page `results.html`."""
    tables = list(sections(results.levels, results.implementations))
    listed = {row.name for table in tables for row in table.rows}
    runs = [version.stream.run for one in results.implementations for version in one.versions]
    return {
        "sections": tables,
        "others": [one for one in results.implementations if one.name not in listed],
        "levels": results.levels,
        "count": len(results.implementations),
        "runs": len(runs),
        "dates": sorted(run.started[:10] for run in runs if run.started),
    }


def about(results: Results, one: Implementation) -> dict[str, Any]:
    """Return the values of the page of an implementation."""
    known = {name for version in one.versions for name in version.levels}
    return {
        "one": one,
        "columns": [level for level in results.levels if level.required.id in known],
        "trend": trend_of(one),
    }


def by_rule(events: Sequence[CaseEvent]) -> Sequence[tuple[str, Sequence[CaseEvent]]]:
    """Return events by the first rule of their cases, the rule with most of them first."""
    found: dict[str, list[CaseEvent]] = {}
    for event in sorted(events, key=lambda one: not one.is_security):
        found.setdefault(next(iter(event.deciding_rules), WITHOUT_RULE), []).append(event)
    return sorted(found.items(), key=lambda row: (not row[1][0].is_security, -len(row[1]), row[0]))


TREND_LABEL: Final = 56
"""The width for the shares beside the line."""


def trend_of(one: Implementation, width: int = 480, height: int = 80, margin: int = 8) -> Trend:
    """Return the line of an implementation's versions; its height spans what they reach, at least 5 %."""
    shares = [version.share for version in one.versions]
    low = min(*shares, 0.95) if len(shares) > 1 else 0.0
    step = (width - 2 * margin) / max(len(shares) - 1, 1)
    dots = [
        (
            round(margin + number * step, 1),
            round(height - margin - (share - low) / (1 - low) * (height - 2 * margin), 1),
            f"{version.version}: {100 * share:.1f} %",
        )
        for number, (version, share) in enumerate(zip(one.versions, shares, strict=True))
    ]
    scale = ((margin, "100 %"), (height - margin, f"{100 * low:.1f} %"))
    return Trend(width + TREND_LABEL, height, " ".join(f"{x},{y}" for x, y, _ in dots), dots, scale)


ANSWERS: Final[Mapping[str, str]] = {
    "fail:wrong-value": "wrong value",
    "fail:wrong-accept": "accepted",
    "fail:wrong-reject": "refused",
    "fail:wrong-reason": "refused for another reason",
    "fail:wrong-bytes": "wrong bytes",
    "fail:not-round-trip": "not the same when read again",
    "fail:over-read": "read too far",
    "fail:under-read": "read too little",
    "fail:prefix-lost": "data before it lost",
    "fail:nondeterministic": "not the same each time",
    "fail:undeclared-skip": "left out",
    "crash": "crashed",
    "timeout": "hung",
    "resource:memory": "exhausted memory",
    "resource:output": "endless output",
    "stalled": "neither value nor error",
}
"""What an implementation did, in words for somebody who does not know the verdicts."""


def answer_words(event: CaseEvent) -> str:
    """Return what an implementation did; the verdict if no words are known."""
    return ANSWERS.get(event.label, event.label)


def names_for_templates(results: Results) -> dict[str, Any]:
    """Return what the templates of these pages call."""
    return {
        "implementation_page": implementation_page,
        "by_concern": results.by_concern,
        "by_rule": by_rule,
        "answer_words": answer_words,
        "trend_of": trend_of,
        "site_concerns": CONCERNS,
        "colour": verdict_class,
    }


def search_index(rows: Sequence[tuple[str, str, str, str]]) -> str:
    """Return the script that defines ROWS; `<` is escaped, so that no text can end a script."""
    text = json.dumps(rows, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return f"const ROWS = {text};\n"
