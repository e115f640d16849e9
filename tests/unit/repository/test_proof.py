"""The proof that a change loses nothing: what it calls lost, changed and new."""

import gzip
import tomllib
from pathlib import Path

import pytest

from tests.support.proof import record
from tests.support.proof.compare import compare, compare_part, missing


def write(folder: Path, part: str, **rows: str) -> None:
    folder.mkdir(exist_ok=True)
    text = "".join(f"{key}\t{value}\n" for key, value in rows.items())
    (folder / f"{part}.tsv.gz").write_bytes(gzip.compress(text.encode()))


def test_what_is_changed_or_gone_is_a_fault_and_what_is_new_is_none(tmp_path: Path) -> None:
    write(tmp_path / "a", "cases", same="1", other="2", gone="3")
    write(tmp_path / "b", "cases", same="1", other="4", new="5")
    (found,) = compare(tmp_path / "a", tmp_path / "b")
    assert (found.same, found.changed, found.gone, found.new) == (
        1,
        (("other", "2", "4"),),
        (("gone", "3"),),
        (("new", "5"),),
    )
    assert found.is_fault
    assert not compare_part("cases", {}, {"new": "5"}).is_fault
    assert next(found.lines()) == "cases: 1 same, 1 changed, 1 gone, 1 new"


def test_figures_may_differ_and_are_shown_beside_each_other() -> None:
    found = compare_part("figures", {"lines": "9"}, {"lines": "5"})
    assert not found.is_fault
    assert list(found.lines()) == ["figures: 0 same, 1 changed, 0 gone, 0 new", "  lines: 9 -> 5"]


def test_a_part_that_one_record_lacks_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a", "cases", a="1")
    write(tmp_path / "a", "traces", a="1")
    write(tmp_path / "b", "cases", a="1")
    assert missing(tmp_path / "a", tmp_path / "b") == ["traces"]


def test_known_failures_are_one_row_for_each_case(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "peers" / "kafka" / "some"
    folder.mkdir(parents=True)
    page = '[[known-failure]]\nid = ["a", "b"]\nkind = "crash"\nclass = ""\nreason = "why"\n'
    assert tomllib.loads(page)
    (folder / "baseline.toml").write_text(page, encoding="utf-8")
    assert list(record.baselines(tmp_path)) == [("some a", "crash |  | why"), ("some b", "crash |  | why")]


def test_a_part_that_cannot_be_recorded_fails_the_record_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(record.WHOLE, "helps", lambda _: record.command("wireproof", "nosuch"))
    assert record.main(tmp_path, tmp_path / "out", ["helps", "baselines"]) == 1
    assert "exit code 2" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["baselines.tsv.gz"]


def test_an_input_is_taken_whole_and_cut_and_flipped_at_the_same_places_each_time() -> None:
    rows = dict(record._inputs(bytes(16)))
    assert rows[""] == bytes(16)
    assert rows[" cut 4"] == bytes(4)
    assert rows[" flip 4"] == bytes(4) + b"\x10" + bytes(11)
    assert dict(record._inputs(b"")) == {"": b""}
