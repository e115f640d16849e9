"""The bodies of HTTP: which member a refusal names, and which of two faults it is for (iggy.md §8)."""

import json
from typing import Any

import pytest
from each import each

from wireproof import decode
from wireproof.adapters import Rejected

HEADER = {
    "checksum": 1, "id": 2, "offset": 0, "timestamp": 3, "origin_timestamp": 4,
    "user_headers_length": 0, "payload_length": 1, "reserved": 0,
}  # fmt: skip
MESSAGE = {"header": HEADER, "payload": "AA==", "user_headers": []}
POLL = {"partition_id": 1, "current_offset": 0, "count": 1, "messages": [MESSAGE]}


def poll(**header: Any) -> dict[str, Any]:
    """Return a poll with members of the header changed; those that are None are left out."""
    changed = {name: value for name, value in {**HEADER, **header}.items() if value is not None}
    return {**POLL, "messages": [{**MESSAGE, "header": changed}]}


@each(
    "format_id, body, text",
    [
        ("iggy.json.send/0.10", {"messages": []}, "missing-field at 0, partitioning"),
        ("iggy.json.send/0.10", {"partitioning": {}}, "missing-field at 16, partitioning.kind"),
        ("iggy.json.poll/0.10", poll(offset=None), "missing-field at 69, messages[0].offset"),
        ("iggy.json.poll/0.10", poll(id="2", reserved=None),
         "type-mismatch at 88, messages[0].id: expected number, got string"),
    ],
)  # fmt: skip
def test_the_member_that_is_wrong_first_is_named(format_id: str, body: dict[str, Any], text: str) -> None:
    with pytest.raises(Rejected) as refused:
        decode(format_id, json.dumps(body, separators=(",", ":")).encode())
    assert str(refused.value) == text


def test_lengths_and_reserved_numbers_that_do_not_fit_are_remarked_in_their_own_place() -> None:
    body = json.dumps(poll(user_headers_length=7, reserved=1), separators=(",", ":")).encode()
    assert decode("iggy.json.poll/0.10", body).remarks == ("iggy-json-reserved", "iggy-json-length")
