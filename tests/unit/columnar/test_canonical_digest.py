"""The digest that is spelled from columns is the digest of the reference's JSON, for every entry and view."""

import tempfile
from pathlib import Path

import pytest
from goldens import load

from tests.generators.kafka_segments import MIB, generate
from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Chunks, Data
from wireproof.cases.observable_fields import observed_tree
from wireproof.kafka.columnar.canonical_digest import CanonicalForm, EntryDigests, EntryView, digest_items
from wireproof.kafka.columnar.entry_scan import ScanStep, scan_steps
from wireproof.kafka.family.spark_cases import canonical_form
from wireproof.kafka.scan import scan
from wireproof.wire.json_values import Json, json_digest, json_of
from wireproof.wire.observed_fields import field_tree, project
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.scan_items import Item

SIGNS = (
    "batches[].key",
    "batches[].messages[].offset",
    "batches[].records[].headers",
    "batches[].baseOffset",
)


def fixtures() -> list[bytes]:
    inputs = [case.input for case in load().cases if case.format.startswith("kafka")]
    return [b"".join(one.chunks) if isinstance(one, Chunks) else one.data
            for one in inputs if isinstance(one, Chunks | Data)]  # fmt: skip


VIEWS = (
    ((), ""),
    ((), "batches"),
    (SIGNS, "batches"),
    (("batches[].records[].headers[][]", "batches[].records[].control"), "batches"),
    (("batches[].records", "batches[].messages"), "batches"),
    (("batches",), "batches"),
    (("nothing",), "batches"),
    (("nothing",), ""),
    (("records", "offset", "messages"), ""),
    (("records[].nothing", "messages[].nothing"), ""),
    (("attributes.deeper", "key[]", "value"), ""),
)
"""What is observed, and the name of the list that has the entries."""


def view_of(patterns: tuple[str, ...], entries: str) -> EntryView:
    return EntryView(field_tree(patterns), entries)


@pytest.fixture(scope="module")
def logs() -> list[bytes]:
    """All fixtures, and a segment of all revisions, codecs and sizes, some damaged."""
    with tempfile.TemporaryDirectory() as room:
        generate(Path(room), 2 * MIB, 3, every=20)
        segment = [path.read_bytes() for path in sorted(Path(room).iterdir())]
    return [*dict.fromkeys(filter(None, fixtures())), *segment]


@pytest.fixture(scope="module")
def told(logs: list[bytes]) -> list[list[tuple[Item, Json]]]:
    """Return the items that the reference finds in each, and their JSON."""
    return [[(item, json_of(item.value)) for item in scan([data], DEFAULT_OPTIONS)] for data in logs]


@pytest.fixture(scope="module")
def steps(logs: list[bytes]) -> list[list[ScanStep]]:
    """Return the steps of the kernels through each log."""
    return [list(scan_steps(data, keep="slots")) for data in logs]


@pytest.fixture(scope="module")
def digested(steps: list[list[ScanStep]]) -> list[list[Item]]:
    """Return the items of each log with the digests of every view, twice."""
    forms = [CanonicalForm.of(dict.fromkeys(range(3), view_of(*view))) for view in VIEWS]
    return [[item for run in runs for item in digest_items(run, [*forms, *forms])] for runs in steps]


def expected(value: Json, view: EntryView) -> str:
    return json_digest(project({view.entries: [value]} if view.entries else value, view.wanted))


@pytest.mark.parametrize(
    ("patterns", "entries"), [pytest.param(*VIEWS[0], marks=pytest.mark.sweeps), *VIEWS[1:]]
)
def test_whatever_is_observed_its_digest_is_that_of_the_value(
    digested: list[list[Item]],
    told: list[list[tuple[Item, Json]]],
    patterns: tuple[str, ...],
    entries: str,
) -> None:
    view, number = view_of(patterns, entries), VIEWS.index((patterns, entries))
    count = 0
    for found, wanted in zip(digested, told, strict=True):
        for ours, (theirs, value) in zip(found, wanted, strict=True):
            assert brief(ours) == brief(theirs)
            if not isinstance(ours.value, EntryDigests):
                assert json_of(ours.value) == value
                continue
            count += 1
            assert ours.value.digests[number :: len(VIEWS)] == (expected(value, view),) * 2
            assert ours.value.headers == with_headers(value)
    assert count > 100


def brief(item: Item) -> tuple[object, ...]:
    return item.kind, item.at, item.length, item.cls, item.remarks


def with_headers(value: Json) -> bool:
    records = value.get("records") if isinstance(value, dict) else None
    return any(record["headers"] for record in records or ())


def test_batches_of_markers_are_returned_in_full(steps: list[list[ScanStep]]) -> None:
    one = CanonicalForm.of({2: EntryView({})})
    found = [item.value for runs in steps for run in runs for item in digest_items(run, [one])]
    markers = [value for value in found if isinstance(value, dict)]
    assert markers
    assert all(record["control"] for value in markers for record in value["records"])


def test_what_is_not_asked_is_not_spelled(steps: list[list[ScanStep]]) -> None:
    """Of two adapters each reads one magic, and one has no digest where the other has."""
    batches = Hello("a", "1", {"kafka.batch/v2": Claim(("decode",), observes=("baseOffset",))})
    messages = Hello("b", "1", {"kafka.batch/v1": Claim(("decode",))})
    both = [canonical_form(batches), canonical_form(messages)]
    assert [sorted(one.views) for one in both] == [[2], [1]]
    found = [item.value for runs in steps for run in runs for item in digest_items(run, both)]
    shown = {tuple(map(bool, value.digests)) for value in found if isinstance(value, EntryDigests)}
    assert shown == {(True, False), (False, True), (False, False)}


def test_a_reader_of_logs_is_asked_for_a_log_of_one_entry() -> None:
    claims = {"kafka.log/mixed": Claim(("decode",), observes=SIGNS), "kafka.batch/v2": Claim(("encode",))}
    assert canonical_form(Hello("a", "1", claims)).views == dict.fromkeys(
        range(3), EntryView(field_tree(SIGNS), "batches")
    )
    assert canonical_form(Hello("a", "1")).views == {
        magic: EntryView(observed_tree(f"kafka.batch/v{magic}", ())) for magic in range(3)
    }
    assert not canonical_form(Hello("a", "1", {"heka.message/0.10": Claim()})).views


def test_the_numbers_are_those_of_python() -> None:
    """The least and the greatest of 64 bits, and all lengths between."""
    import numpy as np  # noqa: PLC0415 - this test alone

    from wireproof.kafka.columnar import canonical_json_kernels  # noqa: PLC0415 - as above

    some = [sign * 10**digits + more for digits in range(19) for sign in (1, -1) for more in (-1, 0, 1)]
    out = np.empty(32, np.uint8)
    for number in (*some, -(2**63), 2**63 - 1):
        end = int(canonical_json_kernels.write_number(np.int64(number), out, np.uint64(0)))
        assert out[:end].tobytes() == str(number).encode()
