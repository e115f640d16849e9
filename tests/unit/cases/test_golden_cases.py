"""Every golden case is what code says that shares nothing with the reference, and what the documents print.

`tests/independent` has the readers. They read the input of each case by the format document, and compare
value, consumed bytes, class and position of a refusal, what was delivered before it, written bytes, scans and
the answers of steps.
"""

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest
from each import each

from tests.fixture_tables.vectors import vectors_of
from tests.independent.checks import FIXTURES, check, input_bytes, report_of, rows_of

FORMATS: Final = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and "." in path.name)

NAMED: Final = re.compile(r"(?:heka|iggy)\.md §[0-9.]+ ([MSAW][0-9]+)(?: \[RUN[^]]*\])?")
"""The document of a case that has the bytes of a row or an example of it."""

OTHERWISE_PRINTED: Final = {
    "heka.stream/0.10/hmac/undecodable-header": "A18 goes on with a frame",
    "heka.stream/0.10/hmac/unsigned-then-signed": "A17 has the two frames in the other order",
    "iggy.headers/0.0.30/map/blog-permuted": "W2 in another order, which stands below its table",
}
"""Cases whose bytes are made of those of the row that they name."""

BATCH: Final = "kafka.batch/v2/batch/two-records"
FRAMED: Final = "heka.stream/0.10/refused/no-unit-separator"
SCANNED: Final = "heka.stream/0.10/scan/between"
PRODUCED: Final = "kafka.log/mixed/idempotence/duplicate-of-fifth"
LIMITED: Final = "kafka.log/mixed/entries/size-at-maximum"
PRODUCER: Final = "kafka.batch/v2/produce/empty"
MADE: Final = "kafka.batch/v2/size/zstd-value-65537"
WRITTEN: Final = "heka.message/0.10/encode/bools"

WRONG: Final[dict[str, tuple[str, tuple[Any, ...], Any]]] = {
    "value": (BATCH, ("expect", "accept", "value", "records", 1, "value"), "33"),
    "derived field": (BATCH, ("expect", "accept", "value", "nextOffset"), "3"),
    "consumed": (BATCH, ("expect", "accept", "consumed"), 80),
    "accepted": (BATCH, ("expect",), {"reject": {"class": "crc-mismatch", "at": 17}}),
    "class": (FRAMED, ("expect", "reject", "class"), "crc-mismatch"),
    "position": (FRAMED, ("expect", "reject", "at"), 5),
    "value before": (FRAMED, ("expect", "reject", "before"), {"frames": [None]}),
    "digest": (MADE, ("expect", "accept", "digest"), 32 * "0"),
    "recipe": (MADE, ("input", "generate", "value"), 65538),
    "option": (LIMITED, ("options", "max_message"), 57),
    "profile": (PRODUCER, ("profile",), "reader"),
    "written bytes": (WRITTEN, ("expect", "accept", "bytes", 0), "0a10101112131415161718191a1b1c1d2e2f1001"),
    "given value": (WRITTEN, ("input", "value", "fields", 0, "value_bool"), [False, True]),
    "item": (SCANNED, ("expect", "accept", "value", "items", 1, "length"), 4),
    "answer of a step": (PRODUCED, ("steps", -1, "expect", "entries", 2, "records"), {"2": "7633"}),
}
"""What is wrong, in which case, where, and what stands there."""


@each("form", FORMATS)
def test_each_case_is_what_an_independent_reader_finds(form: str) -> None:
    assert report_of(form).problems == []


@pytest.mark.parametrize("system", ["heka", "iggy"])
def test_a_case_of_a_document_has_the_bytes_that_are_printed(system: str) -> None:
    read, wrong = 0, []
    for row, folder in (one for form in FORMATS if form.startswith(system) for one in rows_of(form)):
        found = NAMED.fullmatch(row["source"]["document"]) if row["source"]["origin"] == "document" else None
        known = vectors_of(system)
        vector = found and (known.get(found[1]) or known.get(f"{found[1][0]}0{found[1][1:]}"))
        if vector and vector.printed:
            read += 1
            if bytes_of(row, folder) not in vector.printed and row["id"] not in OTHERWISE_PRINTED:
                wrong.append(f"{row['id']}: {vector.id}")
    assert wrong == []
    assert read > 30


def bytes_of(row: dict[str, Any], folder: Path) -> bytes:
    """Return the bytes that a case is about."""
    if row["op"] == "scan":
        return bytes.fromhex("".join(row["input"]["chunks"]))
    if row["op"] == "encode":
        return bytes.fromhex(row["expect"]["accept"]["bytes"][0])
    return input_bytes(row, folder)


@each("what", WRONG)
def test_a_wrong_expectation_is_seen(what: str) -> None:
    name, place, wrong = WRONG[what]
    row, folder = case_of(name)
    assert check(row, folder)[1] is None
    changed = deepcopy(row)
    part: Any = changed
    for step in place[:-1]:
        part = part[step]
    assert part[place[-1]] != wrong
    part[place[-1]] = wrong
    assert check(changed, folder)[1]


def case_of(name: str) -> tuple[dict[str, Any], Path]:
    form = name.partition("/")[0]
    return next((dict(row), folder) for row, folder in rows_of(form) if row["id"] == name)


def test_every_large_input_belongs_to_a_case() -> None:
    names = {
        path.parent / case["input"]["file"]
        for path in FIXTURES.glob("*/*/*.json")
        for case in json.loads(path.read_text("utf-8"))["cases"]
        if "file" in case.get("input", ())
    }
    assert names == set(FIXTURES.glob("*/*/*.bin"))
