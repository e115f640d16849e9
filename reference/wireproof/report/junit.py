"""Views for CI: JUnit XML with a testsuite for each topic, annotations, badges, and a Markdown summary.

A testcase is a golden case, or all derived cases of one family of it, of which there are tens of thousands.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from wireproof.judge.differences import MAX_OUTPUT, MAX_TEXT, shorten
from wireproof.report.failure_groups import (
    cause_of,
    count_verdicts,
    failure_groups_of,
    replay_command,
    sets_exit_code,
)
from wireproof.report.terminal import (
    below_level_counts,
    note_lines,
    provisional_lines,
    total_failure,
    uncompared_in_format,
)
from wireproof.run.baselines.baseline import (
    NO_BASELINE,
    AppliedBaseline,
    Overlay,
    baseline_lines,
    known_origin_text,
)
from wireproof.run.conclusion import (
    conclusion_sentence,
    examples_line,
    exit_code,
    is_whole,
    trust_codes,
    why_nothing_judged,
)
from wireproof.run.events import CaseEvent, EventStream
from wireproof.run.exit_codes import Exit
from wireproof.wire.text import counted, escape_unsafe

_TAGS: Final[Mapping[str, str]] = {
    "fail": "failure",
    "blocked": "failure",
    "lenient": "failure",
    "pass-unclassified": "failure",
    "undocumented": "failure",
    "stalled": "failure",
    "crash": "error",
    "timeout": "error",
    "resource": "error",
    "adapter-error": "error",
    "suite-bug": "error",
    "unsupported": "skipped",
}


def junit(streams: Sequence[EventStream], baselines: Sequence[AppliedBaseline] = ()) -> bytes:
    """Render runs as XML in UTF-8; `baselines` are those of the runs, in their order, if there are any."""
    root = ET.Element("testsuites", name="wireproof")
    for stream, applied in zip(streams, baselines or [NO_BASELINE] * len(streams), strict=True):
        suites: dict[str, list[CaseEvent]] = {}
        for event in stream.cases:
            suites.setdefault(event.suite, []).append(event)
        for name, events in suites.items():
            _suite(root, stream, name, events, applied)
        _whole_run(root, stream, applied)
    ET.indent(root)
    text: str = ET.tostring(root, encoding="unicode")
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()


def _whole_run(root: ET.Element, stream: EventStream, applied: AppliedBaseline) -> None:
    """Add a testsuite for what fails a run beside its cases: stale entries, and a run that proves nothing."""
    rows = [
        ("failure", f"{entry.id} ({entry.kind})", f"passes now: its entry in {applied.file} is stale")
        for entry in applied.stale
    ]
    if not is_whole(stream) or why_nothing_judged(stream):
        rows.append(("error", "run", conclusion_sentence(stream, applied)))
    if not rows:
        return
    suite = ET.SubElement(root, "testsuite", name=escape_unsafe(f"{stream.run.adapter}: run"))
    for tag, name, message in rows:
        case = ET.SubElement(suite, "testcase", name=escape_unsafe(name), time=_seconds(0))
        case.set("classname", escape_unsafe(stream.run.adapter))
        kind = "stale" if tag == "failure" else "incomplete"
        ET.SubElement(case, tag, type=kind, message=escape_unsafe(message)).text = escape_unsafe(message)
    tags = [tag for tag, _, _ in rows]
    suite.set("tests", str(len(rows)))
    suite.set("failures", str(tags.count("failure")))
    suite.set("errors", str(tags.count("error")))


def _suite(
    root: ET.Element, stream: EventStream, name: str, events: list[CaseEvent], applied: AppliedBaseline
) -> None:
    suite = ET.SubElement(root, "testsuite", name=escape_unsafe(f"{stream.run.adapter}: {name}"))
    cases: dict[str, list[CaseEvent]] = {}
    for event in events:
        cases.setdefault(event.id.partition(":")[0] if "~" in event.id else event.id, []).append(event)
    tags = [_case(suite, stream, one, some, applied) for one, some in cases.items()]
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(tags.count(tag)))
    suite.set("tests", str(len(cases)))
    below = below_level_counts(events, stream, applied.overlays)
    rows = (
        ("not compared", ", ".join(uncompared_in_format(stream.run, events[0].format_id))),
        ("below the level", ", ".join(f"{count} of {name}" for name, count in below.most_common())),
        ("generated examples", examples_line(stream) if events[0].is_property else ""),
    )
    if any(text for _, text in rows):
        properties = ET.Element("properties")
        for title, text in rows:
            if text:
                ET.SubElement(properties, "property", name=title, value=escape_unsafe(text))
        suite.insert(0, properties)
    suite.set("time", _seconds(sum(event.ns for event in events)))


def _seconds(ns: int) -> str:
    return f"{ns / 1e9:.6f}"


def _case(
    suite: ET.Element,
    stream: EventStream,
    name: str,
    events: Sequence[CaseEvent],
    applied: AppliedBaseline,
) -> str:
    """Add a testcase for events; return the tag inside it, empty for one that passes."""
    time = _seconds(sum(event.ns for event in events))
    case = ET.SubElement(suite, "testcase", name=escape_unsafe(name), time=time)
    case.set("classname", escape_unsafe(f"{stream.run.adapter}.{events[0].suite.replace('/', '.')}"))
    tags = [_tag(event, stream, applied.overlays.get(event.id, "")) for event in events]
    tag = next(tag for tag in ("error", "failure", "skipped", "") if tag in tags)
    if tag:
        first = events[tags.index(tag)]
        others = tags.count(tag) - 1
        message = _message(first, stream, applied) + (f"; and {others:,} more" if others else "")
        child = ET.SubElement(case, tag, type=escape_unsafe(first.label), message=escape_unsafe(message))
        rows = {
            "level": first.level,
            "profile": first.profile,
            "title": first.title,
            "rules": ", ".join(first.deciding_rules),
            "want": first.want,
            "got": first.got,
            "path": first.path,
            "replay": replay_command(first, stream.run),
        }
        child.text = escape_unsafe("\n".join(f"{name}: {text}" for name, text in rows.items() if text))
    return tag


def _tag(event: CaseEvent, stream: EventStream, overlay: Overlay) -> str:
    """Return the result of a case; a failure that does not set the exit code is reported as skipped.

    A case that was not run is an error, because the run proves nothing about it, and ends with 1 or 4.
    """
    tag = _TAGS.get(event.verdict, "")
    if overlay == "expected":
        return "skipped"
    if event.verdict == "not-run":
        return "error"
    if event.verdict in ("lenient", "pass-unclassified", "undocumented") and not sets_exit_code(
        event, stream.run
    ):
        return ""
    return "skipped" if tag in ("failure", "error") and not sets_exit_code(event, stream.run) else tag


def _message(event: CaseEvent, stream: EventStream, applied: AppliedBaseline) -> str:
    text = event.text or (f"want {event.want}, got {event.got}" if event.want or event.got else event.label)
    if applied.overlays.get(event.id) == "expected":
        return f"expected by the baseline: {text}"
    origin = known_origin_text(applied, event, stream.run)
    return f"{text} ({origin})" if origin else text


# --- annotations ---


MAX_ANNOTATIONS: Final = 10
"""Annotations of each kind that a step shows; GitHub drops the others, so the last line counts them."""


def annotations(stream: EventStream, applied: AppliedBaseline = NO_BASELINE) -> list[str]:
    found = failure_groups_of(stream, applied.overlays)
    kept = found if len(found) <= MAX_ANNOTATIONS else found[: MAX_ANNOTATIONS - 1]
    lines = []
    for event in (group.first for group in kept):
        facts = f"{event.level}, {event.profile}\nwant {event.want}\ngot {event.got or event.text}"
        origin = known_origin_text(applied, event, stream.run)
        text = "\n".join(filter(None, (facts, origin, replay_command(event, stream.run))))
        lines.append(f"::error title={_property(f'{event.id}: {event.label}')}::{_annotation(text)}")
    if len(kept) < len(found):
        lines.append(f"::error title=wireproof::{counted(len(found) - len(kept), 'more finding')}")
    if applied.stale:
        stale = [line for line in baseline_lines(stream, applied) if line.startswith("baseline: stale ")]
        text = _annotation("\n".join((*stale, f"wireproof baseline fix {applied.file} RUN")))
        lines.append(f"::error title={_property(f'wireproof: {applied.file}')}::{text}")
    lines += (f"::warning title={_property(applied.file)}::{_annotation(line)}" for line in applied.notices)
    if any(trust_codes(stream, applied)):
        title = _property(f"wireproof: {stream.run.adapter}")
        lines.insert(0, f"::error title={title}::{_annotation(conclusion_sentence(stream, applied))}")
    return lines


def _annotation(text: str) -> str:
    return escape_unsafe(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape a property of a workflow command, which ends at a colon or comma."""
    return _annotation(text).replace(":", "%3A").replace(",", "%2C")


# --- badge ---


COLOURS: Final[Mapping[Exit, str]] = {
    Exit.CONFORMS: "brightgreen",
    Exit.FAILS: "red",
    Exit.BASELINE: "orange",
}
"""The colour by the exit code of the run; all others are grey, as a run that proves nothing."""


def badge(stream: EventStream, applied: AppliedBaseline = NO_BASELINE) -> str:
    """Return the badge of a run, or of the set of requirements that it was judged against.

    It is the JSON that badge services read (`schemaVersion` 1): how many of the judged cases pass, and how
    many more the implementation does not claim.
    """
    seen, colour = count_verdicts(stream), "lightgrey"
    unsupported = seen.get("unsupported", 0)
    judged = sum(seen.values()) - unsupported - seen.get("not-run", 0)
    if judged and stream.complete:
        good = sum(seen.get(name, 0) for name in ("pass", "info"))
        known = sum(overlay == "expected" for overlay in applied.overlays.values())
        message = f"{good} of {judged}" + (f", {known} known" if known else "")
        message += f", {unsupported} unsupported" if unsupported else ""
        colour = COLOURS.get(exit_code(stream, applied), colour)
    else:
        message = "unsupported" if stream.complete and unsupported else "incomplete"
    about = stream.run.requirements.title if stream.run.requirements else ""
    label = escape_unsafe(
        " ".join(filter(None, ("wireproof:", stream.run.adapter, stream.run.version, about)))
    )
    return json.dumps({"schemaVersion": 1, "label": label, "message": message, "color": colour}) + "\n"


# --- markdown ---


def escape(text: str, most: int = MAX_TEXT) -> str:
    """Escape text, so that Markdown shows it unchanged on one line of at most `most` characters."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&])", r"\\\1", shorten(escape_unsafe(text), most))


def code(text: str) -> str:
    """Format text as code in a table cell; replace backticks and bars, which would end the code or cell."""
    return f"`{shorten(escape_unsafe(text)).replace('`', 'ʼ').replace('|', '¦')}`"


LINES: Final = 60
"""Lines of the summary."""


def markdown(streams: Sequence[EventStream], baselines: Sequence[AppliedBaseline] = ()) -> str:
    """Render the counts of runs with their baselines, if any, then as many of their findings as fit."""
    runs = list(zip(streams, baselines or [NO_BASELINE] * len(streams), strict=True))
    columns = list(dict.fromkeys(name for stream in streams for name in count_verdicts(stream)))
    rows = [["adapter", "cases", *columns, ""], ["---"] * (len(columns) + 3)]
    for stream in streams:
        counts = count_verdicts(stream)
        name = escape(f"{stream.run.adapter} {stream.run.version}".strip())
        cells = (str(counts.get(column, "")) for column in columns)
        rows.append([name, str(len(stream.cases)), *cells, "" if stream.complete else "**incomplete**"])
    lines = ["## wireproof", "", *(f"| {' | '.join(row)} |" for row in rows), ""]
    # How each run ended and what it did not compare precedes the findings, which may be cut.
    for one, known in runs:
        lines.append(f"- {escape(one.run.adapter)}: {escape(conclusion_sentence(one, known), MAX_OUTPUT)}")
    provisional = dict.fromkeys(line for stream in streams for line in provisional_lines(stream))
    lines += [f"- {escape(line)}" for line in provisional]
    for one, known in runs:
        lines += [f"- {escape(line, MAX_OUTPUT)}" for line in baseline_lines(one, known)]
        lines += [f"- {escape(line)}" for line in note_lines(one, known)]
    room = max(1, (LINES - len(lines)) // max(1, len(streams)))
    for stream, applied in runs:
        lines += _findings(stream, room, applied.overlays)
    if len(lines) > LINES:
        lines[LINES - 1 :] = [f"… {counted(len(lines) - LINES + 1, 'more line')}"]
    return "\n".join(lines) + "\n"


def _findings(stream: EventStream, room: int, overlays: Mapping[str, Overlay]) -> list[str]:
    """Return a heading and a table of findings in at most `room` lines."""
    paragraph = total_failure(stream)
    if paragraph:
        return ["", f"**{escape(stream.run.adapter)}**: {escape(paragraph)}"]
    found = failure_groups_of(stream, overlays)
    if not found or room < 6:
        return []
    most = room - 5
    lines = ["", f"### {escape(stream.run.adapter)}: {counted(len(found), 'finding', grouped=False)}"]
    lines += ["| case | verdict | profile | want | got | like it |", "| --- | --- | --- | --- | --- | --- |"]
    for group in found[:most]:
        event = group.first
        texts = (
            f"{event.label} {cause_of(event)}".rstrip(),
            event.profile,
            event.want,
            event.got or event.text,
        )
        cells = (code(event.id), *map(escape, texts))
        lines.append(f"| {' | '.join(cells)} | {len(group.others) or ''} |")
    left = f" {counted(len(found) - most, 'more finding', grouped=False)}." if len(found) > most else ""
    return [*lines, f"Replay: {code(replay_command(found[0].first, stream.run))}.{left}"]
