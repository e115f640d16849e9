"""The proof that a change loses nothing: what it calls lost, changed, new and not measured."""

import gzip
from pathlib import Path

from tests.support.proof.compare import compare, compare_part
from tests.support.proof.record import NOT_DONE


def write(folder: Path, part: str, **rows: str) -> None:
    folder.mkdir(exist_ok=True)
    text = "".join(f"{key}\t{value}\n" for key, value in rows.items())
    (folder / f"{part}.tsv.gz").write_bytes(gzip.compress(text.encode()))


def test_what_is_changed_or_gone_is_a_fault_and_what_is_new_is_none(tmp_path: Path) -> None:
    write(tmp_path / "a", "cases", same="1", other="2", gone="3")
    write(tmp_path / "b", "cases", same="1", other="4", new="5")
    (found,) = compare(tmp_path / "a", tmp_path / "b", ["cases"])
    assert (found.same, found.changed, found.gone, found.new) == (
        1,
        (("other", "2", "4"),),
        (("gone", "3"),),
        (("new", "5"),),
    )
    assert found.is_fault
    assert not compare_part("cases", {}, {"new": "5"}).is_fault
    assert next(found.lines()) == "cases: 1 same, 1 changed, 1 gone, 1 new"


def test_what_could_not_be_measured_is_not_the_same_as_itself() -> None:
    row = {"test": f"{NOT_DONE}FAILED"}
    found = compare_part("peers", row, row)
    assert (found.same, found.is_fault) == (0, True)
    assert list(found.lines())[:2] == [
        "peers: 0 same, 0 changed, 0 gone, 0 new, 1 not measured",
        "  unproven test",
    ]
