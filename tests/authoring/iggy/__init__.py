"""Writes the golden cases of Iggy. Run: `python tests/authoring/iggy.py`.

Where iggy.md §13 prints the bytes of a worked example, the case holds the printed ones, and the parts that
build the other cases are held to them (`built`).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import iggy_address
import iggy_address_later
import iggy_batched
import iggy_brink
import iggy_corners
import iggy_edges
import iggy_headers
import iggy_json_later
import iggy_jsonpoll
import iggy_jsonsend
import iggy_jsontext
import iggy_keyed
import iggy_later
import iggy_log
import iggy_logs_later
import iggy_poll
import iggy_requests
import iggy_send
from book import Book
from iggy_parts import (
    ALL,
    BALANCED,
    BLOG,
    HELLO,
    KEY1,
    PLACE,
    WORLD,
    polled30,
    polled40,
    sent,
    stored30,
    tagged,
    tlv,
    u32,
    u64,
    unhex,
)

CHAPTERS = (
    iggy_address,
    iggy_headers,
    iggy_send,
    iggy_poll,
    iggy_log,
    iggy_jsonsend,
    iggy_jsontext,
    iggy_jsonpoll,
    iggy_edges,
    iggy_brink,
    iggy_corners,
    iggy_keyed,
    iggy_address_later,
    iggy_later,
    iggy_batched,
    iggy_logs_later,
    iggy_requests,
    iggy_json_later,
)


def built() -> dict[str, tuple[bytes, bytes]]:
    """Each worked example as the parts build it, and as it is printed."""
    key1, old = tlv(KEY1), [polled30(0, HELLO), polled30(1, WORLD, tlv(KEY1))]
    new = u32(2) + polled40(0, HELLO) + polled40(1, WORLD, key1)
    printed_all = (
        "0100000061010200000000ff01000000620202000000c3a9010000006303010000000001000000640401000000ff"
        "01000000650502000000feff01000000660604000000fdffffff01000000670708000000fcffffffffffffff"
        "01000000680810000000fbffffffffffffffffffffffffffffff01000000690901000000ff010000006a0a020000000201"
        "010000006b0b0400000004030201010000006c0c080000000807060504030201"
        "010000006d0d10000000100f0e0d0c0b0a090807060504030201010000006e0e040000000000c03f"
        "010000006f0f08000000cdccccccccdc5e40"
    )
    printed_blog = (
        "050000006b65792031020600000076616c756531050000006b65792d32030100000001"
        "050000006b65795f330c0800000040e2010000000000"
    )
    return {
        "W1": (key1, unhex("050000006b65792d31020700000056616c75652031")),
        "W2": (tlv(*BLOG), unhex(printed_blog)),
        "W3": (tlv(*ALL), unhex(printed_all)),
        "W5": (PLACE + BALANCED + sent(0, b"hello-world") + sent(2, WORLD, key1), iggy_send.W5),
        "W6": (tagged(2, u32(1)), unhex("020401000000")),
        "W7": (tagged(3, b"order-7"), unhex("03076f726465722d37")),
        "W12": (u32(2) + b"".join(old), iggy_poll.W12),
        "W13": (new, iggy_poll.W13),
        "W14": (u32(1) + u64(1) + new, iggy_poll.W14),
        "W15": (stored30(0, HELLO) + stored30(1, WORLD, key1), iggy_log.W15),
    }


if __name__ == "__main__":
    wrong = [name for name, (ours, printed) in built().items() if ours != printed]
    if wrong:
        raise SystemExit(f"the parts do not build {', '.join(wrong)}")
    book = Book()
    for chapter in CHAPTERS:
        chapter.write(book)
    book.write()
    sys.stdout.write(f"{len(book.cases)} cases\n")
