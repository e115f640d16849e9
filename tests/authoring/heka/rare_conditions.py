"""Cases of Heka that stand alone at a corner: heka.md §1, §2.1, §2.4, §4."""

# fmt: off


from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.frame_bytes import (
    FV,
    F,
    M,
    frame,
    frame_value,
    frames,
    garbage,
    msg,
    num,
    sub,
    value,
    vi,
    whole,
)

GROUP, END = b"\x3b", b"\x3c"
"""The keys of field 7 as a group: beginning and end."""


def write(writer: FixtureWriter) -> None:
    message, stream = HekaCaseBuilder(writer, "heka.message", "0.10"), HekaCaseBuilder(writer, "heka.stream", "0.10")
    _torn(message)
    _groups(stream)
    _places(stream)
    _signed(stream)


def _torn(s: HekaCaseBuilder) -> None:
    """§4, M42: the end inside a number, at positions that differ in one bit and in many."""
    for size, end in ((8, 32), (7, 31)):
        head = msg(sub(6, b"p" * size))
        s.rejects(f"length/number-torn-at-{end}", f"A pid whose number goes on behind byte {end - 1}, the last", head + b"\x40\x80", "truncated", at=end - 1, twin="message/minimal", doc="heka.md §4 M42", rules=("heka.message.length",),
             also=("length-past-end",), why="What is there is no number that is too long, it is one that is cut.")
    s.accepts("length/number-whole-at-32", "The same pid, whole", msg(sub(6, b"p" * 8)) + b"\x40\x7f", value(payload=b"p" * 8, pid=127), doc="heka.md §4", rules=("heka.message.length",), why="The accepted neighbour.")


def _groups(s: HekaCaseBuilder) -> None:
    """§2.4, S30: a field that nobody knows is passed over, so a group must end as it began; §4, M23.

    protobuf 7.36.2 for Python, run on `08 14` and so many `3b` and `3c`: 100 of them it reads, 101 it does not;
    nor does it read a group that ends under another number.
    """
    known = {"rules": ("heka.stream.header.unknown",), "remarks": ("header-unknown-field",), "doc": "heka.md §2.4 S30; §4 M23"}
    why = "A newer writer may add fields."
    s.accepts("header/unknown-group", "An unknown group 7", frame(M, GROUP + num(1, 5) + END) + F, frames(FV, FV), why=why, **known)
    s.accepts("header/unknown-groups-100", "A hundred groups in one another", frame(M, GROUP * 100 + END * 100) + F, frames(FV, FV), why="As many as Google's own parsers take.", **known)
    refused = {"rules": ("heka.stream.header.undecodable",), "doc": "heka.md §2.4; §4 M23, and protobuf", "before": frames(), "twin": "header/unknown-group"}
    also = ("bad-kind", "bad-length", "other")
    for name, title, end in (("higher", "8", b"\x44"), ("lower", "6", b"\x34")):
        s.rejects(f"header/group-ends-{name}", f"A group 7 that ends as {title}", frame(M, GROUP + end), "bad-nesting", at=5, also=also, why="Who does not look at the number reads a group inside a group as its end.", **refused)
    inner = GROUP + b"\x43" + END + b"\x44"
    s.rejects("header/groups-crossed", "Groups 7 and 8, ended in the order of their beginnings", frame(M, inner), "bad-nesting", at=6, also=also, why="Groups lie in one another.", **refused)
    wide = vi(1 << 3) + b"\xff" * 9 + b"\x01"
    s.accepts("header/unknown-group-of-minus-one", "A group that holds a number of ten bytes", frame(M, GROUP + wide + END) + F, frames(FV, FV), why="−1 takes ten bytes, in a group as elsewhere.", **known)
    s.rejects("header/unknown-group-of-11-bytes", "A group that holds a number of eleven bytes", frame(M, GROUP + vi(1 << 3) + b"\x80" * 10 + b"\x00" + END), "bad-varint", at=6, also=("bad-length", "other"), why="No number of 64 bits is that long.", **refused)
    s.rejects("header/unknown-groups-101", "A hundred and one groups in one another", frame(M, GROUP * 101 + END * 101), "bad-nesting", at=104, level="may", also=(*also, "limit-exceeded"), why="A reader that calls itself for each needs a limit.", **refused)


def _places(s: HekaCaseBuilder) -> None:
    """§2.1, §2.4: refusals that are not at the beginning, and at the very end."""
    s.rejects("refused/zero-header-second", "A frame, then a header of no bytes", F + b"\x1e\x00\x1f", "bad-length", at=26, before=frames(FV), twin="frames/one", doc="heka.md §2.4 S07", rules=("heka.stream.header.empty",),
         also=("missing-field", "limit-exceeded"), why="Go delivers an empty record.")
    hello = frame(b"hello")
    s.scan("scan/refused-message-last", "A frame, and a refused message at the end of the stream", [F + hello], [whole(0, 25, FV), garbage(25, 10, "unknown-field")], doc="heka.md §2.4 S35", rules=("heka.scan.account",),
           why="Behind the last frame there is nothing to look at.")
    s.scan("scan/refused-message-alone", "A refused message, and nothing else", [hello], [garbage(0, 10, "unknown-field")], doc="heka.md §2.4 S35", rules=("heka.scan.account",), why="Behind it there is nothing to look at.")


def _signed(s: HekaCaseBuilder) -> None:
    """§1, §3: hash functions that nobody knows; §2.1: what Go's framing shows of a signature."""
    for number in (3, 2**32):
        s.rejects(f"hmac/function-{number}", f"Hash function {number}", frame(M, num(3, number)), "auth-failed", at=5, before=frames(), twin="header/explicit-md5", doc="heka.md §1, Header; §3 A14", rules=("heka.stream.hmac.function",),
             also=("bad-kind",), flags=["security"], why="Go's process dies; a table of two has no third.")
    more = {"options": {"resync": "go"}, "needs": ["feature:resync-go"], "level": "may", "doc": "heka.md §2.1", "rules": ("heka.scan.go",), "why": "What Heka's own splitter does with these bytes, for those who must match it."}
    digest = bytes(range(16))
    signed = frame(M, sub(4, b"test") + num(5, 1) + sub(6, digest))
    s.scan("scan/go-digest", "A signature, in Go's framing", [signed + F], [whole(0, len(signed), frame_value(signer=b"test", version=1, digest=digest)), whole(len(signed), 25, FV)], **more)
    s.scan("scan/go-too-big", "A message_length of 65537, in Go's framing", [frame(b"", length=65537) + F], [garbage(0, 7, "limit-exceeded"), whole(7, 25, FV)], **more)
