"""`wireproof show` lists what the hello of an adapter may claim, and no word is broken in the table."""

import re
from typing import get_args

import pytest
from attrs import evolve
from command_line import Command

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.reference import Reference
from wireproof.adapters.registry.registry import check_claims
from wireproof.formats import FORMATS
from wireproof.report.case_view import CLAIMS, claim_lines
from wireproof.wire.options import Profile


def test_the_rows_are_the_formats_and_every_word_of_them_may_be_claimed() -> None:
    claims = {}
    for format_id, row in FORMATS.items():
        titles, cells = list(claim_lines([format_id], None))[:2]
        starts = [titles.index(word) for word in ("format", "revisions", *CLAIMS)]
        words = [cells[at:end].split() for at, end in zip(starts, [*starts[1:], None], strict=True)]
        assert words[:2] == [[row.name], [row.revision]]
        claims[format_id] = Claim(
            **{name: tuple(some) for name, some in zip(CLAIMS, words[2:], strict=True)},
            profiles=get_args(Profile),
        )
    shown = {format_id: evolve(claim, observes=()) for format_id, claim in Reference().revisions.items()}
    assert claims == shown
    check_claims("mine", Hello("mine", "1", claims))


def test_a_format_is_shown_with_its_claims_and_the_folders_of_its_cases(wireproof: Command) -> None:
    lines = wireproof("show", "kafka.batch/v2").out.splitlines()
    assert lines[1].startswith("kafka.batch  v2  ")
    assert re.search(r"^kafka\.batch/v2/crc +\d+ cases$", "\n".join(lines), re.MULTILINE)
    assert "kafka.batch  v1" in wireproof("show", "kafka.batch").out


def test_a_folder_is_shown_as_the_list_of_its_cases(wireproof: Command) -> None:
    listed = wireproof("cases", "kafka.batch/v2/crc/**").out
    assert wireproof("show", "kafka.batch/v2/crc").out == listed
    assert wireproof("show", "kafka.batch/v2/crc/").out == listed
    assert len(listed.splitlines()) > 3


def test_a_table_that_is_piped_has_one_line_for_the_revisions_that_are_alike(wireproof: Command) -> None:
    lines = wireproof("show", width=80).out.splitlines()
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


def test_on_a_narrow_terminal_words_are_broken_at_hyphens_only_and_no_line_is_too_wide() -> None:
    lines = list(claim_lines(["kafka.batch/v2", "iggy.deferred-poll-request/0.11.1-edge"], 60))
    assert max(map(len, lines)) <= 60
    assert "control-batch" in "\n".join(lines)
    assert not any(line.startswith("iggy.deferred-poll-request") for line in lines)


@pytest.mark.parametrize("room", [80, 120])
def test_on_a_terminal_no_word_is_broken_and_no_line_is_too_wide(room: int) -> None:
    lines = list(claim_lines(list(FORMATS), room))
    assert max(map(len, lines)) <= room
    words = {word for line in lines for word in line.split()}
    for row in FORMATS.values():
        assert {row.name, row.revision, *(atom.partition(":")[2] for atom in row.capabilities)} <= words


def test_a_report_marks_a_provisional_revision(wireproof: Command) -> None:
    arguments = ("check", "reference", "--no-families", "--run")
    done = wireproof(*arguments, "iggy.send/0.11.1-edge/messages/*")
    assert "iggy.send/0.11.1-edge: provisional, a revision of a pre-release" in done.out
    assert "provisional" not in wireproof(*arguments, "iggy.send/0.11/messages/*").out


def test_the_source_of_a_format_is_what_runs_with_its_inner_structures_first(wireproof: Command) -> None:
    out = wireproof("show", "--source", "iggy.poll-request/0.8").out
    assert (
        out.index("# Identifier\n")
        < out.index("# Consumer\n")
        < out.index("# iggy.poll-request/0.8: PollMessages")
    )
    compile(out, "shown", "exec")
    assert "# iggy.poll-request.count\n" in out


def test_a_format_without_a_description_says_so_and_an_unknown_one_is_an_error(wireproof: Command) -> None:
    done = wireproof("show", "--source", "iggy.headers/0.9")
    assert done.out == "# iggy.headers/0.9: its codec is not made from a description\n"
    assert wireproof("show", "--source", "kafka.batch/v9").code == 2
