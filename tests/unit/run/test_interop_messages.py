"""Logical messages in their encodings: what `interop` is made of."""

import pytest
from attrs import evolve

from wireproof import formats
from wireproof.formats import FORMATS
from wireproof.kafka.suite.producer_messages import (
    ZSTD,
    LogicalMessage,
    LogicalMessageSet,
    encodings_of,
)
from wireproof.wire.json_values import to_json

SENDING = LogicalMessageSet(
    1,
    (LogicalMessage(b"k", None, 1000, ((b"h", None),)), LogicalMessage(None, b"", 900)),
    producer=(7, 1, 5),
    transactional=True,
)


@pytest.mark.parametrize(("revision", "ways"), [("v0", 2), ("v1", 2), ("v2", 1)])
def test_each_encoding_of_logical_messages_is_read_as_these_messages(revision: str, ways: int) -> None:
    row = FORMATS[f"kafka.batch/{revision}"]
    found = encodings_of(SENDING, revision)
    assert len(found) == ways
    for entries in found:
        back = [formats.decode(row, formats.encode(row, to_json(one))) for one in entries]
        values = [to_json(one.value, with_derived=True) for one in back]
        messages = [part for value in values for part in value.get("records", value.get("messages", [value]))]
        assert [message["key"] for message in messages] == ["6b", None]
        assert [message["value"] for message in messages] == [None, ""]
        assert [message["offset"] for message in messages] == ["0", "1"]
        times = ["-1", "-1"] if revision == "v0" else ["1000", "900"]
        assert [message["timestamp"] for message in messages] == times


def test_uncompressed_messages_are_entries_of_their_own_before_v2_and_zstd_is_none() -> None:
    plain = evolve(SENDING, codec=0)
    assert [len(entries) for entries in encodings_of(plain, "v0")] == [2]
    assert [len(entries) for entries in encodings_of(plain, "v2")] == [1]
    assert encodings_of(evolve(SENDING, codec=ZSTD), "v1") == ()
