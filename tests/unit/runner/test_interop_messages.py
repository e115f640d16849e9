"""Logical messages and the readings of adapters that are compared: what `interop` is made of."""

import pytest
from attrs import evolve

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.outcome import Accepted, Crashed, Outcome, Refused
from wireproof.cases.seeded_examples import encode_cases
from wireproof.formats import FORMATS
from wireproof.kafka.family.producer_messages import (
    ZSTD,
    LogicalMessage,
    LogicalMessageSet,
    encodings_of,
)
from wireproof.runner.disagreements import (
    Disagreement,
    Reading,
    clusters,
    describe_difference,
    readings_agree,
)
from wireproof.runner.interop import (
    DecodeResult,
    EncodedMessage,
)
from wireproof.runner.verdicts import Verdict
from wireproof.wire.json_values import to_json
from wireproof.wire.observed_fields import NO_FIELDS, common_tree, field_tree, project

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


def test_the_values_of_a_seed_are_the_same_however_many_are_wanted() -> None:
    few, many = encode_cases("kafka.batch/v1", 3, 5), encode_cases("kafka.batch/v1", 6, 5)
    assert many[: len(few)] == few
    assert encode_cases("kafka.batch/v1", 3, 6) != few


def test_the_fields_that_both_show_are_compared_and_no_others() -> None:
    one, other = field_tree(("a", "list[].x", "list[].y", "z")), field_tree(("list[].y", "a.b", "q"))
    shared = common_tree(one, other)
    value = {"a": {"b": "1", "c": "2"}, "list": [{"x": "3", "y": "4"}], "z": "5", "q": "6"}
    assert project(value, shared) == {"a": {"b": "1"}, "list": [{"y": "4"}]}
    assert common_tree({}, one) == one
    assert common_tree(field_tree(("a",)), field_tree(("b",))) is NO_FIELDS
    assert common_tree(field_tree(("list[].a", "c")), field_tree(("list[].b", "c"))) == {"c": {}}


def reading(outcome: Outcome, label: str = "pass", observes: tuple[str, ...] = ()) -> DecodeResult:
    case = Case("x", "heka.message", "0.10", Data(b""), Accept({"a": "1", "b": "2"}))
    name, _, kind = label.partition(":")
    verdict = Verdict(name, kind)  # type: ignore[arg-type] # a name of the table
    return DecodeResult(EncodedMessage(case, ()), case, verdict, outcome, field_tree(observes), 0)


SAID = Accepted({"a": "1", "b": "2"}, 5)
OTHER = Accepted({"a": "1", "b": "9"}, 5)


def test_the_largest_cluster_comes_first_even_against_the_reference() -> None:
    heard = [
        Reading("reference", reading(SAID)),
        Reading("x", reading(OTHER, "fail:wrong-value")),
        Reading("y", reading(OTHER, "fail:wrong-value")),
        Reading("z", reading(Refused("crc-mismatch", 3, "crc", text="no"), "fail:wrong-reject")),
        Reading("silent", reading(Crashed("SIGSEGV"), "crash")),
        Reading("outside", reading(SAID, "unsupported")),
    ]
    split = Disagreement(heard[0].read.encoded_message, clusters(heard))
    assert [[one.adapter for one in some] for some in split.clusters] == [
        ["x", "y"],
        ["reference"],
        ["z"],
        ["silent"],
    ]
    assert [split.place(name) for name in ("y", "reference", "silent", "outside")] == [1, 2, 4, 0]
    said = {one.adapter: split.difference(one) for one in split.apart}
    assert said["reference"] == 'b = "2"; the others "9"'
    assert said["z"] == "refuses: crc-mismatch at 3 crc no"
    assert said["silent"].startswith("crash")


def test_what_one_hides_sets_nobody_apart() -> None:
    assert readings_agree(reading(SAID), reading(OTHER, observes=("a",)))
    assert not readings_agree(reading(SAID), reading(OTHER, observes=("a", "b")))
    assert readings_agree(reading(SAID, observes=("a",)), reading(OTHER, observes=("b",)))


def test_bytes_consumed_set_apart_where_both_say_so() -> None:
    longer = reading(Accepted({"a": "1", "b": "2"}, 6), "fail:over-read")
    assert not readings_agree(reading(SAID), longer)
    assert describe_difference(longer, reading(SAID)) == "6 bytes consumed; the others 5"
    assert readings_agree(reading(SAID), reading(Accepted({"a": "1", "b": "2"}, None)))


def test_any_refusal_agrees_with_any_refusal() -> None:
    assert readings_agree(reading(Refused("other")), reading(Refused("crc-mismatch", 3)))
