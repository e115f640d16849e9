"""JUnit XML: a testsuite for each format, revision and topic."""

from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from wireproof.report.below_level import below_level_counts
from wireproof.report.failure_block import replay_command
from wireproof.report.failure_groups import sets_exit_code
from wireproof.report.sanitize import escape_unsafe
from wireproof.report.uncompared_fields import uncompared_in_format
from wireproof.runner.baseline import NO_BASELINE, AppliedBaseline, Overlay
from wireproof.runner.conclusion import examples_line
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent

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
        for name, events in _suites(stream).items():
            _suite(root, stream, name, events, applied.overlays)
    ET.indent(root)
    text: str = ET.tostring(root, encoding="unicode")
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()


def _suites(stream: EventStream) -> dict[str, list[CaseEvent]]:
    suites: dict[str, list[CaseEvent]] = {}
    for event in stream.cases:
        suites.setdefault(event.suite, []).append(event)
    return suites


def _suite(
    root: ET.Element, stream: EventStream, name: str, events: list[CaseEvent], overlays: Mapping[str, Overlay]
) -> None:
    suite = ET.SubElement(root, "testsuite", name=escape_unsafe(f"{stream.run.adapter}: {name}"))
    tags = [_case(suite, stream, event, overlays.get(event.id, "")) for event in events]
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(tags.count(tag)))
    suite.set("tests", str(len(events)))
    below = below_level_counts(events, stream, overlays)
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


def _case(suite: ET.Element, stream: EventStream, event: CaseEvent, overlay: Overlay) -> str:
    """Add a testcase; the tag inside it, or empty for one that passes."""
    case = ET.SubElement(suite, "testcase", name=escape_unsafe(event.id), time=_seconds(event.ns))
    case.set("classname", escape_unsafe(f"{stream.run.adapter}.{event.suite.replace('/', '.')}"))
    tag = _tag(event, stream, overlay)
    if tag:
        child = ET.SubElement(
            case, tag, type=escape_unsafe(event.label), message=escape_unsafe(_message(event, overlay))
        )
        child.text = escape_unsafe("\n".join(_body(event, stream)))
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
        event, stream
    ):
        return ""
    return "skipped" if tag in ("failure", "error") and not sets_exit_code(event, stream) else tag


def _message(event: CaseEvent, overlay: Overlay) -> str:
    text = event.text or (f"want {event.want}, got {event.got}" if event.want or event.got else event.label)
    return f"expected by the baseline: {text}" if overlay == "expected" else text


def _body(event: CaseEvent, stream: EventStream) -> list[str]:
    rows = (
        ("level", event.level),
        ("profile", event.profile),
        ("title", event.title),
        ("rules", ", ".join(event.deciding_rules)),
    )
    ends = (
        ("want", event.want),
        ("got", event.got),
        ("path", event.path),
        ("replay", replay_command(event, stream.run)),
    )
    return [f"{name}: {text}" for name, text in (*rows, *ends) if text]
