"""`iggy.send` from 0.7 on, headers at and over their limit: iggy.md §5, §9. Payloads of the limit are too large for fixtures."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.batches_0_11 import frame, sends, sent
from tests.authoring.iggy.batches_0_11 import sent_value as batched_value
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.headers_from_0_9 import block
from tests.authoring.iggy.message_bytes import HELLO, WORLD
from tests.authoring.iggy.message_bytes_from_0_7 import E7, E9, Edition, send
from tests.authoring.iggy.send_and_poll_from_0_7 import value

DOC = "iggy.md §5, §9"
RULES = ("iggy.send.headed.limits",)
LIMIT = 100_000
"""Bytes of the headers of a message: keys, values, kinds and lengths."""
LENGTHS_V1, LENGTHS_V2 = 9, 10
"""Bytes of a header that are neither key nor value, in TLV v1 and v2."""


def headers(total: int, lengths: int, *, keyed: bool) -> tuple[Any, ...]:
    """Headers that take `total` bytes, most of them with a value of 250 bytes."""
    size = lengths + 4 + 250
    count = total // size - 1
    rest = total - count * size - 2 * (lengths + 4)
    values = [b"v" * 250] * count + [b"v" * (rest // 2), b"v" * (rest - rest // 2)]
    kind = ("string",) if keyed else ()
    return tuple((*kind, b"k%03d" % number, "raw", one) for number, one in enumerate(values))


def write(writer: FixtureWriter) -> None:
    for e, lengths in ((E7, LENGTHS_V1), (E9, LENGTHS_V2)):
        _read(CaseBuilder(writer, "iggy.send", e.revision), e, lengths)
    _written(CaseBuilder(writer, "iggy.send", "0.11"))


def _read(s: CaseBuilder, e: Edition, lengths: int) -> None:
    most, few = (headers(size, lengths, keyed=e.keyed) for size in (LIMIT, 1000))
    whole, other = e.block(*most), e.block(*few)
    assert (len(whole), len(other)) == (LIMIT, 1000)
    data = send(e.sent(1, HELLO, whole), e.sent(2, WORLD, other))
    s.accepts("limits/headers-100000", "100,000 bytes of headers, and a message behind them", data, value(e.sent_value(1, HELLO, *most), e.sent_value(2, WORLD, *few)), doc=DOC, rules=RULES, profile="produce", why="The limit is that of each message, and not of their sum.")
    more = e.block(*headers(LIMIT + 1, lengths, keyed=e.keyed))
    assert len(more) == LIMIT + 1
    s.rejects("limits/headers-100001", "100,001 bytes of headers", send(e.sent(1, HELLO, more), e.sent(2, WORLD, other)), "limit-exceeded", also=("bad-length", "invalid-value"), twin="limits/headers-100000", doc=DOC, level="should", rules=RULES, profile="produce", why="TooBigUserHeaders of the server; keys and lengths count. Other servers than that of Rust were not read.")


def _written(s: CaseBuilder) -> None:
    most, more = (headers(size, LENGTHS_V2, keyed=True) for size in (LIMIT, LIMIT + 1))
    s.writes("encode/headers-100000", "100,000 bytes of headers", sends(batched_value(1, HELLO, *most)), sent(frame(1, HELLO, block(*most))), doc=DOC, rules=RULES, why="What a client of Rust, Go or C++ still takes.", stated=False)
    s.refuses("encode/headers-100001", "100,001 bytes of headers", sends(batched_value(1, HELLO, *more)), twin="encode/headers-100000", doc=DOC, rules=RULES, also=("limit-exceeded", "bad-length"), why="The clients of Rust and Go make no such message.")
