"""Messages of the adapter contract against its schema, and against bytes written by hand."""

import io
import json
import struct
from contextlib import suppress
from importlib.resources import files
from itertools import product
from typing import Any

import pytest
from each import each
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from property_profile import given

from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.adapters.contract_json import (
    OPENING,
    answer_of,
    answer_packet,
    hello_of,
    hello_packet,
    request_of,
    request_packet,
)
from wireproof.adapters.errors import AdapterStartError, MessageError
from wireproof.adapters.message_framing import MAX_MESSAGE, Frames, Framing, Lines, Packet
from wireproof.adapters.serve import UNASKED_DIGEST, converse
from wireproof.cases.case import Limits
from wireproof.cases.outcome import (
    Accepted,
    BrokenRule,
    Crashed,
    Exhausted,
    Faulty,
    NotRun,
    Outcome,
    Refused,
    Stalled,
    TimedOut,
    Unsupported,
)
from wireproof.wire.options import Options

SCHEMA: Any = json.loads(files("wireproof").joinpath("schemas/adapter.schema.json").read_text())
VALID = Draft202012Validator(SCHEMA)


def on_a_line(packet: Packet) -> Any:
    return json.loads(Lines().pack(packet))


REQUESTS = [
    Request("7", "decode", "kafka.batch", "v2", b"\x00\xff"),
    Request("8", "encode", "heka.message", "0.10", value={"uuid": "00"}),
    Request("9", "scan", "heka.stream", "0.10", chunks=(b"", b"\x1e")),
    Request("a", "decode", "kafka.log", "mixed", b"", answer="digest", limits=Limits(ms=5)),
    Request(
        "b",
        "decode",
        "heka.stream",
        "0.10",
        b"x",
        options=Options(
            "produce",
            1024,
            keys={"test_1": b"\x01\x02"},
            max_message=77,
            resync="go",
            compression="snappy",
            fetch_offset=12,
            isolation="read_committed",
            aborted=((1000, 5), (1001, 6)),
        ),
    ),
]

ANSWERS: list[Outcome] = [
    Accepted({"a": ["1", None, True]}, 70, remarks=("overlong",)),
    Accepted(None),
    Accepted(data=b"\x00\x01"),
    Accepted(digest="00" * 16, consumed=3),
    Accepted({}, broken=(BrokenRule("toy.sum", "the sum is wrong"), BrokenRule("toy.last"))),
    Refused(),
    Refused("crc-mismatch", 17, "crc", "CRC_MISMATCH", "wants 1, has 2", {"batches": []}, untyped=True),
    Refused("truncated", "61>12"),
    Refused("invalid-value", -1, broken=(BrokenRule("toy.sum", "the sum is wrong"),)),
    Unsupported("no lz4"),
    Stalled("nothing in 1 s"),
    Crashed("panic: index out of range"),
    Exhausted("memory", "MemoryError"),
    Faulty("broker thread died"),
]

HELLOS = [
    Hello("x", "1"),
    Hello("noted", "1", notes=("no transactions",)),
    Hello(
        "kafka-python",
        "3.0.12",
        {
            "kafka.log/mixed": Claim(("decode",), ("none", "gzip"), ("reader",), ("batches[].crc",), ()),
            "kafka.batch/v2": Claim(),
        },
        "none",
        32,
        "slow",
    ),
]


@each("request_, framing", product(REQUESTS, [Frames, Lines]), ids=lambda row: row[0].id)
def test_a_request_arrives_as_it_left_and_fits_the_schema(request_: Request, framing: type[Framing]) -> None:
    packet = request_packet(request_)
    VALID.validate(on_a_line(packet))
    (arrived,) = framing().feed(framing().pack(packet))
    assert request_of(arrived) == request_


def test_a_digest_that_was_not_asked_for_says_why_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireproof.adapters.message_framing.MAX_MESSAGE", 4000)

    def answer(request: Request) -> Accepted:
        return Accepted(digest="00" * 16) if request.answer == "digest" else Accepted("x" * 5000)

    texts = []
    for wanted in ("value", "digest"):
        request = Request("7", "decode", "toy", "v1", b"", answer=wanted)
        out = io.BytesIO()
        converse(Hello("x", "1"), answer, Frames, io.BytesIO(Frames().pack(request_packet(request))), out)
        (packet,) = Frames().feed(out.getvalue())
        VALID.validate(packet.head)
        assert answer_of(packet) == Accepted(digest="00" * 16)
        texts.append(packet.head.get("text"))
    assert texts == [UNASKED_DIGEST, None]


@each("outcome, framing", product(ANSWERS, [Frames, Lines]))
def test_an_answer_arrives_as_it_left_and_fits_the_schema(outcome: Outcome, framing: type[Framing]) -> None:
    packet = answer_packet("7", outcome)
    VALID.validate(on_a_line(packet))
    (arrived,) = framing().feed(framing().pack(packet))
    assert arrived.head["id"] == "7"
    assert answer_of(arrived) == outcome


@pytest.mark.parametrize("outcome", [TimedOut(5, "read 0"), NotRun("over")], ids=repr)
def test_what_an_adapter_cannot_say_is_passed_on_as_a_fault(outcome: Outcome) -> None:
    packet = answer_packet("7", outcome)
    VALID.validate(on_a_line(packet))
    assert isinstance(answer_of(packet), Faulty)


@pytest.mark.parametrize("hello", HELLOS, ids=lambda hello: hello.name)
def test_a_hello_arrives_as_it_left_and_fits_the_schema(hello: Hello) -> None:
    packet = hello_packet(hello)
    VALID.validate(on_a_line(packet))
    assert hello_of(packet) == hello


def test_the_lines_are_those_of_the_design() -> None:
    assert on_a_line(OPENING) == {"hello": {"protocol": 1}}
    VALID.validate(on_a_line(OPENING))
    request = {"id": "7", "op": "decode", "format": "kafka.batch", "revision": "v2", "hex": "00ff"}
    assert on_a_line(request_packet(REQUESTS[0])) == request
    options = on_a_line(request_packet(REQUESTS[4]))
    assert options["profile"] == "produce"
    assert options["limits"] == {"max_output": 1024}
    assert options["options"] == {
        "keys": {"test_1": "0102"},
        "max_message": 77,
        "resync": "go",
        "compression": "snappy",
        "fetch_offset": 12,
        "isolation": "read_committed",
        "aborted": [[1000, 5], [1001, 6]],
    }


@each(
    "kind, head, text",
    [
        ("answer", {"outcome": "ok"}, "outcome must be one of accepted"),
        ("answer", {}, "outcome must be one of accepted"),
        ("answer", {"outcome": ["accepted"]}, "outcome must be one of accepted"),
        ("answer", {"outcome": "accepted"}, "exactly one of value, digest and hex"),
        (
            "answer",
            {"outcome": "accepted", "value": 1, "digest": "x"},
            "exactly one of value, digest and hex",
        ),
        ("accepted", {"consumed": True}, "consumed must be a whole number from 0"),
        ("accepted", {"consumed": -1}, "consumed must be a whole number from 0"),
        ("accepted", {"remarks": "x"}, "remarks must be a list, got 'x'"),
        ("accepted", {"reason": "x"}, "accepted has no field 'reason'"),
        ("refused", {"class": "bad-crc"}, "class is unknown: 'bad-crc'; "),
        ("refused", {"class": None}, "class is unknown: None"),
        ("refused", {"at": "61>"}, "at must be a position such as 17 or 61>3"),
        ("refused", {"at": -2}, "at must be a position such as 17 or 61>3"),
        ("refused", {"at": True}, "at must be a position such as 17 or 61>3"),
        ("refused", {"path": None}, "path must be a string, got None"),
        ("refused", {"untyped": 1}, "untyped must be true or false"),
        ("refused", {"broken": ["toy.sum"]}, "broken[0] must be an object"),
        ("refused", {"broken": [{"text": "x"}]}, "broken[0].rule is missing"),
        ("answer", {"outcome": "unsupported", "text": 1}, "text must be a string"),
        ("answer", {"outcome": "exhausted", "resource": "disk"}, "resource must be one of memory, output"),
        ("request", {"op": "parse"}, "op must be one of decode, encode, scan, sequence"),
        ("request", {"id": 7}, "id must be a string"),
        ("request", {"fixture": "x"}, "a request has no field 'fixture'"),
        ("request", {"limits": {"ms": -1}}, "limits.ms must be a whole number from 0"),
        ("request", {"limits": {"rss": 1}}, "limits has no field 'rss'"),
        ("request", {"options": {"resync": "rust"}}, "resync must be one of strict, go, c, got 'rust'"),
        ("request", {"options": {"keys": {"a": "XY"}}}, "options.keys['a'] must be bytes in lower-case hex"),
        ("request", {"options": {"aborted": [[1]]}}, "aborted must be a list"),
        ("request", {"profile": "consume"}, "profile must be one of reader, produce"),
        ("request", {"value": {}}, "decode must have hex and no other input"),
        ("hello", {"version": ...}, "version is missing"),
        ("hello", {"version": None}, "version must be a string"),
        ("hello", {"version": 1}, "version must be a string"),
        ("hello", {"window": 0}, "window must be a whole number from 1"),
        ("hello", {"errors": "some"}, "errors must be one of exact, coarse, none"),
        ("hello", {"language": "go"}, "hello has no field 'language'"),
        ("hello", {"revisions": []}, "revisions must be an object"),
        ("hello", {"revisions": {"a/b": {"ops": ["read"]}}}, "revisions['a/b'].ops[0] must be one of decode"),
        ("hello", {"revisions": {"a/b": {"codecs": "none"}}}, "codecs must be a list"),
        ("hello", {"revisions": {"a/b": {"op": []}}}, "revisions['a/b'] has no field 'op'"),
    ],
)
def test_a_message_that_is_none_is_refused_by_code_and_schema_alike(
    kind: str, head: dict[str, Any], text: str
) -> None:
    match kind:
        case "request":
            head = {"id": "7", "op": "decode", "format": "f", "revision": "r"} | head
            read, packet, shown = request_of, Packet(head, blob=b""), head | {"hex": ""}
        case "hello":
            whole = {"name": "x", "version": "1"} | head
            shown = {"hello": {name: part for name, part in whole.items() if part is not ...}}
            read, packet = hello_of, Packet(shown)
        case _:
            whole = {"accepted": {"outcome": kind, "value": 1}, "refused": {"outcome": kind}}
            shown = {"id": "7"} | whole.get(kind, {}) | head
            read, packet = answer_of, Packet(shown)
    assert not VALID.is_valid(shown)
    with pytest.raises(MessageError) as caught:
        read(packet)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


# --- framings ---

HEAD = b'{"id":"7","op":"decode","blob":3}'
FRAME = struct.pack(">I", len(HEAD)) + HEAD + b"abc"


def test_a_frame_is_a_length_of_the_header_then_the_header_then_the_blobs() -> None:
    assert Frames().pack(Packet({"id": "7", "op": "decode"}, blob=b"abc")) == FRAME
    chunks = Frames().pack(Packet({"id": "7"}, blobs=(b"a", b"", b"bc")))
    assert chunks == b'\x00\x00\x00\x1a{"id":"7","blobs":[1,0,2]}abc'


LINE = b'{"id":"7","hex":"616263"}\r\n\n{"id":"8","chunks":["61",""]}\n'


@each(
    "framing, data, packets",
    [
        (Frames, FRAME + FRAME, [Packet({"id": "7", "op": "decode"}, blob=b"abc")] * 2),
        (Lines, LINE, [Packet({"id": "7"}, blob=b"abc"), Packet({"id": "8"}, blobs=(b"a", b""))]),
    ],
)
def test_messages_come_together_from_any_pieces(
    framing: type[Framing], data: bytes, packets: list[Packet]
) -> None:
    whole, bytewise = [data], [data[n : n + 1] for n in range(len(data))]
    for pieces in (whole, bytewise, *([data[:cut], data[cut:]] for cut in range(len(data)))):
        decoder = framing()
        assert [one for piece in pieces for one in decoder.feed(piece)] == packets


def nested(levels: int, text: str = "x") -> bytes:
    """A line of that many levels, the object around it among them."""
    inner = "[" * (levels - 1) + json.dumps(text) + "]" * (levels - 1)
    return f'{{"a":{inner}}}\n'.encode()


def test_a_message_is_bounded_in_depth_and_not_in_breadth() -> None:
    broad = b'{"a":[' + b"[[]]," * 5000 + b'"]]]]"]}\n'
    for line in (nested(64), broad, nested(64, "]" * 200), nested(64, "[" * 200)):
        assert len(list(Lines().feed(line))) == 1
    for levels in (65, 500, 100_000):
        with pytest.raises(MessageError, match="nested deeper than 64"):
            list(Lines().feed(nested(levels)))
    with pytest.raises(MessageError, match="nested deeper than 64"):
        list(Lines().feed(nested(65, "]" * 200)))


def test_half_a_surrogate_pair_is_no_text() -> None:
    assert len(list(Lines().feed(b'{"a":"\\ud83d\\ude00"}\n'))) == 1
    with pytest.raises(MessageError, match="surrogate"):
        list(Lines().feed(b'{"a":["\\ud83d"]}\n'))


WORDS = sorted({word for part in SCHEMA["$defs"].values() for word in part.get("properties", {})})
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 1 << 80),
    st.sampled_from(["", "7", "accepted", "refused", *WORDS]),
)
TREES = st.recursive(
    SCALARS,
    lambda t: st.lists(t, max_size=3) | st.dictionaries(st.sampled_from(WORDS), t, max_size=5),
    max_leaves=12,
)
HEADS = st.dictionaries(st.sampled_from(WORDS), TREES, max_size=8)
SAID = st.sampled_from(["accepted", "refused", "unsupported", "stalled", "exhausted", "faulty", "other"])


@given(HEADS, SAID, st.none() | st.binary(max_size=4))
def test_nothing_but_a_message_error_leaves_the_boundary(
    head: dict[str, Any], said: str, blob: bytes | None
) -> None:
    for parse, one in (
        (answer_of, Packet(head | {"id": "7", "outcome": said}, blob=blob)),
        (request_of, Packet(head | {"id": "7", "format": "f", "revision": "r"}, blob=blob)),
        (hello_of, Packet({"hello": head | {"name": "n", "version": "1"}})),
        (hello_of, Packet(head)),
    ):
        with suppress(MessageError, AdapterStartError):
            parse(one)  # type: ignore[operator] # three parsers of one shape


@given(st.lists(st.binary(max_size=12), max_size=8), st.sampled_from([Frames, Lines]))
def test_any_bytes_are_messages_or_a_message_error(pieces: list[bytes], framing: type[Framing]) -> None:
    decoder = framing()
    with suppress(MessageError):
        for piece in pieces:
            assert all(isinstance(packet, Packet) for packet in decoder.feed(piece))
            assert decoder.progress()


@given(HEADS, SAID)
def test_what_the_code_takes_for_an_answer_the_schema_takes_too(head: dict[str, Any], said: str) -> None:
    head = {name: part for name, part in head.items() if name not in {"hex", "blob", "blobs", "chunks"}}
    head |= {"id": "7", "outcome": said}
    try:
        answer_of(Packet(dict(head)))
    except MessageError:
        assert not VALID.is_valid(head)
    else:
        assert VALID.is_valid(head)


@each(
    "framing, data, text",
    [
        (Frames, struct.pack(">I", MAX_MESSAGE + 1), "no frame"),
        (Frames, b"\x00\x00\x00\x05[1,2]", "no frame"),
        (Frames, b"\x00\x00\x00\x03{x}", "no JSON"),
        (Frames, b"\x00\x00\x00\x02{\xff", "no JSON"),
        (Frames, b"\x00\x00\x00\x00", "no JSON"),
        (Frames, struct.pack(">I", 200_006) + b'{"a":' + b"[" * 200_001, "nested deeper than 64"),
        (Frames, b'\x00\x00\x00\x0b{"blob":-1}', "blob must be a length"),
        (Frames, b'\x00\x00\x00\x16{"blobs":[1000000000]}', "over the limit"),
        (Frames, b'\x00\x00\x00\x0d{"blob":true}', "blob must be a length"),
        (Frames, b'\x00\x00\x00\x0a{"a": 1.5}', "1.5 is a float"),
        (Frames, b'\x00\x00\x00\x0a{"a": NaN}', "NaN is a float"),
        (Frames, b'\x00\x00\x00\x16{"blob":1,"blobs":[1]}', "not both"),
        (Lines, b"Hello\n", "no JSON"),
        (Lines, b"[]\n", "no JSON object"),
        (Lines, b'{"hex":"0G"}\n', "hex must be bytes"),
        (Lines, b'{"hex":"0A"}\n', "hex must be bytes"),
        (Lines, b'{"hex":" 0a"}\n', "hex must be bytes"),
        (Lines, b'{"hex":"0"}\n', "hex must be bytes"),
        (Lines, b'{"hex":7}\n', "hex must be bytes"),
        (Lines, b'{"chunks":"00"}\n', "chunks must be a list"),
        (Lines, b'{"chunks":[0]}\n', "chunks must be bytes"),
    ],
)
def test_bytes_that_are_no_frame_and_a_line_that_is_no_message_are_refused_at_once(
    framing: type[Framing], data: bytes, text: str
) -> None:
    with pytest.raises(MessageError, match=text):
        list(framing().feed(data))


def test_progress_reports_how_much_of_a_message_arrived() -> None:
    frames = Frames()
    got = []
    for byte in FRAME:
        list(frames.feed(bytes([byte])))
        got.append(frames.progress())
    assert got[2] == "3 of 4 bytes of a frame's length"
    assert got[9] == f"6 of {len(HEAD)} bytes of a header"
    assert got[-2] == "2 of 3 bytes of the blobs"
    assert got[-1] == "0 of 4 bytes of a frame's length"


def test_a_message_over_the_limit_is_not_sent() -> None:
    with pytest.raises(MessageError, match="over the limit"):
        Frames().pack(Packet({}, blob=bytes(MAX_MESSAGE)))
