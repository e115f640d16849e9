"""The proof that a change loses nothing: what it calls lost, changed, new and not measured; what it shows."""

import gzip
from pathlib import Path

import pytest
from each import each

from tests.support.proof import planted, record
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


BASELINE = '[[known-failure]]\nid = ["a", "b"]\nkind = "crash"\nclass = ""\nreason = "why"\n'


def write_baseline(checkout: Path) -> None:
    folder = checkout / "tests" / "peers" / "kafka" / "some"
    folder.mkdir(parents=True)
    (folder / "baseline.toml").write_text(BASELINE, encoding="utf-8")


def test_a_part_that_cannot_be_recorded_fails_the_record_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_baseline(tmp_path)
    monkeypatch.setitem(record.WHOLE, "helps", lambda _: record.command("wireproof", "nosuch"))
    assert record.main(tmp_path, tmp_path / "out", ["helps", "baselines"]) == 1
    assert "exit code 2" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "out").glob("*.gz")] == ["baselines.tsv.gz"]


@each("name", planted.FAULTS)
def test_the_text_of_a_planted_fault_is_in_the_checkout(name: str) -> None:
    fault = planted.FAULTS[name]
    assert any(fault.old in path.read_text(encoding="utf-8") for path in planted.TOP.glob(fault.files))


@pytest.mark.sweeps
@pytest.mark.parametrize("name", planted.FAULTS)
def test_the_proof_shows_a_planted_fault(name: str) -> None:
    shown, lines = planted.is_shown(name)
    assert shown, "\n".join(lines)
