"""The tables of vectors and field reports: each id answered, by cases that mean it."""

from pathlib import Path

import pytest
from fixture_folders import BAD, GOOD, PLACE, only, write
from goldens import load

from tests.fixture_tables.checks import table_problems
from tests.fixture_tables.vectors import count_line, coverage_problems, expanded, tables_of
from wireproof.cases.case_json import FixtureError

FORM = PLACE.partition("/")[0]
GOOD_ID, BAD_ID = GOOD["id"], BAD["id"]
HEAD = 'document = "hand"\nsection = "1"\n'

VECTORS = f"""{{ id = "A1", size = 6, verdict = "VALID", fixture = "{GOOD_ID}" }},
  {{ id = "A2", size = 6, verdict = "INVALID", name = "BAD_KIND", fixture = "{BAD_ID}", note = "name" }}"""
REPORT = (
    f'{{ id = "1", repository = "a/b", links = ["a/b#7"], fault = "It fell.", fixtures = ["{GOOD_ID}"] }}'
)


def problems(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return [str(problem) for problem in table_problems(only(root, monkeypatch))]


def vectors(root: Path, rows: str) -> None:
    (root / FORM / "vectors.toml").write_text(f'{HEAD}ids = "A1-2"\nvectors = [\n  {rows}\n]\n', "utf-8")


def reports(root: Path, rows: str) -> None:
    (root / FORM / "regressions.toml").write_text(f'{HEAD}ids = "1"\nregressions = [\n  {rows}\n]\n', "utf-8")


def test_the_letter_distinguishes_ranges_of_ids() -> None:
    assert expanded("W08-10 S01 1-3") == ("W08", "W09", "W10", "S01", "1", "2", "3")


def test_text_that_is_no_range_is_an_error() -> None:
    with pytest.raises(ValueError, match="W is no range of ids"):
        expanded("W")


def test_the_tables_of_the_package_are_whole() -> None:
    assert list(coverage_problems(load())) == []
    lines = [count_line(table) for table in tables_of(load())]
    for line in (
        "kafka.batch/vectors.toml: 318 ids of kafka.md §7, 318 with fixtures",
        "kafka.batch/regressions.toml: 154 ids of kafka.md §9, 151 with fixtures",
        "heka.message/vectors.toml: 97 ids of heka.md §4, 97 with fixtures",
        "heka.stream/sightings.toml: 139 ids of heka.md §2.4, §3, §7, §8, §9, 135 with fixtures",
    ):
        assert any(one.startswith(line) for one in lines), line


SIGHTING = f'id = "B1", text = "a fault", fixtures = ["{GOOD_ID}"]'


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (SIGHTING, ""),
        (f'{SIGHTING}, bytes = "{GOOD["input"]["hex"]}"', ""),
        (f'{SIGHTING}, bytes = "00ff"', "none of its fixtures has its bytes as input"),
        (SIGHTING.replace("a fault", ""), "needs a text"),
        (f'{SIGHTING}, links = ["a/b#7"]', "no why of its fixtures contains one of a/b#7"),
        (SIGHTING.replace(GOOD_ID, f"{GOOD_ID}~truncate"), ""),
        (SIGHTING.replace(GOOD_ID, f"{GOOD_ID}~sealing"), f"{GOOD_ID} has no derived cases of sealing"),
        ('id = "B1", text = "a fault"', "needs fixtures, or an exclusion"),
        ('id = "B1", text = "a fault", exclusion = "no bytes show it"', ""),
    ],
)
def test_a_sighting_is_answered_by_its_bytes_its_links_and_its_families(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str, said: str
) -> None:
    write(tmp_path, GOOD, BAD)
    text = f'{HEAD}ids = "B1"\nsightings = [\n  {{ {row} }}\n]\n'
    (tmp_path / FORM / "sightings.toml").write_text(text, "utf-8")
    found = problems(tmp_path, monkeypatch)
    assert len(found) == bool(said)
    assert all(said in one for one in found)


def test_a_sound_table_of_vectors_has_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD, BAD)
    vectors(tmp_path, VECTORS)
    assert problems(tmp_path, monkeypatch) == []


WRONG: tuple[tuple[str, str, str], ...] = (
    ("an id without a row", VECTORS.split("\n", maxsplit=1)[0], "A2 has no rows and must have one"),
    ("an id of two rows", f"{VECTORS},\n{VECTORS}", "A1 has 2 rows and must have one"),
    ("an unknown id", VECTORS.replace('"A2"', '"A3"'), "A3 is no id of hand 1"),
    ("a fixture that is gone", VECTORS.replace("a-good", "gone"), f"the fixture {PLACE}/gone does not exist"),
    ("another size", VECTORS.replace("size = 6", "size = 7"), "has 6 bytes, not 7: a note"),
    ("another verdict", VECTORS.replace('"VALID"', '"PARTIAL"'), "is VALID, not PARTIAL: a note"),
    ("an unknown verdict", VECTORS.replace('"VALID"', '"FINE"'), "its verdict must be one of VALID"),
    ("a refusal without a name", VECTORS.replace('name = "BAD_KIND", ', ""), "the last two with a name"),
    ("a note on nothing", VECTORS.replace(" }", ', note = "why" }', 1), "its note explains a difference"),
    ("no fixture, no reason", VECTORS.replace(f', fixture = "{GOOD_ID}"', ""), "needs fixtures, or an"),
)  # fmt: skip


@pytest.mark.parametrize(("rows", "said"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_vector_without_its_case_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str, said: str
) -> None:
    write(tmp_path, GOOD, BAD)
    vectors(tmp_path, rows)
    assert any(said in line for line in problems(tmp_path, monkeypatch))


def test_the_why_of_a_case_bears_the_link_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, GOOD, BAD)
    reports(tmp_path, REPORT)
    assert problems(tmp_path, monkeypatch) == [
        f"{FORM}/regressions.toml 1: the why of {GOOD_ID} contains none of a/b#7"
    ]
    write(tmp_path, {**GOOD, "why": "a/b #7 fell here."}, BAD)
    assert problems(tmp_path, monkeypatch) == []


def test_a_report_may_be_excluded_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD, BAD)
    reports(tmp_path, REPORT.replace(f'fixtures = ["{GOOD_ID}"]', 'exclusion = "No bytes show it."'))
    assert problems(tmp_path, monkeypatch) == []


def test_an_unreadable_table_is_an_error_of_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD, BAD)
    reports(tmp_path, REPORT.replace("fault", "fualt"))
    with pytest.raises(FixtureError, match=r"regressions\.toml.*fualt"):
        problems(tmp_path, monkeypatch)
