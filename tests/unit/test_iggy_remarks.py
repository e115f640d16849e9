"""Where the reference answers though others may answer otherwise: iggy.md §3.3, §10."""

from struct import pack

from iggy_bytes import PLACE, WORKED, decode, entry, refusal, remarks, sent, u32

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases import fixtures
from wireproof.cases.outcome import Accepted
from wireproof.trial.judge import judge
from wireproof.wire.remarks import REMARKS

TWICE = entry(b"k", 2, b"a") + entry(b"k", 2, b"b")


def test_a_duplicate_key_names_the_first_and_the_last_as_other_answers() -> None:
    (remark,) = decode("iggy.headers/0.0.30", entry(b"z", 2, b"z") + TWICE).remarks
    assert remark.refusable
    first = [["6b", {"kind": "string", "value": "61"}], ["7a", {"kind": "string", "value": "7a"}]]
    last = [["6b", {"kind": "string", "value": "62"}], ["7a", {"kind": "string", "value": "7a"}]]
    assert {other.name: other.value for other in remark.others} == {"first-wins": first, "last-wins": last}
    assert {other.path for other in remark.others} == {"headers"}
    assert remark.at == 0


def test_the_other_answers_of_a_duplicate_key_stand_at_the_path_of_their_message() -> None:
    data = PLACE + sent(1, b"a") + sent(2, b"b", TWICE)
    (remark,) = decode("iggy.send/0.0.30", data).remarks
    assert {other.path for other in remark.others} == {"messages[1].headers"}


def test_messages_out_of_order_may_be_told_sorted_but_not_refused() -> None:
    data = WORKED["W12"][2]
    second = data[49:]
    swapped = data[:4] + second + data[4:49]
    (remark,) = decode("iggy.poll/0.0.30", swapped).remarks
    assert not remark.refusable
    (other,) = remark.others
    assert [row["offset"] for row in other.value] == ["0", "1"]
    assert other.path == "messages"


def test_every_iggy_remark_is_made_by_some_bytes() -> None:
    poll = u32(1) + pack("<QBQ16sI", 0, 1, 0, b"", 1) + u32(0) + u32(1) + b"x"
    empty = u32(0) + pack("<QQ16s", 0, 0, b"") + u32(0) + u32(0)
    text = b'{"partitioning":{"kind":"balanced","value":"YR=="},"messages":[{"payload":"eA==","x":1}]}'
    odd = entry(b"a", 6, b"123") + entry(b"b", 3, b"\x02") + entry(b"c", 2, b"\xff") + TWICE
    big = b"".join(entry(b"k%03d" % number, 1, b"v" * 250) for number in range(404))
    two = WORKED["W12"][2]
    seen = {
        *remarks("iggy.headers/0.0.30", odd),
        *remarks("iggy.poll/0.0.40", poll),
        *remarks("iggy.poll/0.0.30", empty),
        *remarks("iggy.poll/0.0.30", two[:4] + two[49:] + two[4:49]),
        *remarks("iggy.json.send/0.0.30", text),
        *remarks("iggy.partitioning/0.0.30", b"\x01\x00"),
        *remarks("iggy.partitioning/0.0.30", b"\x01\x01a"),
        *remarks("iggy.send/0.0.30", PLACE + sent(1, b"a", big)),
    }
    assert seen == {name for name in REMARKS if name.startswith("iggy-")}


def test_a_sound_poll_is_not_remarked() -> None:
    assert refusal("iggy.poll/0.0.60", WORKED["W14"][2]) is None
    assert remarks("iggy.poll/0.0.60", WORKED["W14"][2]) == []


def test_an_adapter_that_shows_no_headers_may_tell_messages_sorted() -> None:
    case = fixtures.load().by_id["iggy.poll/0.0.60/messages/unordered"]
    hello = Hello("x", "1", {"iggy.poll/0.0.60": Claim(observes=("messages[].offset", "messages[].payload"))})
    rows = [{"offset": "0", "payload": b"hello".hex()}, {"offset": "1", "payload": b"world".hex()}]
    assert judge(case, Accepted({"messages": rows}), hello=hello).label == "info:iggy-message-order"
    swapped = [{**rows[0], "payload": rows[1]["payload"]}, {**rows[1], "payload": rows[0]["payload"]}]
    assert judge(case, Accepted({"messages": swapped}), hello=hello).label == "fail:wrong-value"
