"""Where the reference answers though others may answer otherwise: iggy.md §3.3, §10."""

from goldens import load
from iggy_bytes import WORKED, decode, entry

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.outcome import Accepted
from wireproof.judge.judge import judge

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


def test_messages_out_of_order_may_be_returned_sorted_but_not_refused() -> None:
    data = WORKED["W12"][2]
    second = data[49:]
    swapped = data[:4] + second + data[4:49]
    (remark,) = decode("iggy.poll/0.0.30", swapped).remarks
    assert not remark.rejectable
    (other,) = remark.others
    assert [row["offset"] for row in other.value] == ["0", "1"]
    assert other.path == "messages"


def test_an_adapter_that_shows_no_headers_may_return_messages_sorted() -> None:
    case = load().by_id["iggy.poll/0.0.60/messages/unordered"]
    hello = Hello("x", "1", {"iggy.poll/0.0.60": Claim(observes=("messages[].offset", "messages[].payload"))})
    rows = [{"offset": "0", "payload": b"hello".hex()}, {"offset": "1", "payload": b"world".hex()}]
    assert judge(case, Accepted({"messages": rows}), hello=hello).label == "info:iggy-message-order"
    swapped = [{**rows[0], "payload": rows[1]["payload"]}, {**rows[1], "payload": rows[0]["payload"]}]
    assert judge(case, Accepted({"messages": swapped}), hello=hello).label == "fail:wrong-value"
