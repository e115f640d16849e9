"""JUnit XML: a testsuite per format, revision and topic. Design, section 5."""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from wireproof.report.failure import replay
from wireproof.report.groups import speaks
from wireproof.trial.baseline import Overlay
from wireproof.trial.events import CaseEvent
from wireproof.trial.streams import Stream

_UNFIT: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0, section 2.2, has no way to write, not even escaped."""

_TAGS: Final[Mapping[str, str]] = {
    "fail": "failure",
    "blocked": "failure",
    "lenient": "failure",
    "pass-unclassified": "failure",
    "stalled": "failure",
    "crash": "error",
    "timeout": "error",
    "resource": "error",
    "adapter-error": "error",
    "suite-bug": "error",
    "unsupported": "skipped",
    "not-run": "skipped",
}


def junit(streams: Sequence[Stream], overlays: Mapping[str, Overlay] | None = None) -> bytes:
    """The XML of some runs, in UTF-8. `overlays` is the baseline of the one run that has one."""
    root = ET.Element("testsuites", name="wireproof")
    for stream in streams:
        for name, events in _suites(stream).items():
            _suite(root, stream, name, events, overlays or {})
    ET.indent(root)
    text: str = ET.tostring(root, encoding="unicode")
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()


def fit(text: str) -> str:
    """`text` with every sign that XML cannot hold spelled out in hex, as Python spells it."""
    return _UNFIT.sub(lambda sign: f"\\x{ord(sign[0]):02x}", text)


def _suites(stream: Stream) -> dict[str, list[CaseEvent]]:
    suites: dict[str, list[CaseEvent]] = {}
    for event in stream.cases:
        suites.setdefault(event.suite, []).append(event)
    return suites


def _suite(
    root: ET.Element, stream: Stream, name: str, events: list[CaseEvent], overlays: Mapping[str, Overlay]
) -> None:
    suite = ET.SubElement(root, "testsuite", name=fit(f"{stream.run.adapter}: {name}"))
    tags = [_case(suite, stream, event, overlays.get(event.id, "")) for event in events]
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(tags.count(tag)))
    suite.set("tests", str(len(events)))
    suite.set("time", _seconds(sum(event.ns for event in events)))


def _seconds(ns: int) -> str:
    return f"{ns / 1e9:.6f}"


def _case(suite: ET.Element, stream: Stream, event: CaseEvent, overlay: Overlay) -> str:
    """Add a testcase; the tag inside it, or empty for one that passes."""
    case = ET.SubElement(suite, "testcase", name=fit(event.id), time=_seconds(event.ns))
    case.set("classname", fit(f"{stream.run.adapter}.{event.suite.replace('/', '.')}"))
    tag = _tag(event, stream, overlay)
    if tag:
        child = ET.SubElement(case, tag, type=fit(event.label), message=fit(_message(event, overlay)))
        child.text = fit("\n".join(_body(event, stream)))
    return tag


def _tag(event: CaseEvent, stream: Stream, overlay: Overlay) -> str:
    """A failure that gates nothing is reported as skipped, so that this view and the exit code agree."""
    tag = _TAGS.get(event.verdict, "")
    if overlay == "expected":
        return "skipped"
    if event.verdict in ("lenient", "pass-unclassified") and not speaks(event, stream):
        return ""
    return "skipped" if tag in ("failure", "error") and not speaks(event, stream) else tag


def _message(event: CaseEvent, overlay: Overlay) -> str:
    said = event.text or (f"want {event.want}, got {event.got}" if event.want or event.got else event.label)
    return f"expected by the baseline: {said}" if overlay == "expected" else said


def _body(event: CaseEvent, stream: Stream) -> list[str]:
    rows = (("level", event.level), ("title", event.title), ("rules", ", ".join(event.rules)))
    ends = (
        ("want", event.want),
        ("got", event.got),
        ("path", event.path),
        ("replay", replay(event, stream.run)),
    )
    return [f"{name}: {text}" for name, text in (*rows, *ends) if text]
