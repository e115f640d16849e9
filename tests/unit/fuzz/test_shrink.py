"""Shrinking: the signature stays, the weight falls at every step, and crashes and timeouts shrink too."""

from collections.abc import Iterator
from itertools import count
from math import inf

import pytest
from attrs import evolve
from click.testing import CliRunner
from folders import SUPPORT
from goldens import golden_bytes

from tests.mutants.registry import spec_of
from wireproof import formats
from wireproof.cases.case import Accept, Case, Chunks, Data, Input, Limits, Source, Value
from wireproof.cases.token import from_token, to_token
from wireproof.cli import group
from wireproof.derive.mutate import repair
from wireproof.formats import FORMATS
from wireproof.fuzz.shrink import NothingToShrinkError, Shrinker, shrink, smaller_inputs, weight
from wireproof.run.engine import Engine
from wireproof.wire.json_values import Json, to_json

REFUSES_ALL = spec_of("mutant:reject-everything")

BATCH = FORMATS["kafka.batch/v2"]


def _case(given: Input, format_id: str = "kafka.batch/v2", **more: object) -> Case:
    form, revision = format_id.split("/")
    case = Case(
        f"{format_id}/fuzz/one", form, revision, given, Accept(), family="fuzz", source=Source("fuzz")
    )
    return evolve(case, **more)


FIVE = Data(golden_bytes("kafka.batch/v2/headers/five"))


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(SUPPORT))
    return


def test_every_candidate_weighs_less_than_what_it_came_from() -> None:
    for given in (FIVE, Data(b"\xff" * 20), Chunks((b"abc", b"de"))):
        row = FORMATS["kafka.log/mixed"] if isinstance(given, Chunks) else BATCH
        found = list(smaller_inputs(row, given))
        assert found
        assert all(weight(one) < weight(given) for one in found)
        assert len(found) == len(set(found))


def test_a_planted_fault_shrinks_to_one_record_with_one_header_and_a_right_checksum() -> None:
    with Engine(spec_of("mutant:null-header-value-as-empty"), in_process=True) as engine:
        first = Shrinker(engine, _case(FIVE))
        found = first.run(20)
        again = Shrinker(engine, found.case)
    assert isinstance(found.case.input, Data)
    assert found.done
    assert again.signature == first.signature
    # kafka.md §1.1, §1.3: a header of 61 bytes; a record of a length, attributes, two deltas, two lengths,
    # a count, and a header of two lengths: one byte each
    assert len(found.case.input.data) == 70
    assert repair(BATCH, found.case.input.data) == found.case.input.data


def test_what_is_shrunk_once_does_not_shrink_again() -> None:
    with Engine(spec_of("mutant:crc-skip"), in_process=True) as engine:
        data = bytearray(FIVE.data)
        data[-1] ^= 1
        small = shrink(engine, _case(Data(bytes(data))), 20)
        assert shrink(engine, small.case, 20).kept == 0
    assert small.signature.cls == "crc-mismatch"


def test_a_value_that_is_written_wrongly_shrinks() -> None:
    with Engine(REFUSES_ALL, in_process=True) as engine:
        found = shrink(engine, _case(Value(_value()), op="encode"), 20)
    assert isinstance(found.case.input, Value)
    assert found.case.input.value["records"] == []  # type: ignore[index,call-overload] # an object of JSON


def _value() -> Json:
    return to_json(formats.decode(BATCH, FIVE.data).value)


def test_a_scan_shrinks_to_few_chunks() -> None:
    data = FIVE.data
    with Engine(REFUSES_ALL, in_process=True) as engine:
        case = _case(Chunks((data[:10], data[10:], data)), "kafka.log/mixed", op="scan")
        found = shrink(engine, case, 20)
    assert isinstance(found.case.input, Chunks)
    assert weight(found.case.input)[0] == 0


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize(("name", "kind"), [("Hangs", "timeout"), ("Dies", "crash")])
def test_timeouts_and_crashes_shrink_by_a_bounded_number_of_questions(name: str, kind: str) -> None:
    case = _case(Data(_batch_with(b"xx\x7fxx")), limits=Limits(ms=500 if kind == "timeout" else 60_000))
    with Engine(f"py:hanging_codecs:{name}") as engine:
        found = Shrinker(engine, case).run(inf, max_candidates=3)
    assert found.signature.kind == kind
    assert isinstance(found.case.input, Data)
    assert b"\x7f" in found.case.input.data
    assert found.kept
    assert found.asked == 3


def test_a_shrink_ends_with_its_time() -> None:
    clock = count()
    with Engine(REFUSES_ALL, in_process=True) as engine:
        shrinker = Shrinker(engine, _case(FIVE), lambda: float(next(clock)))
        found = shrinker.run(4)
    assert not found.done
    assert next(clock) < 9


def _batch_with(key: bytes) -> bytes:
    value = _value()
    assert isinstance(value, dict)
    value["records"][0]["key"] = key.hex()  # type: ignore[index,call-overload] # an object of JSON
    return formats.encode(BATCH, value)


def test_what_passes_has_nothing_to_shrink() -> None:
    with (
        Engine("reference", in_process=True) as engine,
        pytest.raises(NothingToShrinkError, match="no failure"),
    ):
        shrink(engine, _case(FIVE), 5)


def test_the_verb_prints_the_signature_the_fields_and_a_token_that_replays() -> None:
    token = to_token(_case(FIVE))
    adapter = spec_of("mutant:null-header-value-as-empty")
    said = CliRunner().invoke(group, ["shrink", token, adapter, "--in-process"])
    assert said.exit_code == 0, said.output
    lines = said.output.splitlines()
    assert (
        lines[0]
        == "null-header-value-as-empty · kafka.batch/v2 · decode · fail:wrong-value · records[].headers[][]"
    )
    assert "87 bytes became 70" in lines[1]
    assert any("recordsCount" in line for line in lines)
    small = from_token(lines[-1])
    with Engine(adapter, in_process=True) as engine:
        assert str(Shrinker(engine, small).signature) == lines[0]
