"""The vectors of the format documents: each id answered, by cases that mean it."""

from pathlib import Path
from typing import Any

import pytest
from each import each
from fixture_folders import BAD, GOOD, only, write
from goldens import load

from tests.fixture_tables import vectors
from tests.fixture_tables.vectors import (
    FRAME,
    MESSAGE,
    SYSTEMS,
    Vector,
    count_lines,
    printed_bytes,
    read_vectors,
    vector_problems,
)

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


def problems(
    root: Path, monkeypatch: pytest.MonkeyPatch, *rows: dict[str, Any], text: str = TEXT
) -> list[str]:
    write(root, *rows)
    documents = {"iggy": read_vectors(text, ANCHORS)}
    monkeypatch.setattr(vectors, "vectors_of", documents.__getitem__)
    monkeypatch.setattr(vectors, "SYSTEMS", documents)
    return [str(problem) for problem in vector_problems(only(root, monkeypatch))]


def test_the_vectors_of_the_documents_have_their_cases() -> None:
    assert list(vector_problems(load())) == []
    for line, begin in zip(
        count_lines(load()),
        (
            "kafka.md: 472 ids, 469 with cases",
            "heka.md: 236 ids, 232 with cases",
            "iggy.md: 139 ids, 124 with cases",
        ),
        strict=True,
    ):
        assert line.startswith(begin), line


def test_the_documents_print_bytes_sizes_and_links_of_as_many_vectors_as_ever() -> None:
    every = {system: vectors.vectors_of(system).values() for system in SYSTEMS}
    assert [sum(bool(one.printed) for one in rows) for rows in every.values()] == [0, 170, 70]
    assert [sum(bool(one.verdict) for one in rows) for rows in every.values()] == [318, 97, 0]
    assert sum(bool(one.links) for one in every["kafka"]) == 154


@each(
    "text, data",
    [
        ("(empty)", ""),
        ("0a 0b", "0a0b"),
        ("<1e*3> 00", "1e1e1e00"),
        ("616263 F", f"616263{FRAME}"),
        ("…1a", f"{MESSAGE}1a"),
        ("0a0", None),
        ("the key", None),
    ],
)
def test_the_short_forms_of_a_document_are_bytes(text: str, data: str | None) -> None:
    assert printed_bytes(text) == (None if data is None else bytes.fromhex(data))


def test_a_document_is_read_with_its_tables_blocks_and_reasons() -> None:
    good = (bytes.fromhex(GOOD_HEX),)
    assert list(read_vectors(TEXT, ANCHORS).values()) == [
        Vector("V1", size=6, verdict="VALID"),
        Vector("V2", size=6, verdict="INVALID", name="BAD-KIND"),
        Vector("K1", good),
        Vector("no-1", links=("a/b#7", "c/d#8")),
        Vector("W1", good),
        Vector("O1", exclusion="No bytes show it."),
    ]


def test_cases_that_have_the_vectors_have_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = case(GOOD, **NAMES), case(BAD, vectors=["V2"])
    assert problems(tmp_path, monkeypatch, *rows, text=TEXT.replace("BAD-KIND", "bad-kind")) == []


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
    found = problems(tmp_path, monkeypatch, *rows, text=text)
    assert any(said in line for line in found), found


def test_a_case_may_differ_from_its_vector_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = case(GOOD, **NAMES, differs="a byte less"), case(BAD, vectors=["V2"])
    text = TEXT.replace("BAD-KIND", "bad-kind").replace("good | 6", "good | 7")
    assert problems(tmp_path, monkeypatch, *rows, text=text) == []
