"""The edges that small changes of a codec move: iggy.md §3.1, §9."""

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import HELLO, sent, tlv
from tests.authoring.iggy.send import send, sent_value, value


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "iggy.send", "0.0.30")
    for size in (2561, 6000):
        payload = b"p" * size
        s.accepts(
            f"limits/payload-{size}",
            f"A payload of {size} bytes",
            send(sent(1, payload)),
            value(sent_value(1, payload)),
            doc="iggy.md §3.1, §9",
            rules=("iggy.send.layout",),
            why="The limit is ten mebibytes: nothing near this may be refused.",
        )
    many = tuple((b"k%03d" % number, "raw", b"v") for number in range(300))
    s.accepts(
        "headers/three-hundred",
        "Three hundred headers",
        send(sent(1, HELLO, tlv(*many))),
        value(sent_value(1, HELLO, *many)),
        doc="iggy.md §2.3",
        rules=("iggy.send.headers",),
        why="Their bytes are limited, their number is not.",
    )
