"""The proof that a change loses nothing: what it calls lost, changed, new and not measured; what it shows."""

import gzip
import json
from pathlib import Path

import pytest
from each import each

from tests.support.proof import planted, record
from tests.support.proof.compare import compare, compare_part, missing
from tests.support.proof.record import NOT_DONE, Scope


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


def test_a_part_that_a_record_lacks_is_named_also_if_both_lack_it(tmp_path: Path) -> None:
    write(tmp_path / "a", "cases", a="1")
    write(tmp_path / "a", "traces", a="1")
    write(tmp_path / "b", "cases", a="1")
    assert list(missing(tmp_path / "a", tmp_path / "b", ["cases", "traces", "kills"])) == [
        "traces: not compared: there is no record of it now",
        "kills: not compared: there is no record of it before and now",
    ]


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


def test_known_failures_are_one_row_for_each_case(tmp_path: Path) -> None:
    write_baseline(tmp_path)
    rows = list(record.baselines(Scope(tmp_path, tmp_path)))
    assert rows == [("some a", "crash |  | why"), ("some b", "crash |  | why")]


def test_a_part_that_cannot_be_recorded_fails_the_record_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_baseline(tmp_path)
    monkeypatch.setitem(record.WHOLE, "helps", lambda _: record.command("wireproof", "nosuch"))
    assert record.main(tmp_path, tmp_path / "out", ["helps", "baselines"]) == 1
    assert "exit code 2" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "out").glob("*.gz")] == ["baselines.tsv.gz"]


def test_a_part_that_measured_nothing_is_not_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert record.main(tmp_path, tmp_path / "out", ["baselines"]) == 1
    assert "nothing was measured" in capsys.readouterr().out
    assert not (tmp_path / "out" / "baselines.tsv.gz").exists()


@each("name", planted.FAULTS)
def test_the_text_of_a_planted_fault_is_in_the_checkout(name: str) -> None:
    fault = planted.FAULTS[name]
    assert any(fault.old in path.read_text(encoding="utf-8") for path in planted.TOP.glob(fault.files))


@pytest.mark.sweeps
@pytest.mark.parametrize("name", planted.FAULTS)
def test_the_proof_shows_a_planted_fault(name: str) -> None:
    shown, lines = planted.is_shown(name)
    assert shown, "\n".join(lines)


def test_a_file_of_tests_that_passed_is_kept_and_one_that_failed_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = {
        "tests/a.py": "PASSED tests/a.py::test_one[x y]\nSKIPPED [2] tests/a.py:3: no java\n",
        "tests/b.py": "PASSED tests/b.py::test_two\nFAILED tests/b.py::test_three - AssertionError\n",
    }
    ran: list[str] = []

    def command(*words: str, **_: object) -> str:
        if "--collect-only" in words:
            return "tests/a.py::test_one[x y]\ntests/b.py::test_two\ntests/b.py::test_three\n"
        ran.append(words[-1])
        return printed[words[-1]]

    monkeypatch.setattr(record, "command", command)
    rows = [
        ("tests/a.py::test_one[x y]", "PASSED"),
        ("no java", "skipped 2"),
        ("tests/b.py::test_two", "PASSED"),
        ("tests/b.py::test_three", f"{NOT_DONE}FAILED"),
    ]
    scope = Scope(tmp_path, tmp_path)
    assert list(record._outcomes(scope, "live")) == rows
    assert list(record._outcomes(scope, "live")) == rows
    assert ran == ["tests/a.py", "tests/b.py", "tests/b.py"]


def test_a_mutant_that_could_not_run_has_a_row_and_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = {
        "a": {"by": "case/1", "ids": ["case/2", "case/1"]},
        "b": {"by": "", "ids": []},
        "c": {"error": "it died"},
    }
    rows = {f"mutant:{name}": {"cells": {"golden": cell}} for name, cell in cells.items()}
    (tmp_path / "kill.json").write_text(json.dumps({"rows": rows}), encoding="utf-8")
    monkeypatch.setattr(record, "command", lambda *_, **__: "a fault\nb fault\nc fault\nd fault\n")
    assert dict(record.kills(Scope(tmp_path, tmp_path))) == {
        "a": "case/1 case/2",
        "b": "none",
        "c": f"{NOT_DONE}it died",
        "d": f"{NOT_DONE}it has no row",
    }


def test_a_run_of_a_codec_that_ended_is_kept_and_the_sample_follows_the_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, ...]] = []
    ids = [f"kafka.batch/v2/some/{number}" for number in range(4 * record.SAMPLED)]

    def command(*words: str, **_: object) -> str:
        if words[1] == "cases":
            return json.dumps([{"id": name} for name in ids])
        if "--help" in words:
            return "an older commit, without --large"
        ran.append(words)
        out = Path(words[words.index("--out") + 1])
        out.write_text('{"event":"case","id":"x","verdict":"pass"}\n{"event":"footer"}\n', encoding="utf-8")
        return ""

    monkeypatch.setattr(record, "command", command)
    scope = Scope(tmp_path, tmp_path)
    rows = list(record.verdicts(scope))
    assert len(ran) == 2 * len(record.CODECS)
    assert [key for key, _ in rows[:2]] == ["reference x", "columnar x"]
    sample = (tmp_path / "sample.txt").read_text(encoding="utf-8").split()
    assert 0 < len(sample) < len(ids) / 8
    ids.insert(0, "kafka.batch/v2/some/new")  # the others are taken as before
    assert list(record.verdicts(scope)) == rows
    assert len(ran) == 2 * len(record.CODECS)
    assert set(sample) <= set((tmp_path / "sample.txt").read_text(encoding="utf-8").split())
