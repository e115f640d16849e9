"""Where the reference answers though others may answer otherwise: iggy.md §3.3, §10."""

from struct import pack

from goldens import load
from iggy_bytes import PLACE, WORKED, decode, entry, refusal, remarks, sent, u32
from xxhash import xxh3_64_intdigest

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.mutate.encodings import sample
from wireproof.cases.outcome import Accepted
from wireproof.formats import FORMATS
from wireproof.runner.judge import judge
from wireproof.wire.remark_classes import REMARK_CLASSES

TWICE = entry(b"k", 2, b"a") + entry(b"k", 2, b"b")


def test_a_duplicate_key_names_the_first_and_the_last_as_other_answers() -> None:
    (remark,) = decode("iggy.headers/0.0.30", entry(b"z", 2, b"z") + TWICE).remarks
    assert remark.rejectable
    first, last = (
        [
            [key, {"kind": "string", "value": value, "typed": None}]
            for key, value in (("6b", one), ("7a", "7a"))
        ]
        for one in ("61", "62")
    )
    assert {other.name: other.value for other in remark.others} == {"first-wins": first, "last-wins": last}
    assert {other.path for other in remark.others} == {"headers"}
    assert remark.at == 0


def test_the_other_answers_of_a_duplicate_key_stand_at_the_path_of_their_message() -> None:
    data = PLACE + sent(1, b"a") + sent(2, b"b", TWICE)
    (remark,) = decode("iggy.send/0.0.30", data).remarks
    assert {other.path for other in remark.others} == {"messages[1].headers"}


def test_messages_out_of_order_may_be_returned_sorted_but_not_refused() -> None:
    data = WORKED["W12"][2]
    second = data[49:]
    swapped = data[:4] + second + data[4:49]
    (remark,) = decode("iggy.poll/0.0.30", swapped).remarks
    assert not remark.rejectable
    (other,) = remark.others
    assert [row["offset"] for row in other.value] == ["0", "1"]
    assert other.path == "messages"


def test_every_iggy_remark_is_made_by_some_bytes() -> None:
    poll = u32(1) + pack("<QBQ16sI", 0, 1, 0, b"", 1) + u32(0) + u32(1) + b"x"
    empty = u32(0) + pack("<QQ16s", 0, 0, b"") + u32(0) + u32(0)
    text = b'{"partitioning":{"kind":"balanced","value":"YR=="},"messages":[{"payload":"eA==","x":1}]}'
    odd = entry(b"a", 6, b"123") + entry(b"b", 3, b"\x02") + entry(b"c", 2, b"\xff") + TWICE
    big = b"".join(entry(b"k%03d" % number, 1, b"v" * 250) for number in range(404))
    told = sample(FORMATS["iggy.json.poll/0.9"])
    two, later = WORKED["W12"][2], WORKED["W24"][2]
    login = b"\1" + bytes(79) + b"x"  # from the operation on
    seen = {
        *remarks("iggy.poll/0.9", later[:16] + b"\xff" + later[17:]),
        *remarks("iggy.poll/0.9", later[:-22] + b"\0" + later[-21:]),
        *remarks("iggy.json.poll/0.9", told.replace(b'"reserved":0', b'"reserved":1')),
        *remarks("iggy.json.poll/0.9", told.replace(b'"payload_length":1', b'"payload_length":2')),
        *remarks("iggy.poll/0.11", WORKED["W26"][2][:64] + b"\3" + WORKED["W26"][2][65:]),
        *remarks("iggy.send/0.11", _unminted()),
        *remarks(
            "iggy.frame/0.11",
            bytes(48) + u32(257) + bytes(8) + b"\x05" + bytes(83) + b"\1" + bytes(31) + login,
        ),
        *remarks("iggy.frame/0.11", bytes(48) + u32(257) + bytes(8) + b"\x05" + bytes(115) + login),
        *remarks("iggy.poll-request/0.8", WORKED["W10"][2][:-1] + b"\2"),
        *remarks("iggy.reply/0.0.30", u32(0) + u32(1) + b"x"),
        *remarks("iggy.send/0.7", WORKED["W17"][2][:56] + b"\1" + WORKED["W17"][2][57:]),
        *remarks("iggy.headers/0.0.30", odd),
        *remarks("iggy.poll/0.0.40", poll),
        *remarks("iggy.poll/0.0.30", empty),
        *remarks("iggy.poll/0.0.30", two[:4] + two[49:] + two[4:49]),
        *remarks("iggy.json.send/0.0.30", text),
        *remarks("iggy.partitioning/0.0.30", b"\x01\x00"),
        *remarks("iggy.partitioning/0.0.30", b"\x01\x01a"),
        *remarks("iggy.send/0.0.30", PLACE + sent(1, b"a", big)),
    }
    assert seen == {name for name in REMARK_CLASSES if name.startswith("iggy-")}


def _unminted() -> bytes:
    """W25 with id 0 and offset delta 7 in its first frame, its checksums made right: iggy.md §6."""
    data, at = WORKED["W25"][2], 28
    rest = bytes(16) + pack("<I", 7) + data[at + 284 : at + 309]
    frame = pack("<Q", xxh3_64_intdigest(rest)) + rest
    sums = frame[:8] + data[at + 309 : at + 317]
    seal = xxh3_64_intdigest(data[at : at + 40] + data[at + 48 : at + 52] + sums)
    return data[: at + 40] + pack("<Q", seal) + data[at + 48 : at + 256] + frame + data[at + 309 :]


def test_a_sound_poll_is_not_remarked() -> None:
    assert refusal("iggy.poll/0.0.60", WORKED["W14"][2]) is None
    assert remarks("iggy.poll/0.0.60", WORKED["W14"][2]) == []


def test_an_adapter_that_shows_no_headers_may_return_messages_sorted() -> None:
    case = load().by_id["iggy.poll/0.0.60/messages/unordered"]
    hello = Hello("x", "1", {"iggy.poll/0.0.60": Claim(observes=("messages[].offset", "messages[].payload"))})
    rows = [{"offset": "0", "payload": b"hello".hex()}, {"offset": "1", "payload": b"world".hex()}]
    assert judge(case, Accepted({"messages": rows}), hello=hello).label == "info:iggy-message-order"
    swapped = [{**rows[0], "payload": rows[1]["payload"]}, {**rows[1], "payload": rows[0]["payload"]}]
    assert judge(case, Accepted({"messages": swapped}), hello=hello).label == "fail:wrong-value"
