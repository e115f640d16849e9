"""Sizes of Iggy sends and polls: payloads around 64 KiB and of 1.5 MiB, and 1,000 messages: iggy.md §3, §5, §6."""

from collections.abc import Iterator
from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.generated import KIB, add_generated

SENDS = {"0.0.30": "§3.1", "0.7": "§5", "0.8": "§5", "0.9": "§5", "0.11": "§6"}
POLLS = {
    "0.0.30": "§3.3",
    "0.0.40": "§3.3",
    "0.0.60": "§3.3",
    "0.7": "§5",
    "0.8": "§5",
    "0.9": "§5",
    "0.11": "§6",
}

PAYLOAD, COUNT = ("iggy.size.payload",), ("iggy.size.count",)
EDGE = "A buffer of 64 KiB, or a length of 16 bits, ends here; servers take payloads of ten million bytes."
MANY = "A consumer asks for as many messages as it likes; a reader with a fixed buffer loses the rest."


def write(writer: FixtureWriter) -> None:
    for form, revisions in (("iggy.send", SENDS), ("iggy.poll", POLLS)):
        for revision, section in revisions.items():
            for name, title, row, rules, why in _rows():
                recipe = {"kind": f"{form}/{revision}", **row}
                doc = f"iggy.md {section}"
                add_generated(writer, f"size/{name}", title, recipe, rules=rules, why=why, doc=doc)
                add_generated(
                    writer,
                    f"size-encode/{name}",
                    title,
                    recipe,
                    rules=rules,
                    why=why,
                    doc=doc,
                    op="encode",
                    needs=_needs(form, revision),
                )


def _rows() -> Iterator[tuple[str, str, dict[str, Any], tuple[str, ...], str]]:
    for size in (65535, 65536, 65537):
        yield f"payload-{size}", f"A payload of {size:,} bytes", {"value": size}, PAYLOAD, EDGE
    yield "payload-1536k", "A payload of 1.5 MiB", {"value": 1536 * KIB}, PAYLOAD, EDGE
    yield "messages-1000", "1,000 messages", {"records": 1000, "value": 10}, COUNT, MANY


def _needs(form: str, revision: str) -> tuple[str, ...]:
    """What a client must let its caller say."""
    if form == "iggy.poll":
        return ()
    place = () if revision == "0.11" else ("feature:partitioning-balanced",)
    return (*place, "feature:message-id")
