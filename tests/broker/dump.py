"""What Kafka's own tool says of segments: fields by name.

`DumpLogSegments --deep-iteration --print-data-log` prints a line a batch and a line a record (format document
kafka.md §11). It prints of headers the keys only; keys and values as text.
"""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import ground

TOOL = "org.apache.kafka.tools.DumpLogSegments"

Line = dict[str, str]

PAIR = re.compile(r"(\w+): (OptionalLong\S*|\[[^\]]*\]|\S+)")
_TEXT = re.compile(r"(?: key: (?P<key>\S*))?(?: payload: (?P<payload>\S*))?$")


def printed(segments: Sequence[Path]) -> dict[str, list[Line]]:
    """The tool's lines, by the name of the segment; raises `CalledProcessError`."""
    files = ",".join(map(str, segments))
    command = ground.tool(TOOL, "--deep-iteration", "--print-data-log", "--files", files)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return parsed(done.stdout.decode())


def named(segment: Path) -> str:
    """A segment by topic and base offset; its file has to be named by the offset alone."""
    return f"{segment.parent.name}/{segment.name}"


def parsed(output: str) -> dict[str, list[Line]]:
    """The lines that the tool printed; an unknown line is kept as `unread`."""
    lines: dict[str, list[Line]] = {}
    found: list[Line] = []
    for text in output.splitlines():
        if text.startswith("Dumping "):
            found = lines.setdefault(named(Path(text.removeprefix("Dumping "))), [])
        elif text.startswith("baseOffset: "):
            found.append(dict(PAIR.findall(text)))
        elif text.startswith("| offset: "):
            found.append(_record_line(text.removeprefix("|")))
        elif not text.startswith(("Starting offset: ", "Log starting offset: ")):
            found.append({"unread": text})
    return lines


def _record_line(text: str) -> Line:
    """Key and value are last, and only if they are not null; for a control record, the marker."""
    told = _TEXT.search(text)
    assert told is not None, "it matches nothing at least"
    line = dict(PAIR.findall(text[: told.start()]))
    return line | {name: part for name, part in told.groupdict().items() if part is not None}
