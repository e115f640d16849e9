"""`heka.stream/0.10`, signatures: heka.md §3, §8 W4, W5, W8, W15, W16."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.documented_bytes import HEADERS, frame_of
from tests.authoring.heka.frame_bytes import (
    FV,
    KEYS,
    F,
    M,
    frame,
    frame_value,
    frames,
    garbage,
    num,
    signature,
    sub,
    value,
    whole,
)
from tests.authoring.heka.stream import W3, W3_VALUE


def write(writer: FixtureWriter) -> None:
    s = HekaCaseBuilder(writer, "heka.stream", "0.10")
    for chapter in (_good, _bad, _worked, _signed):
        chapter(s)


R = "heka.stream.hmac"


MD5 = bytes.fromhex(HEADERS["A01"][-34:-2])


SHA1 = bytes.fromhex(HEADERS["A03"][-42:-2])


NEEDS = ["feature:hmac"]


def _accepts(s: HekaCaseBuilder, name: str, title: str, data: bytes, given: tuple[Any, ...], rules: tuple[str, ...], why: str, doc: str, keys: Any = None, **more: Any) -> None:
    s.accepts(f"hmac/{name}", title, data, frames(*given), doc=doc, why=why, rules=tuple(f"{R}.{rule}" for rule in rules), needs=NEEDS, origin="document", options={"keys": KEYS if keys is None else keys}, **more)


def _rejects(s: HekaCaseBuilder, name: str, row: str, title: str, rules: tuple[str, ...], why: str, at: int, keys: Any = None, **more: Any) -> None:
    s.rejects(f"hmac/{name}", title, frame_of(row, M), more.pop("cls", "auth-failed"), at=at, before=frames(), twin=more.pop("twin", "hmac/md5"), doc=f"heka.md §3 {row}", why=why, rules=tuple(f"{R}.{rule}" for rule in rules), needs=NEEDS,
         origin="document", options={"keys": KEYS if keys is None else keys}, **{"flags": ["security"], **more})


def _good(s: HekaCaseBuilder) -> None:
    test = {"signer": b"test", "version": 1, "digest": MD5, "signed_by": b"test"}
    md5 = frame_value(**test)
    _accepts(s, "md5", "MD5, the hash function absent", frame_of("A01", M), (md5,), ("digest", "function", "key", "claim", "short", "unnamed"), "The Go client writes no field 3 for MD5.", "heka.md §3 A01")
    _accepts(s, "md5-explicit", "MD5, the hash function written", frame_of("A02", M), (frame_value(function="MD5", **test),), ("function", "digest"), "The form of heka-py and heka-node.", "heka.md §3 A02")
    _accepts(s, "sha1", "SHA-1", frame_of("A03", M), (frame_value(function="SHA1", signer=b"test", version=1, digest=SHA1, signed_by=b"test"),), ("function", "digest"), "20 bytes of digest.", "heka.md §3 A03")
    zero = bytes.fromhex(HEADERS["A08"][-34:-2])
    _accepts(s, "version-absent", "No key version: the key of version 0", frame_of("A08", M), (frame_value(signer=b"test", digest=zero, signed_by=b"test"),), ("version", "key"), "Absent is 0, and the key is test_0.", "heka.md §3 A08")
    explicit = frame(M, signature(M, b"zero", b"test", 0))
    _accepts(s, "version-zero", "Key version 0, written", explicit, (frame_value(signer=b"test", version=0, digest=zero, signed_by=b"test"),), ("version",), "The same key.", "heka.md §3")
    _accepts(s, "signed-then-unsigned", "A signed frame, then an unsigned one", frame_of("A17", M) + F, (md5, FV), ("carried", "claim"), "The signer of one frame is not that of the next.", "heka.md §3 A17")
    _accepts(s, "unsigned-then-signed", "An unsigned frame, then a signed one", F + frame_of("A17", M), (FV, md5), ("carried",), "Nor the other way round.", "heka.md §3 A17")
    unverified = frame_value(signer=b"test", version=1, digest=MD5)
    s.accepts("hmac/not-verified", "A signed frame, and no keys asked for", frame_of("A01", M), frames(unverified), doc="heka.md §3, rows skip and C, Lua, Python", why="Nothing verified, nobody proved to be the signer.",
         rules=(f"{R}.claim",), origin="document", level="should")


def _bad(s: HekaCaseBuilder) -> None:
    digest = "A reader that passes this on trusts whoever can write to the port."
    _rejects(s, "wrong-key", "A04", "Signed with another key", ("digest",), digest, 31)
    _rejects(s, "empty-digest", "A12", "An HMAC of no bytes", ("digest",), "Compared by the length of the shorter one it is right.", 19)
    for name, title, part in (("digest-cut", "The first 8 bytes of the right digest", MD5[:8]), ("digest-longer", "The right digest and a byte more", MD5 + b"\0")):
        head = sub(4, b"test") + num(5, 1) + sub(6, part)
        s.rejects(f"hmac/{name}", title, frame(M, head), "auth-failed", at=5 + len(head), before=frames(), twin="hmac/md5", doc="heka.md §3, row compare", why="Lengths must match: who compares the shorter one lets a forger guess a byte at a time.",
             rules=(f"{R}.digest",), needs=NEEDS, options={"keys": KEYS}, flags=["security"])
    _rejects(s, "md5-digest-as-sha1", "A15", "A digest of MD5 under SHA-1", ("digest", "function"), digest, 33)
    _rejects(s, "unknown-signer", "A05", "A signer without key", ("key",), digest, 31)
    _rejects(s, "unknown-version", "A06", "A version without key", ("key",), digest, 31)
    _rejects(s, "no-keys", "A07", "No keys at all", ("key",), digest, 31, keys={})
    _rejects(s, "no-signer", "A09", "No signer, though a key _1 exists", ("unnamed",), "Accepted, and nobody signed it.", 25, level="should")
    bypass = "Go takes the claimed name for the signer: authentication bypass."
    _rejects(s, "claimed-signer", "A11", "A signer, no HMAC", ("claim",), bypass, 23, level="should")
    _rejects(s, "claimed-signer-and-version", "A10", "A signer and version, no HMAC", ("claim",), bypass, 23, level="should")
    _rejects(s, "short-header", "A13", "A header of 11 bytes with a bogus HMAC", ("short", "key"), "Go verifies no header of 13 bytes or less.", 14)
    _rejects(s, "unknown-function", "A14", "Hash function 2", ("function",), "Go's process dies; Logary writes 2 for SHA-256.", 5, also=("bad-kind",), level="should")
    _rejects(s, "undecodable-header", "A18", "A header that fails behind its length", ("short",), "At 13 bytes and less Go delivers it (S28).", 4, cls="bad-varint", also=("length-past-end", "truncated"))


def _worked(s: HekaCaseBuilder) -> None:
    body = W3[6:]
    sha, md5 = bytes.fromhex("9814a261c9d8853f192e989b7aba5b0d8ecf9fd8"), bytes.fromhex("27f97ac0fb9dd930648d87b6c63ef03f")
    remarks = ("int32-five-byte-negative", "severity-range")
    w4 = bytes.fromhex("1e230888011801220474657374280132149814a261c9d8853f192e989b7aba5b0d8ecf9fd81f") + body
    w5 = bytes.fromhex("1e1d0888012204746573742801321027f97ac0fb9dd930648d87b6c63ef03f1f") + body
    _accepts(s, "w04-sha1", "W3 signed with SHA-1", w4, (frame_value(W3_VALUE, 136, function="SHA1", signer=b"test", version=1, digest=sha, signed_by=b"test"),), ("digest",), "The digest covers the message bytes alone.", "heka.md §8 W4", remarks=remarks)
    _accepts(s, "w05-md5", "W3 signed with MD5", w5, (frame_value(W3_VALUE, 136, signer=b"test", version=1, digest=md5, signed_by=b"test"),), ("digest",), "The digest covers the message bytes alone.", "heka.md §8 W5", remarks=remarks)
    w8 = bytes.fromhex("1e1b081422036f7073280032101e181f6e469ce6fa02433ee04fc1b4ea1f") + M
    _accepts(s, "w08-separators-in-digest", "A digest that holds 1E and 1F", w8, (frame_value(signer=b"ops", version=0, digest=bytes.fromhex("1e181f6e469ce6fa02433ee04fc1b4ea"), signed_by=b"ops"),), ("digest",), "Nothing is escaped.", "heka.md §8 W8",
        keys={"ops_0": b"k733".hex()})
    w15 = bytes.fromhex("1e21081c1801220376696328013214200b3e54494c0689721e728966eeee39e10b46b31f0a103031323334353637383930313233343510c0843d1a04686d6163")
    _accepts(s, "w15-heka-node", "The golden frame of heka-node", w15, (frame_value(value(uuid=b"0123456789012345", timestamp=1_000_000, type=b"hmac"), 28, function="SHA1", signer=b"vic", version=1,
        digest=bytes.fromhex("200b3e54494c0689721e728966eeee39e10b46b3"), signed_by=b"vic"),), ("digest", "key"), "Made by another implementation and published in its tests.", "heka.md §8 W15", keys={"vic_1": b"some_key".hex()})
    w16 = bytes.fromhex("1e1c08102204746573742800321078357e3635383f9fbc7598461b05ef2d1f1080c48c9491a9e8d4131a0454455354")
    s.rejects("hmac/w16-heka", "The golden frame of Heka's own tests: a right HMAC, no uuid", w16, "missing-field", at=47, before=frames(), twin="hmac/md5", doc="heka.md §8 W16", why="A good signature does not make a message of what has no uuid.",
         rules=("heka.stream.content",), needs=NEEDS, origin="document", options={"keys": {"test_0": ""}}, level="should")
    block = bytes.fromhex("144c") + M
    s.accepts("hmac/snappy", "A signed snappy block", frame(block, signature(block, b"testkey", b"test")), frames(frame_value(length=22, signer=b"test", version=1, digest=signature(block, b"testkey", b"test")[-16:], signed_by=b"test")), doc="heka.md §3, §5",
         why="The digest covers the bytes as they stand, compressed.", rules=(f"{R}.digest",), needs=[*NEEDS, "codec:snappy"], options={"keys": KEYS, "compression": "snappy"})


def _signed(s: HekaCaseBuilder) -> None:
    """§1, §3: hash functions that nobody knows; §2.1: what Go's framing shows of a signature."""
    for number, level in ((3, "must"), (2**32, "should")):
        s.accepts(f"hmac/function-{number}", f"Hash function {number}, nothing signed", frame(M, num(3, number)), frames(FV), doc="heka.md §1, Header; §3 A14", rules=("heka.stream.hmac.function.unsigned",), level=level,
             remarks=("header-unknown-function",), why="Without HMAC nobody asks for the function: protobuf takes a number that the enum does not have for an unknown field, and Go delivers the frame.")
    more = {"options": {"resync": "go"}, "needs": ["feature:resync-go"], "level": "may", "doc": "heka.md §2.1", "rules": ("heka.scan.go",), "why": "What Heka's own splitter does with these bytes, for those who must match it."}
    digest = bytes(range(16))
    signed = frame(M, sub(4, b"test") + num(5, 1) + sub(6, digest))
    s.scan("scan/go-digest", "A signature, in Go's framing", [signed + F], [whole(0, len(signed), frame_value(signer=b"test", version=1, digest=digest)), whole(len(signed), 25, FV)], **more)
    s.scan("scan/go-too-big", "A message_length of 65537, in Go's framing", [frame(b"", length=65537) + F], [garbage(0, 7, "limit-exceeded"), whole(7, 25, FV)], **more)
