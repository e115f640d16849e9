"""The in-toto statement about a run: its layout, and that `verify` holds it against the run."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

from tests.mutants.registry import spec_of
from wireproof.runner.event_files import read_events
from wireproof.runner.verify_run import chain_digest

LENIENT = spec_of("mutant:iggy-identifier-unchecked")
SMALL = ("--run", "iggy.identifier/**", "--no-families", "--in-process")


@pytest.fixture(params=["reference", LENIENT], ids=["passes", "fails"])
def run(wireproof: Command, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "run.jsonl"
    assert wireproof("check", request.param, *SMALL, "--out", path).code in (0, 1)
    return path


@pytest.fixture
def stated(wireproof: Command, run: Path, tmp_path: Path) -> Path:
    path = tmp_path / "run.intoto.json"
    done = wireproof("verify", run, "--sample", 0, "--write-statement", path)
    assert done.code == 0, done.err
    return path


def test_a_statement_has_the_layout_of_in_toto(run: Path, stated: Path) -> None:
    """Fields and types: spec/v1/statement.md and spec/predicates/test-result.md of in-toto/attestation."""
    tree = json.loads(stated.read_text("utf-8"))
    assert tree.keys() == {"_type", "subject", "predicateType", "predicate"}
    assert tree["_type"] == "https://in-toto.io/Statement/v1"
    assert tree["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert tree["subject"] == [
        {"name": "run.jsonl", "digest": {"sha256": sha256(run.read_bytes()).hexdigest()}}
    ]
    predicate = tree["predicate"]
    assert predicate["result"] in {"PASSED", "WARNED", "FAILED"}
    assert all(entry["digest"] and entry["name"] for entry in predicate["configuration"])


def test_it_has_the_head_of_the_chain_and_names_what_failed(run: Path, stated: Path) -> None:
    (stream,) = read_events(run)
    predicate = json.loads(stated.read_text("utf-8"))["predicate"]
    suite, entry = predicate["configuration"]
    assert suite["digest"] == {"wireproofFixtures": stream.run.fixtures}
    assert entry["digest"] == {"wireproofChain": chain_digest(stream)}
    failed = [f"{stream.run.adapter}: {one.id}" for one in stream.cases if one.verdict == "fail"]
    assert predicate["failedTests"] == failed
    assert predicate["result"] == ("FAILED" if failed else "PASSED")
    assert bool(failed) is (stream.run.adapter != "reference")


def test_a_statement_is_true_of_its_run(wireproof: Command, run: Path, stated: Path) -> None:
    done = wireproof("verify", run, "--sample", 0, "--statement", stated)
    assert done.code == 0
    assert "run.intoto.json: the statement is true of this run" in done.out


def _set(*keys: Any) -> Callable[[Any], None]:
    *path, last, value = keys

    def change(tree: Any) -> None:
        for key in path:
            tree = tree[key]
        tree[last] = value

    return change


CHANGES: dict[str, Callable[[Any], None]] = {
    "the digest": _set("subject", 0, "digest", "sha256", "00"),
    "no digest": _set("subject", []),
    "the head": _set("predicate", "configuration", 1, "digest", "wireproofChain", "00"),
    "the fixtures": _set("predicate", "configuration", 0, "digest", "wireproofFixtures", "00"),
    "the version": _set("predicate", "configuration", 1, "name", "other 2.0"),
    "the conclusion": _set("predicate", "configuration", 1, "annotations", "conclusion", "conforms to all"),
    "the result": _set("predicate", "result", "WARNED"),
    "a failure": _set("predicate", "failedTests", ["reference: none"]),
    "no predicate": _set("predicate", None),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("run", ["reference"], indirect=True)
def test_a_statement_that_was_changed_fails(wireproof: Command, run: Path, stated: Path, name: str) -> None:
    tree = json.loads(stated.read_text("utf-8"))
    CHANGES[name](tree)
    stated.write_text(json.dumps(tree), "utf-8")
    done = wireproof("verify", run, "--sample", 0, "--statement", stated)
    assert done.code == 1
    assert "the statement has the " in done.out


@pytest.mark.parametrize("run", ["reference"], indirect=True)
def test_a_run_that_was_written_again_fails_its_statement(
    wireproof: Command, run: Path, stated: Path
) -> None:
    run.write_text(run.read_text("utf-8").replace('"ns":', '"ns":1'), "utf-8")
    done = wireproof("verify", run, "--sample", 0, "--statement", stated)
    assert done.code == 1
    assert "the statement has the digest " in done.out
    assert "the heads" not in done.out, "the head of a chain does not depend on times"


@pytest.mark.parametrize("run", ["reference"], indirect=True)
def test_nothing_is_stated_about_a_run_that_is_cut(wireproof: Command, run: Path, tmp_path: Path) -> None:
    run.write_text("".join(run.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    out = tmp_path / "statement.json"
    assert wireproof("verify", run, "--sample", 0, "--write-statement", out).code == 1
    assert not out.exists()


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"_type": "https://in-toto.io/Statement/v0.1"}'])
@pytest.mark.parametrize("run", ["reference"], indirect=True)
def test_a_file_that_is_no_statement_is_one_line(
    wireproof: Command, run: Path, tmp_path: Path, text: str
) -> None:
    other = tmp_path / "other.json"
    other.write_text(text)
    done = wireproof("verify", run, "--sample", 0, "--statement", other)
    assert done.code == 2
    assert done.one_line().startswith(f"wireproof: {other}: ")
