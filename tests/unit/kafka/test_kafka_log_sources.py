"""Two readers of a log: of fetch responses, and of segment files (kafka.md §1.4)."""

from each import each
from kafka_bytes import LOG, accepted, batch, refused

ONE = batch()
CUT_ENTRY_OF_MAGIC_3 = bytes.fromhex("0000000000000001 00000064 00000000 03")

ENDS_OF_SEGMENTS = {
    "12 zero bytes": bytes(12),
    "17 zero bytes": bytes(17),
    "a size of 13": bytes.fromhex("0000000000000001 0000000d"),
    "magic 3 in 17 bytes": CUT_ENTRY_OF_MAGIC_3,
    "magic 3 in more bytes": CUT_ENTRY_OF_MAGIC_3 + bytes(20),
    "a cut batch": batch(base=1)[:60],
}
"""What Kafka's reader of files takes for the end: FileLogInputStream.java, lines 63 to 92."""


@each("end", ENDS_OF_SEGMENTS)
def test_a_segment_ends_silently(end: str) -> None:
    found = accepted(LOG, ONE + ENDS_OF_SEGMENTS[end], source="segment")
    assert (len(found.value.batches), found.consumed, found.remarks) == (1, len(ONE), ())


def test_a_fetch_response_looks_at_size_and_magic_of_a_cut_entry() -> None:
    for end in ("12 zero bytes", "a size of 13", "magic 3 in 17 bytes", "magic 3 in more bytes"):
        assert refused(LOG, ONE + ENDS_OF_SEGMENTS[end]).cls in {"bad-length", "bad-magic"}


def test_a_segment_with_18_bytes_left_has_a_size_that_is_looked_at() -> None:
    assert refused(LOG, ONE + bytes(18), source="segment").cls == "bad-length"


def test_a_segment_refuses_a_whole_entry_of_another_magic() -> None:
    assert refused(LOG, ONE + batch(base=1, magic=3), source="segment").cls == "bad-magic"
