"""The derived families, checked with the reference. architecture.md#verdicts."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate, takewhile

import pytest
from attrs import evolve
from each import each
from goldens import load

from wireproof import formats
from wireproof.cases.case import ORIGIN_REFERENCE, ORIGIN_RELATION, Accept, Case, Chunks, Data, Either, Reject
from wireproof.cases.reference_answers import expectation_of_bytes
from wireproof.derive.derived import (
    EDGE_BYTES,
    EVERY_POSITION_BELOW,
    FAMILIES,
    broken_relations,
    derived_cases,
)
from wireproof.formats import FORMATS, decode_with_trace
from wireproof.judge.judge import refusal_verdict
from wireproof.run.case_lookup import find_case
from wireproof.wire.checksums import crc32c
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

PARENT = "kafka.batch/v2/crc/leader-epoch-outside"
ALL = (*FAMILIES, "join", "chunk")


def family(parent: str, name: str) -> list[Case]:
    found = [case for case in derived_cases(load().by_id[parent]) if case.family == name]
    assert found
    return found


def data_of(case: Case) -> bytes:
    assert isinstance(case.input, Data)
    return case.input.data


@pytest.mark.sweeps
def test_the_reference_keeps_every_relation_of_every_family_on_a_fixture_of_each_topic() -> None:
    """On each fixture `check reference` does, which CI runs from the wheel."""
    counts: Counter[str | None] = Counter()
    systems: set[tuple[str, str | None]] = set()
    for golden in {(one.format, one.revision, one.topic): one for one in load().cases}.values():
        cases = list(derived_cases(golden))
        counts.update(case.family for case in cases)
        systems |= {(golden.format.partition(".")[0], case.family) for case in cases}
        stated = [case for case in cases if case.source.origin == ORIGIN_RELATION]
        assert [(case.id, seen) for case, seen in broken_relations(stated)] == []
        assert len({case.id for case in cases}) == len(cases)
    assert set(counts) == set(ALL)
    assert {("kafka", name) for name in ALL} <= systems
    assert {("iggy", "truncate"), ("iggy", "append"), ("iggy", "chunk")} <= systems


def test_a_relation_that_does_not_hold_is_found() -> None:
    good = family(PARENT, "append")[0]
    wrong = evolve(good, expect=Reject("crc-mismatch"))
    assert [case.id for case, _ in broken_relations([good, wrong])] == [wrong.id]
    assert isinstance(good.expect, Accept)
    short = evolve(good, expect=evolve(good.expect, consumed=1))
    assert [case.id for case, _ in broken_relations([short])] == [short.id]


@each("name", ALL)
def test_a_derived_case_is_made_again_from_its_id(name: str) -> None:
    suite = load()
    parent = "kafka.log/mixed/entries/three" if name == "chunk" else PARENT
    cases = family(parent, name)
    for case in {cases[0].id: cases[0], cases[-1].id: cases[-1]}.values():
        assert case.id.startswith(f"{parent}~{name}:")
        assert find_case(suite, case.id) == case
    assert find_case(suite, f"{parent}~{name}:{len(cases)}") is None
    assert find_case(suite, f"{parent}~none:0") is None


def test_every_prefix_of_a_frame_is_refused_as_truncated() -> None:
    whole = data_of(load().by_id[PARENT])
    cases = family(PARENT, "truncate")
    assert [data_of(case) for case in cases] == [whole[:stop] for stop in range(len(whole))]
    assert {case.expect for case in cases} == {Reject("truncated")}
    assert {case.twin for case in cases} == {PARENT}


def test_every_bit_flipped_under_the_checksum_is_noticed() -> None:
    whole = data_of(load().by_id[PARENT])
    cases = family(PARENT, "flip")
    changed = set()
    for case in cases:
        data = data_of(case)
        (at,) = [at for at in range(len(whole)) if data[at] != whole[at]]
        assert (data[at] ^ whole[at]).bit_count() == 1
        changed.add(at)
        assert case.expect == Reject("crc-mismatch")
    assert changed == set(range(17, len(whole)))  # the CRC itself at 17, what it covers from 21 on


def test_what_follows_changes_neither_value_nor_consumed() -> None:
    golden = load().by_id[PARENT]
    for case in family(PARENT, "append"):
        assert data_of(case).startswith(data_of(golden))
        assert len(data_of(case)) > len(data_of(golden))
        assert case.expect == golden.expect


def test_two_frames_are_two_entries_of_a_log() -> None:
    golden, (case,) = load().by_id[PARENT], family(PARENT, "join")
    assert case.format_id == "kafka.log/mixed"
    assert isinstance(golden.expect, Accept)
    assert isinstance(case.expect, Accept)
    assert data_of(case) == data_of(golden) * 2
    assert isinstance(golden.expect.value, dict)
    end = golden.expect.value["nextOffset"]
    assert case.expect.value == {"batches": [golden.expect.value] * 2, "nextOffset": end}
    assert case.expect.consumed == len(data_of(golden)) * 2


def test_how_bytes_arrive_changes_nothing() -> None:
    parent = "kafka.log/mixed/entries/three"
    whole = data_of(load().by_id[parent])
    cases = family(parent, "chunk")
    assert len({str(case.expect) for case in cases}) == 1
    for case in cases:
        assert isinstance(case.input, Chunks)
        assert case.op == "scan"
        assert b"".join(case.input.chunks) == whole


def test_lengths_and_counts_are_edited_with_and_without_repair() -> None:
    plain, sealed = family(PARENT, "count-length"), family(PARENT, "sealed-count-length")
    assert len(plain) == len(sealed)
    titles = {case.title for case in plain}
    assert {"batchLength +1", "batchLength -1"} <= titles
    assert any(case.expect != other.expect for case, other in zip(plain, sealed, strict=True))


def test_a_large_input_is_damaged_at_its_ends_and_at_the_borders_of_its_fields() -> None:
    three = load().by_id["kafka.log/mixed/entries/three"]
    data = data_of(three) * 8
    size = len(data)
    assert size > EVERY_POSITION_BELOW
    expect = expectation_of_bytes(FORMATS[three.format_id], data, three.options)
    large = evolve(three, input=Data(data), expect=expect)
    first = takewhile(lambda case: case.family == "truncate", derived_cases(large))
    stops = {len(data_of(case)) for case in first}
    assert {
        span.start for span in decode_with_trace(FORMATS[three.format_id], data).spans if not span.space
    } <= stops
    assert set(range(EDGE_BYTES)) | set(range(size - EDGE_BYTES, size)) <= stops
    assert len(stops) < size


def test_nothing_is_derived_from_refusals_and_encodes() -> None:
    for case in load().cases:
        if isinstance(case.expect, Reject) or case.op == "encode":
            assert list(derived_cases(case)) == []


@pytest.mark.parametrize(
    ("name", "first"),
    [("kafka.batch/v2/lz4/content-size-wrong", "truncate"), ("kafka.batch/v2/lz4/linked-blocks", "")],
)
def test_two_answers_have_derived_cases_where_a_remark_leaves_these_open_too(name: str, first: str) -> None:
    case = load().by_id[name]
    made = list(derived_cases(case))
    assert isinstance(case.expect, Either)
    assert [one.family for one in made[:1]] == [first] * bool(first)
    assert all(refusal_verdict(one).passing for one in made)


def test_the_items_of_a_fixture_hold_for_every_split_of_its_bytes() -> None:
    golden = load().by_id["heka.stream/0.10/scan/split-false-header"]
    assert isinstance(golden.input, Chunks)
    data, cases = b"".join(golden.input.chunks), list(derived_cases(golden))
    assert len(cases) > EDGE_BYTES
    for case in cases:
        assert isinstance(case.input, Chunks)
        assert b"".join(case.input.chunks) == data
        assert case.expect == golden.expect
    assert list(broken_relations(cases)) == []


def test_a_scan_that_takes_the_end_of_a_chunk_for_the_end_of_all_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = load().by_id["kafka.log/mixed/entries/three"]
    row = FORMATS[case.format_id]
    assert row.scan is not None

    def hasty(chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        for chunk in chunks:
            yield from formats.scan(row, [chunk], options)

    cases = [one for one in derived_cases(case) if one.family == "chunk"]
    monkeypatch.setitem(FORMATS, case.format_id, evolve(row, scan=hasty))
    assert len(list(broken_relations(cases))) > EDGE_BYTES


def test_a_cut_stream_holds_the_frames_that_end_before_the_cut_and_no_reference_is_asked() -> None:
    golden = load().by_id["kafka.log/mixed/entries/three"]
    assert isinstance(golden.expect, Accept)
    assert isinstance(golden.expect.value, dict)
    data, whole = data_of(golden), golden.expect.value["batches"]
    ends = list(accumulate(entries_of(data)))
    assert ends[-1] == len(data)
    for case in family(golden.id, "truncate"):
        count = sum(end <= len(data_of(case)) for end in ends)
        assert case.source.origin == ORIGIN_RELATION
        assert isinstance(case.expect, Accept)
        assert isinstance(whole, list)
        end = whole[count - 1]["nextOffset"] if count else None
        assert case.expect.value == {"batches": whole[:count], "nextOffset": end}
        assert case.expect.consumed == ([0, *ends])[count]


def entries_of(data: bytes) -> Iterator[int]:
    """The sizes of a log's entries: 8 bytes of offset, 4 of size, and the rest (kafka.md, section 1.1)."""
    while data:
        size = 12 + int.from_bytes(data[8:12], "big")
        yield size
        data = data[size:]


def test_a_flip_inside_a_compressed_batch_is_under_its_checksum_and_a_wrappers_is_open() -> None:
    batch = load().by_id["kafka.batch/v2/compression/gzip"]
    flips = family(batch.id, "flip")
    assert {case.expect for case in flips} == {Reject("crc-mismatch")}
    assert {case.source.origin for case in flips} == {ORIGIN_RELATION}
    wrapper = family("kafka.batch/v0/wrapper/gzip", "flip")
    assert {case.source.origin for case in wrapper} == {ORIGIN_REFERENCE}


def test_a_flip_under_a_signature_is_noticed_by_who_has_its_key() -> None:
    golden = load().by_id["heka.stream/0.10/hmac/md5"]
    flips = family(golden.id, "flip")
    assert {case.expect for case in flips} == {Reject("auth-failed")}
    assert len(flips) == 16 + 20  # the digest and the message, which begins after it: heka.md, section 3
    keyless = evolve(golden, options=evolve(golden.options, keys=None))
    unkeyed = [case for case in derived_cases(keyless) if case.family == "flip"]
    assert {case.source.origin for case in unkeyed} == {ORIGIN_REFERENCE}


def test_lengths_inside_a_record_are_edited_too_though_no_cover_speaks_of_them() -> None:
    titles = {case.title for case in family("kafka.batch/v2/headers/duplicate-order", "count-length")}
    for name in ("records[0].length", "records[0].keyLength", "records[0].headerCount"):
        assert {f"{name} +1", f"{name} -1"} <= titles
    assert "records[0].headers[1].valueLength +1" in titles
    assert not any("offset" in title or "magic" in title for title in titles)


@pytest.mark.parametrize("name", ["records[0].keyLength", "records[0].valueLength", "records[0].headerCount"])
def test_a_record_whose_length_is_off_by_one_is_refused_behind_a_good_checksum(name: str) -> None:
    parent = "kafka.batch/v2/headers/duplicate-order"
    made = [case for case in family(parent, "sealed-count-length") if case.title.startswith(name + " ")]
    assert len(made) == 2
    for case in made:
        data = data_of(case)
        assert crc32c(data[21:]) == int.from_bytes(data[17:21], "big")
        assert isinstance(case.expect, Reject)
        assert case.expect.cls != "crc-mismatch"
