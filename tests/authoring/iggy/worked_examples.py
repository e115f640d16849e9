"""The worked examples of iggy.md §13, built from parts: the parts are compared with the printed bytes."""

from tests.authoring.iggy import log, poll, send
from tests.authoring.iggy.message_bytes import (
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


def built() -> dict[str, tuple[bytes, bytes]]:
    """Return each worked example as the parts build it, and as iggy.md §13 prints it."""
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
        "W5": (PLACE + BALANCED + sent(0, b"hello-world") + sent(2, WORLD, key1), send.W5),
        "W6": (tagged(2, u32(1)), unhex("020401000000")),
        "W7": (tagged(3, b"order-7"), unhex("03076f726465722d37")),
        "W12": (u32(2) + b"".join(old), poll.W12),
        "W13": (new, poll.W13),
        "W14": (u32(1) + u64(1) + new, poll.W14),
        "W15": (stored30(0, HELLO) + stored30(1, WORLD, key1), log.W15),
    }
