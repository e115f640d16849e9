"""`check` with every adapter that is ready, and its page, which `report` makes again from the streams."""

import json
from pathlib import Path

import pytest
from command_line import Command

from tests.mutants.registry import spec_of
from wireproof.adapters.registry.registered import Entry
from wireproof.adapters.registry.registry import entries
from wireproof.run.events import read_events

SMALL = "kafka.batch/v2/crc/*"
LENIENT = spec_of("mutant:crc-skip")
"""A codec that does not conform, for it does not look at checksums."""


def test_all_ready_takes_what_is_ready_here_for_the_selection(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"reference": entries()["reference"]}
    known["absent"] = Entry("absent", object="no:thing", requires=("no_such_module",), formats=("kafka",))
    known["other"] = Entry("other", object="no:thing", formats=("heka",))
    monkeypatch.setattr("wireproof.cli.check.run.entries", lambda: known)
    words = ("--all-ready", "--run", SMALL, "--no-families", "--in-process", "--out", tmp_path / "runs")
    done = wireproof("check", *words, "--html", tmp_path / "page.html", "--badge", tmp_path / "badge.json")
    assert done.code == 0, done.err
    assert [stream.run.spec for stream in read_events(tmp_path / "runs")] == ["reference"]
    assert "1 implementation × Kafka" in (tmp_path / "page.html").read_text()
    assert json.loads((tmp_path / "badge.json").read_text())["message"] == "8 of 8"
    done = wireproof("check", LENIENT, *words)
    assert [stream.run.spec for stream in read_events(tmp_path / "runs")] == [LENIENT, "reference"]
