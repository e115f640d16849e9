"""The effects of an edit of a list, and replacements by parts of another type."""

import json
from random import Random

import pytest
from each import each

from wireproof import formats
from wireproof.derive.mutate import value_mutations
from wireproof.derive.mutate.decode_trace import DecodeTrace, Element, cached_trace
from wireproof.derive.mutate.encodings import samples
from wireproof.derive.mutate.field_mutations import adjust_counts_and_companions, remove_elements, zero_number
from wireproof.derive.mutate.splice import Splice, apply_splices
from wireproof.derive.mutate.values_of_type import edit_sites, replacement_for
from wireproof.formats import FORMATS
from wireproof.iggy.frame import EVICTION_HEADER, REPLY_HEADER, REQUEST_HEADER
from wireproof.iggy.header_kinds import KINDS_BY_NAME
from wireproof.wire.rejection import Rejected

SENDS = ("iggy.send/0.7", "iggy.send/0.9", "iggy.send/0.11", "iggy.poll/0.9", "iggy.poll/0.11")

HEADERS = [header.at("0.11").type for header in (REQUEST_HEADER, REPLY_HEADER, EVICTION_HEADER)]


def full(name: str) -> DecodeTrace:
    return cached_trace(FORMATS[name], samples(FORMATS[name])[0])


def messages(parent: DecodeTrace) -> list[Element]:
    return [one for one in parent.elements if one.many == "messages"]


@each("name", SENDS)
def test_a_message_that_is_taken_away_takes_its_count_and_its_entry_of_the_index_along(name: str) -> None:
    parent = full(name)
    for gone, kept in ((0, 1), (1, 0)):
        data = apply_splices(parent, remove_elements(parent, [messages(parent)[gone]]))
        (left,) = formats.decode(FORMATS[name], data).value.messages
        assert left.payload == parent.value.messages[kept].payload


@each("name", SENDS)
def test_a_message_that_occurs_twice_is_counted_and_has_its_own_entry(name: str) -> None:
    parent = full(name)
    for at, one in enumerate(messages(parent)):
        twice = parent.data[one.start : one.end] * 2
        splices = [Splice("", one.start, one.end, twice), *adjust_counts_and_companions(parent, one, 2)]
        found = formats.decode(FORMATS[name], apply_splices(parent, splices)).value.messages
        payloads = [message.payload for message in parent.value.messages]
        assert [message.payload for message in found] == [*payloads[: at + 1], *payloads[at:]]


@pytest.mark.parametrize("name", SENDS[:3])
def test_without_any_message_a_send_is_refused_for_that_alone(name: str) -> None:
    parent = full(name)
    with pytest.raises(Rejected) as caught:
        formats.decode(FORMATS[name], apply_splices(parent, remove_elements(parent, messages(parent))))
    assert (caught.value.cls, caught.value.path) == ("count-mismatch", "messages")


def test_each_alternative_is_the_fullest_once() -> None:
    frames = [
        formats.decode(FORMATS["iggy.frame/0.11"], data).value for data in samples(FORMATS["iggy.frame/0.11"])
    ]
    assert [type(frame.header) for frame in frames] == HEADERS
    sends = [
        formats.decode(FORMATS["iggy.send/0.9"], data).value for data in samples(FORMATS["iggy.send/0.9"])
    ]
    assert [type(send.messages[0].headers) for send in sends] == [tuple, bytes]


@pytest.mark.parametrize(
    ("name", "part", "kinds"),
    [
        ("iggy.frame/0.11", "header", set(HEADERS)),
        ("iggy.send/0.9", "headers", {tuple, bytes}),
    ],
)
def test_a_part_becomes_one_of_another_type(name: str, part: str, kinds: set[type]) -> None:
    found = tuple(site for site in edit_sites(full(name).value) if site.steps)
    site = next(one for one in found if one.name == part)
    rng = Random(3)
    assert {type(replacement_for(site, rng, found)) for _ in range(60)} == kinds


def test_every_number_of_a_frame_is_unset_soon() -> None:
    parent, rng = full("iggy.frame/0.11"), Random(5)
    seen = {splice.spare for _ in range(200) for splice in zero_number(parent, rng)}
    assert seen == {span.path for span in parent.integers if span.value}


def test_a_number_of_a_text_mostly_becomes_another_number() -> None:
    rng = Random(7)
    texts = [
        json.loads(value_mutations.mutate_json(rng, b'{"count":0,"kind":"raw"}') or b"0") for _ in range(300)
    ]
    counts = [text["count"] for text in texts if isinstance(text, dict) and text.get("count", 0) != 0]
    assert sum(type(count) is int and count > 0 for count in counts) > len(counts) * 2 / 3
    kinds = [text["kind"] for text in texts if isinstance(text, dict) and text.get("kind", "raw") != "raw"]
    assert sum(isinstance(kind, str) and kind in KINDS_BY_NAME for kind in kinds) > len(kinds) * 2 / 3
