"""What stands behind the cases: vectors and layouts of the documents, known bugs, reasons for no witness."""

from pathlib import Path
from typing import Any

import pytest
from fixture_folders import BAD, GOOD, PLACE, only, write
from goldens import load

from tests.fixture_tables import history, vectors
from tests.fixture_tables.checks import table_problems
from tests.fixture_tables.history import history_problems, known_bugs
from tests.fixture_tables.vectors import SYSTEMS, count_lines, read_vectors, vector_problems
from tests.fixture_tables.witness_reasons import check_reasons, reasons_of, without_witness
from wireproof.cases.id_patterns import compile_pattern
from wireproof.cases.requirements import SETS_FILE


def test_what_stands_behind_the_cases_of_the_package_has_no_problem() -> None:
    suite = load()
    assert [str(problem) for problem in table_problems(suite)] == []
    assert len(known_bugs(suite)) == 205
    assert [line.partition(" with cases")[0] for line in count_lines(suite)] == [
        "kafka.md: 472 ids, 469", "heka.md: 236 ids, 232", "iggy.md: 139 ids, 124",
    ]  # fmt: skip
    printed = {one.layout for one in vectors.documented_layouts(suite)}
    assert printed >= {"RecordBatch", "Record", "RecordHeader"}


# --- vectors of the documents ---

GOOD_HEX = GOOD["input"]["hex"]
TEXT = f"""
| Id | Description | Bytes | Verdict · class |
|---|---|---|---|
| <a id="v1"></a>V1 | good | 6 | VALID |
| <a id="v2"></a>V2 | kind 0 | 6 | INVALID · BAD-KIND |

| id | case | bytes | note |
|---|---|---|---|
| <a id="k1"></a>K1 | good | `{GOOD_HEX}` | |

| No. | Repository | Issue, pull request or commit | What went wrong |
|---|---|---|---|
| <a id="no-1"></a>1 | a/b | #7, fixed by c/d#8 | It fell. |

<a id="w1"></a>

### W1 A worked example

```
{GOOD_HEX[:4]}
{GOOD_HEX[4:]}
```

## Ids without a case

| Id | Why |
|---|---|
| [O1](#o1) | No bytes show it. |
"""
ANCHORS = rf"{SYSTEMS['iggy']}|no-\d+"
NAMES = {"vectors": ["V1", "K1", "W1"], "bugs": ["no-1"]}


def case(row: dict[str, Any], why: str = "a/b #7 fell here.", **source: Any) -> dict[str, Any]:
    return {**row, "why": why, "source": {"origin": "hand", **source}}


def problems_of_vectors(
    root: Path, monkeypatch: pytest.MonkeyPatch, *rows: dict[str, Any], text: str = TEXT
) -> list[str]:
    write(root, *rows)
    documents = {"iggy": read_vectors(text, ANCHORS)}
    monkeypatch.setattr(vectors, "vectors_of", documents.__getitem__)
    monkeypatch.setattr(vectors, "SYSTEMS", documents)
    return [str(problem) for problem in vector_problems(only(root, monkeypatch))]


def test_cases_that_have_the_vectors_have_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = case(GOOD, **NAMES), case(BAD, vectors=["V2"])
    assert problems_of_vectors(tmp_path, monkeypatch, *rows, text=TEXT.replace("BAD-KIND", "bad-kind")) == []


OTHER_FAMILY = {**NAMES, "vectors": ["V1", "K1~sealing", "W1"]}
WRONG: tuple[tuple[str, dict[str, Any], dict[str, Any], str, str, str], ...] = (
    ("an id without a case", {**NAMES, "bugs": []}, {}, "", "", "iggy.md no-1: needs a case that names it"),
    ("an excluded id", {**NAMES, "vectors": [*NAMES["vectors"], "O1"]}, {}, "", "", "iggy.md O1: needs"),
    ("an unknown id", {**NAMES, "vectors": [*NAMES["vectors"], "W9"]}, {}, "", "", "iggy.md has no W9"),
    ("another size", NAMES, {}, "good | 6", "good | 7", "has 6 bytes, not 7: `differs` of the case"),
    ("another verdict", NAMES, {}, "6 | VALID", "6 | PARTIAL", "is VALID, not PARTIAL: `differs`"),
    ("another name", NAMES, {}, "BAD-KIND", "bad-length", "bad-kind, not INVALID bad-length"),
    ("other bytes", NAMES, {}, f"`{GOOD_HEX}`", "`00ff`", "K1: none of its cases has its bytes as input"),
    ("no link", {**NAMES, "why": "It fell."}, {}, "", "", "the why of iggy.identifier"),
    ("no such family", OTHER_FAMILY, {}, "", "", "no derived cases of sealing"),
    ("a needless reason", NAMES, {"differs": "a bit"}, "BAD-KIND", "bad-kind", "that does not exist"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("good", "bad", "old", "new", "said"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG]
)
def test_a_vector_without_its_case_is_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    good: dict[str, Any],
    bad: dict[str, Any],
    old: str,
    new: str,
    said: str,
) -> None:
    rows = case(GOOD, **good), case(BAD, vectors=["V2"], **bad)
    if "why" in good:
        rows = {**rows[0], "why": good["why"], "source": {"origin": "hand", **NAMES}}, rows[1]
    text = TEXT.replace(old, new) if old else TEXT.replace("BAD-KIND", "bad-kind")
    found = problems_of_vectors(tmp_path, monkeypatch, *rows, text=text)
    assert any(said in line for line in found), found


# --- known bugs ---

CAUGHT = """
[[bug]]
id = "shelf-1"
project = "shelf"
links = ["https://example.org/shelf/issues/1"]
title = "Kind 0 was read as a number."
scope = "codec"
fixed = "1.1"
mutant = "shelf-kind-0"
"""
MISSED = """
[[bug]]
id = "shelf-2"
project = "shelf"
links = ["https://example.org/shelf/issues/2"]
title = "Numbers above 2^31 were lost."
scope = "codec"
missed = "no case has one"
found_by = "property"
mutant = "shelf-large"
"""
EXCLUDED = """
[[bug]]
id = "shelf-3"
project = "shelf"
links = ["https://example.org/shelf/issues/3"]
title = "The shelf was moved."
scope = "broker"
excluded = "no bytes show it"
"""


def bug_problems(
    root: Path, monkeypatch: pytest.MonkeyPatch, text: str, level: str = "must", bugs: str = "shelf-1"
) -> list[str]:
    """The problems of a file of bugs beside one case that names some of them."""
    write(root, {**GOOD, "level": level, "source": {"origin": "hand", "bugs": bugs.split()}})
    path = root / "bugs.toml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(history, "BUGS_FILE", path)
    return [str(problem) for problem in history_problems(only(root, monkeypatch))]


def test_a_sound_file_of_bugs_has_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bug_problems(tmp_path, monkeypatch, CAUGHT + MISSED + EXCLUDED) == []


@pytest.mark.parametrize(
    ("text", "bugs", "reason"),
    [
        (CAUGHT + CAUGHT.replace("issues/1", "issues/4"), "shelf-1", "the id shelf-1 is there 2 times"),
        (CAUGHT + CAUGHT.replace("shelf-1", "shelf-4"), "shelf-1 shelf-4", "issues/1 is there 2 times"),
        (CAUGHT, "shelf-1 shelf-9", f"{GOOD['id']}: bugs.toml has no bug shelf-9"),
        (CAUGHT.replace('mutant = "shelf-kind-0"', ""), "shelf-1", "needs a mutant that repeats it"),
        (CAUGHT, "", "needs cases that catch it, or the reason"),
        (CAUGHT + 'missed = "why"\n', "shelf-1", "needs cases that catch it, or the reason"),
        (CAUGHT + 'found_by = "property"\n', "shelf-1", "`found_by` is for a bug without"),
        (CAUGHT + 'without_mutant = "why"\n', "shelf-1", "needs a mutant that repeats it, or the reason"),
        (EXCLUDED, "shelf-3", "is out of scope, and has no cases"),
        (EXCLUDED + 'missed = "why"\n', "", "is out of scope, and has no cases"),
        (EXCLUDED.replace("broker", "codec"), "", "a bug that a codec's bytes show is in scope"),
        (MISSED.replace('title = "Numbers above 2^31 were lost."', 'title = ""'), "", "a link and a title"),
    ],
)
def test_a_problem_names_what_is_wrong_with_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, bugs: str, reason: str
) -> None:
    problems = bug_problems(tmp_path, monkeypatch, text, bugs=bugs)
    assert len(problems) == 1
    assert reason in problems[0]


def test_a_case_that_fails_no_run_catches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bug_problems(tmp_path, monkeypatch, CAUGHT, "should") == []
    assert bug_problems(tmp_path, monkeypatch, CAUGHT, "may") == [
        f"bugs.toml shelf-1: the case {GOOD['id']} has the level may, and cannot fail a run"
    ]


# --- reasons for no witness ---


WITNESSED = {**GOOD, "source": {"origin": "hand", "witnesses": [{"name": "one", "version": "1"}]}}


def row(*patterns: str, reason: str = "No other program reads it.") -> str:
    cases = ", ".join(f'"{pattern}"' for pattern in patterns)
    return f'[[unwitnessed]]\ncases = [{cases}]\nreason = "{reason}"\n'


def folder(root: Path, text: str, *rows: dict[str, Any]) -> None:
    write(root, *(rows or (GOOD, BAD)))
    (root / SETS_FILE).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("pattern", ["kafka.**", f"{PLACE}/a-good"])
def test_a_pattern_of_no_case_without_a_witness_is_a_problem(
    tmp_path: Path, monkeypatch: Any, pattern: str
) -> None:
    folder(tmp_path, row(f"{PLACE}/b-bad", pattern), WITNESSED, BAD)
    assert [str(one) for one in check_reasons(only(tmp_path, monkeypatch))] == [
        f"sets.toml: {pattern} matches no must case without a witness: remove or correct it"
    ]


@pytest.mark.parametrize("text", [row(f"{PLACE}/*", reason=""), row()])
def test_a_row_needs_cases_and_a_reason(tmp_path: Path, monkeypatch: Any, text: str) -> None:
    folder(tmp_path, text)
    assert [str(one) for one in check_reasons(only(tmp_path, monkeypatch))] == [
        "sets.toml unwitnessed 1: needs cases and a reason"
    ]


def test_each_special_case_of_the_package_without_a_witness_has_a_reason() -> None:
    suite = load()
    special = [
        case
        for case in without_witness(suite)
        if case.profile == "produce" or case.topic == "delivered" or case.op == "scan"
    ]
    patterns = [compile_pattern(pattern) for row in reasons_of(suite) for pattern in row.cases]
    assert all(any(one.fullmatch(case.id) for one in patterns) for case in special)
