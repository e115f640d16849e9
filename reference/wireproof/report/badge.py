"""Badges as the JSON that badge services read (`schemaVersion` 1), see `architecture.md#events`.

A badge shows how many of the judged cases pass. Cases that the implementation does not claim are in neither
number; the badge shows their number.
"""

import json
from collections.abc import Callable, Iterator, Sequence

from wireproof.report.failure_groups import count_verdicts, failure_groups_of
from wireproof.report.sanitize import escape_unsafe
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent
from wireproof.runner.verify_run import chain_digest

Profile = Callable[[CaseEvent], str]
"""The profile of an event's case: `reader` or `produce`."""

MAX_NAME = 100
"""Characters of a folder's name."""

NOT_COUNTED = ("unsupported", "not-run")
"""Verdicts that are in neither number."""


def badge(stream: EventStream, about: str = "", chain: str = "") -> str:
    """Return the badge of a run, or of its part `about`, whose last digest is `chain`.

    The message ends with the start of the run's last digest, as `verify` prints it: badge services refuse
    additional fields.
    """
    message, colour = _said(stream)
    if stream.complete:
        message += f", run {(chain or chain_digest(stream))[:8]}"
    about = about or (stream.run.requirements.title if stream.run.requirements else "")
    label = escape_unsafe(
        " ".join(filter(None, ("wireproof:", stream.run.adapter, stream.run.version, about)))
    )
    return json.dumps({"schemaVersion": 1, "label": label, "message": message, "color": colour}) + "\n"


def badges(stream: EventStream, profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of a badge for each format, revision and profile of a run."""
    parts: dict[tuple[str, str], list[CaseEvent]] = {}
    for event in stream.cases:
        parts.setdefault((event.format_id, profile(event)), []).append(event)
    chain = chain_digest(stream)
    for (format_id, name), events in sorted(parts.items()):
        part = EventStream(stream.run, tuple(events), stream.footer)
        about = format_id if name == "reader" else f"{format_id} {name}"
        yield f"{about.replace('/', '-').replace(' ', '-')}.json", badge(part, about, chain)


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


def badge_folder(streams: Sequence[EventStream], number: int) -> str:
    """Return the folder of a run's badges: the name of its adapter, numbered if another run has that name."""
    names = [_folder_name(stream.run.adapter) for stream in streams]
    name = names[number]
    alike = [one.casefold() for one in names].count(name.casefold())  # one folder on some systems
    return name if alike == 1 else f"{name}-{number + 1}"


def _folder_name(adapter: str) -> str:
    name = "".join(sign if sign.isalnum() or sign in "-._" else "-" for sign in adapter)
    return name[:MAX_NAME].strip(".") or "adapter"
