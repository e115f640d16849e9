"""Sizes of Iggy: payloads around 64 KiB, of 1.5 MiB and of 12 MiB, and 1,000 messages: iggy.md §3, §5 to §8.

Servers take payloads of at most 10 MB up to 0.7 and of 64 MB from 0.8 on, so the formats that only later
servers have also have a case of 12 MiB: as hex in a request, it still fits a message of the adapter contract.
"""

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.generated import KIB, MIB, add_generated
from tests.authoring.iggy.levels import level_of


@frozen
class Sized:
    """A format and revision: its section, the rule of its layout, and whether 12 MiB are within its limit."""

    section: str
    layout: tuple[str, ...] = ()
    large: bool = False


SENDS = {
    "0.0.30": Sized("§3.1"),
    "0.7": Sized("§5"),
    "0.8": Sized("§5"),
    "0.9": Sized("§5"),
    "0.11": Sized("§6", large=True),
}
POLLS = {
    "0.0.30": Sized("§3.3"),
    "0.0.40": Sized("§3.3"),
    "0.0.60": Sized("§3.3"),
    "0.7": Sized("§5"),
    "0.8": Sized("§5"),
    "0.9": Sized("§5"),
    "0.11": Sized("§6", large=True),
}
LOGS = {
    "0.0.30": Sized("§7", ("iggy.log.layout",)),
    "0.0.40": Sized("§7", ("iggy.log.polled-layout",)),
    "0.2.7": Sized("§7", ("iggy.log.retained.layout",)),
    "0.7": Sized("§7", ("iggy.log.headed.layout",)),
    "0.8": Sized("§7", ("iggy.log.headed.layout",)),
    "0.9": Sized("§7", ("iggy.log.headed.layout",), large=True),
    "0.11": Sized("§7", ("iggy.log.batch.layout",), large=True),
    "0.11.1-edge": Sized("§6.1", ("iggy.log.producer.layout",)),
}
JSON_SENDS = {
    name: Sized("§8.1", ("iggy.json.send.shape", "iggy.json.base64"), large=name == "0.10")
    for name in ("0.0.30", "0.7", "0.8", "0.9", "0.10")
}
JSON_POLLS = {
    name: Sized("§8.2", ("iggy.json.poll.shape", "iggy.json.base64"))
    for name in ("0.0.30", "0.0.40", "0.0.60")
} | {
    name: Sized("§8.2", ("iggy.json.poll.headed.shape", "iggy.json.base64"), large=name == "0.10")
    for name in ("0.7", "0.9", "0.10")
}

FORMATS = {
    "iggy.send": SENDS,
    "iggy.poll": POLLS,
    "iggy.log": LOGS,
    "iggy.json.send": JSON_SENDS,
    "iggy.json.poll": JSON_POLLS,
}

PAYLOAD, COUNT = ("iggy.size.payload",), ("iggy.size.count",)
EDGE = "A buffer of 64 KiB, or a length of 16 bits, ends here; servers take payloads of ten million bytes."
HUGE = "Servers take payloads of 64 MB from 0.8.0 on; readers with an earlier limit lose it."
MANY = "A consumer asks for as many messages as it likes; a reader with a fixed buffer loses the rest."


def write(writer: FixtureWriter) -> None:
    """Add the sizes of each format and revision, in both directions."""
    for form, revisions in FORMATS.items():
        for revision, sized in revisions.items():
            for name, title, row, rules, why in _rows(sized):
                every = (*rules, *sized.layout)
                for op, topic in (("decode", "size"), ("encode", "size-encode")):
                    add_generated(
                        writer,
                        f"{topic}/{name}",
                        title,
                        {"kind": f"{form}/{revision}", **row},
                        rules=every,
                        why=why,
                        doc=f"iggy.md {sized.section}",
                        op=op,
                        needs=_needs(form, revision) if op == "encode" else (),
                        level=level_of(every, op),
                    )


def _rows(sized: Sized) -> Iterator[tuple[str, str, dict[str, Any], tuple[str, ...], str]]:
    for size in (65535, 65536, 65537):
        yield f"payload-{size}", f"A payload of {size:,} bytes", {"value": size}, PAYLOAD, EDGE
    yield "payload-1536k", "A payload of 1.5 MiB", {"value": 1536 * KIB}, PAYLOAD, EDGE
    if sized.large:
        yield "payload-12m", "A payload of 12 MiB", {"value": 12 * MIB, "fill": "runs"}, PAYLOAD, HUGE
    yield "messages-1000", "1,000 messages", {"records": 1000, "value": 10}, COUNT, MANY


def _needs(form: str, revision: str) -> tuple[str, ...]:
    """What a client must let its caller say."""
    if form in ("iggy.json.send", "iggy.send"):
        balanced = form == "iggy.send" and revision != "0.11"
        return (*(("feature:partitioning-balanced",) if balanced else ()), "feature:message-id")
    return ()
