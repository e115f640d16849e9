"""`wireproof formats` lists what the hello of an adapter may claim, and no word is broken in the table."""

import json
import re

import pytest
from attrs import evolve
from command_line import Command

from wireproof.adapters.claim_check import check_claims
from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.reference import Reference
from wireproof.formats import FORMATS


def test_the_rows_are_the_formats_and_every_word_of_them_may_be_claimed(wireproof: Command) -> None:
    rows = json.loads(wireproof("formats", "--format", "json").out)
    assert [f"{row['format']}/{row['revision']}" for row in rows] == list(FORMATS)
    assert {row["revision"] for row in rows if row.pop("provisional")} == {"0.11.1-edge"}
    claims = {
        f"{row.pop('format')}/{row.pop('revision')}": Claim(**{key: tuple(row[key]) for key in row})
        for row in rows
    }
    shown = {format_id: evolve(claim, observes=()) for format_id, claim in Reference().revisions.items()}
    assert claims == shown
    check_claims("mine", Hello("mine", "1", claims))


def test_a_table_that_is_piped_has_one_line_for_the_revisions_that_are_alike(wireproof: Command) -> None:
    lines = wireproof("formats", width=80).out.splitlines()
    assert re.search(
        r"^iggy\.identifier +0\.0\.30 0\.8 +decode encode +none *$", "\n".join(lines), re.MULTILINE
    )
    assert [line.split()[:2] for line in lines if line.startswith("kafka.batch")] == [
        ["kafka.batch", "v0"],
        ["kafka.batch", "v1"],
        ["kafka.batch", "v2"],
    ]
    assert lines[-2:] == [
        "0.11.1-edge: provisional, of a pre-release",
        "profiles of every format: reader produce",
    ]


@pytest.mark.parametrize("room", [80, 120])
def test_on_a_terminal_no_word_is_broken_and_no_line_is_too_wide(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr("wireproof.cli.formats._room", lambda: room)
    lines = wireproof("formats").out.splitlines()
    assert max(map(len, lines)) <= room
    words = {word for line in lines for word in line.split()}
    for row in FORMATS.values():
        assert {row.name, row.revision, *(atom.partition(":")[2] for atom in row.capabilities)} <= words


def test_a_report_marks_a_provisional_revision(wireproof: Command) -> None:
    arguments = ("check", "reference", "--no-families", "--run")
    done = wireproof(*arguments, "iggy.send/0.11.1-edge/messages/*")
    assert "iggy.send/0.11.1-edge: provisional, a revision of a pre-release" in done.out
    assert "provisional" not in wireproof(*arguments, "iggy.send/0.11/messages/*").out
