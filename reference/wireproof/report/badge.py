"""Badges as the JSON that badge services read (`schemaVersion` 1), see `architecture.md#events`.

A badge shows how many of the judged cases pass. Cases that the implementation does not claim are in neither
number; the badge shows their number.
"""

import json

from wireproof.report.failure_groups import count_verdicts, failure_groups_of
from wireproof.report.sanitize import escape_unsafe
from wireproof.runner.event_files import EventStream

NOT_COUNTED = ("unsupported", "not-run")
"""Verdicts that are in neither number."""


def badge(stream: EventStream) -> str:
    """Return the badge of a run, or of the set of requirements that it was judged against."""
    message, colour = _said(stream)
    about = stream.run.requirements.title if stream.run.requirements else ""
    label = escape_unsafe(
        " ".join(filter(None, ("wireproof:", stream.run.adapter, stream.run.version, about)))
    )
    return json.dumps({"schemaVersion": 1, "label": label, "message": message, "color": colour}) + "\n"


def _said(stream: EventStream) -> tuple[str, str]:
    seen = count_verdicts(stream)
    outside = sum(seen.get(name, 0) for name in NOT_COUNTED)
    judged = sum(seen.values()) - outside
    if judged and stream.complete:
        good = sum(seen.get(name, 0) for name in ("pass", "info"))
        return f"{good} of {judged}{_apart(seen)}", "red" if failure_groups_of(stream) else "brightgreen"
    claims_nothing = stream.complete and seen.get("unsupported", 0)
    return "unsupported" if claims_nothing else "incomplete", "lightgrey"


def _apart(seen: dict[str, int]) -> str:
    return f", {seen['unsupported']} unsupported" if "unsupported" in seen else ""
