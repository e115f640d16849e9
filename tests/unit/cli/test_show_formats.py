"""`wireproof show` of formats and folders, and the description of a format; no word is broken."""

import re

import pytest
from command_line import Command

from wireproof.formats import FORMATS
from wireproof.report.case_view import claim_lines


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
