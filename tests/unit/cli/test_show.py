"""Cases and formats in the commands: shown, listed, replayed by id or token."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from attrs import evolve
from command_line import Command
from each import each
from goldens import load
from machine import needs

from tests.mutants.registry import spec_of
from wireproof.cases.case import Accept
from wireproof.cases.outcome import Crashed, Exhausted, Faulty
from wireproof.cases.token import to_token
from wireproof.cli import VERBS, group
from wireproof.cli.replay import answer_line
from wireproof.cli.show import hex_text
from wireproof.derive.derived import derived_cases
from wireproof.formats import FORMATS
from wireproof.judge.differences import short_outcome
from wireproof.report.case_view import LINE, claim_lines, value_lines
from wireproof.run.events import CaseEvent
from wireproof.wire.json_values import Json

SMALL = "kafka.batch/v2/crc/*"
LENIENT = spec_of("mutant:crc-skip")
"""A codec that does not conform, for it does not look at checksums."""


def test_the_last_line_of_a_replay_has_each_text_once() -> None:
    event = CaseEvent(
        seq=0, id="x", format="f", revision="1", op="decode", level="must", verdict="stalled",
        want="accept", got="stalled: no answer", text="no answer",
    )  # fmt: skip
    assert answer_line(event) == "stalled: want accept; got stalled: no answer"
    assert answer_line(evolve(event, text="")) == answer_line(event)
    assert answer_line(evolve(event, text="a trace")).endswith("; got stalled: no answer a trace")


def test_a_case_is_replayed_by_its_id_by_a_derived_id_and_by_a_token(wireproof: Command) -> None:
    parent = "kafka.batch/v2/crc/leader-epoch-outside"
    flip = next(case for case in derived_cases(load().by_id[parent]) if case.family == "flip")
    for name in ("kafka.batch/v2/crc/zero", flip.id, to_token(flip)):
        good, bad = (wireproof("replay", name, spec, "--in-process") for spec in ("reference", LENIENT))
        assert (good.code, bad.code) == (0, 1), name
        assert "pass" in good.out
        assert "fail:wrong-accept" in bad.out


@needs("[peers]")
def test_a_case_that_the_adapter_does_not_claim_is_said_to_be_so(wireproof: Command) -> None:
    done = wireproof("replay", "iggy.identifier/0.0.30/identifier/numeric", "kio", code=2)
    assert "unsupported: " in done.out


def test_long_bytes_are_whole_in_a_pipe_and_begun_on_a_terminal() -> None:
    data = bytes(range(256)) * 4
    assert hex_text(data, terminal=False) == data.hex()
    assert hex_text(data, terminal=True) == f"{data[:512].hex()}… 512 more; a pipe or a file gets all"
    assert hex_text(data[:512], terminal=True) == data[:512].hex()


def test_the_cases_are_listed_by_pattern(wireproof: Command) -> None:
    done = wireproof("cases", SMALL)
    assert len(done.out.splitlines()) == 8
    assert done.err == "8 cases\n"
    assert len(wireproof("cases").out.splitlines()) == len(load().cases)


def test_patterns_are_read_from_a_file_with_comments(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "patterns"
    path.write_text(f"# some\n{SMALL}  # crc\n\n", encoding="utf-8")
    words = ("--no-families", "--in-process", "--min-cases", 8)
    wireproof("check", "reference", *words, "--run", f"@{path}", code=0)


# --- `show CASE` ---


def expected(lines: list[str]) -> list[str]:
    """The lines of the expectation: they stand before those of the sources."""
    begin = next(n for n, line in enumerate(lines) if line.startswith("want "))
    end = next(n for n, line in enumerate(lines) if line.startswith(("refusal ", "source ")))
    assert end < next(n for n, line in enumerate(lines) if line.startswith("rule "))
    return lines[begin:end]


@pytest.mark.parametrize(
    "name",
    ["kafka.batch/v2/headers/null-value", "iggy.identifier/0.8/identifier/zero", "kafka.batch/v1/text/nul"],
)
def test_the_value_to_answer_is_shown_as_json_before_the_sources(wireproof: Command, name: str) -> None:
    first, *value = expected(wireproof("show", name).out.splitlines())
    assert first.startswith("want     accept, ")
    assert first.endswith(" bytes consumed, with this value")
    shown = json.loads("\n".join(value))
    expect = load().by_id[name].expect
    assert isinstance(expect, Accept)
    assert shown == without_derived(expect.value)
    assert len(shown) > 1


DERIVED = {"nextOffset", "sequence", "timestampType"}


def without_derived(value: Json) -> Json:
    match value:
        case dict():
            return {key: without_derived(part) for key, part in value.items() if key not in DERIVED}
        case list():
            return [without_derived(part) for part in value]
    return value


def test_a_refusal_is_shown_with_class_and_position(wireproof: Command) -> None:
    lines = expected(wireproof("show", "kafka.batch/v2/crc/bit-flip-in-value").out.splitlines())
    assert lines == ["want     refuse crc-mismatch at 17"]


def test_the_bytes_of_an_encode_are_shown(wireproof: Command) -> None:
    first, data = expected(wireproof("show", "kafka.batch/v2/encode/empty").out.splitlines())
    assert first.endswith("with these bytes, or others that decode to the value")
    assert bytes.fromhex(data)[16] == 2


def test_a_long_value_is_cut_with_the_count_of_what_is_left_out() -> None:
    value = {"text": "61" * 1000, "rows": [{"n": str(n), "key": "6b" * 20} for n in range(1000)]}
    lines = list(value_lines(value))  # type: ignore[arg-type] # a JSON value
    assert len(lines) < 20
    assert max(map(len, lines)) <= LINE + 20
    assert lines[1].endswith(f'{"61" * 32}… 1,000 bytes",')
    assert "    … 994 more" in lines
    assert '"n": "999"' in lines[-3]


# --- `show` of formats and folders ---


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


# --- the words of the public interface ---


def commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    top = click.Context(group, info_name="wireproof", **group.context_settings)
    for verb in VERBS:
        command = group.get_command(top, verb)
        context = click.Context(command, parent=top, info_name=verb)
        yield verb, command, context
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                yield f"{verb} {name}", inner, click.Context(inner, parent=context, info_name=name)


ALL = {name: (command, context) for name, command, context in commands()}


@each("verb", ALL)
def test_every_option_with_a_default_shows_it_and_every_option_has_a_help_text(verb: str) -> None:
    command, context = ALL[verb]
    for option in (one for one in command.params if isinstance(one, click.Option)):
        record = option.get_help_record(context)
        assert option.help, option.name
        silent = option.default in (None, "", (), False) or "UNSET" in repr(option.default)
        if not (silent or (option.is_flag and not option.secondary_opts)):
            assert "default: " in record[1], option.name


def test_a_run_that_was_stored_has_one_name_in_all_verbs() -> None:
    names = {
        param.make_metavar(context).split("…")[0].strip("[].")
        for verb in ("report", "diff", "baseline add", "baseline fix")
        for command, context in [ALL[verb]]
        for param in command.params
        if isinstance(param, click.Argument) and param.name != "file"
    }
    assert names == {"RUN"}


@each(
    "outcome, text",
    [
        (Crashed("died with SIGSEGV"), "crashed: SIGSEGV"),
        (Exhausted("memory", "used 529 MiB; the limit is 512 MiB"), "used 529 MiB; the limit is 512 MiB"),
        (Exhausted("output"), "used too much output"),
        (Faulty("invalid answer: no outcome"), "invalid answer: no outcome"),
        (Faulty("its value is no JSON"), "invalid answer: its value is no JSON"),
    ],
)
def test_an_outcome_is_described_in_plain_words(outcome: Crashed | Exhausted | Faulty, text: str) -> None:
    assert short_outcome(outcome) == text
