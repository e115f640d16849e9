"""A badge as the JSON that badge services read (`schemaVersion` 1). Design, section 5."""

import json

from wireproof.report.groups import counts, groups
from wireproof.report.visible import visible
from wireproof.trial.streams import Stream
from wireproof.trial.verify import head


def badge(stream: Stream) -> str:
    """Cases that pass of those that were judged; what is not claimed is in neither number.

    The message ends with the head of the run's chain, as `verify` prints it: services refuse fields that
    they do not know.
    """
    message, colour = _said(stream)
    if stream.complete:
        message += f", run {head(stream)[:8]}"
    label = visible(f"wireproof: {stream.run.adapter} {stream.run.version}".strip())
    return json.dumps({"schemaVersion": 1, "label": label, "message": message, "color": colour}) + "\n"


def _said(stream: Stream) -> tuple[str, str]:
    seen = counts(stream)
    judged = sum(number for name, number in seen.items() if name not in ("unsupported", "not-run"))
    if not stream.complete or not judged:
        return "incomplete", "lightgrey"
    good = sum(seen.get(name, 0) for name in ("pass", "info"))
    return f"{good} of {judged}", "red" if groups(stream) else "brightgreen"
