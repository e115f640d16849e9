"""Promotion: what is written loads and passes lint; what is doubtful is refused and leaves nothing."""

import json
import signal
import sys
from pathlib import Path

import fixture_folders
import pytest
from attrs import evolve
from click.testing import CliRunner
from command_line import Command
from goldens import golden_bytes, load
from kill_inside_call import every_kill, killed_at
from small_runs import FAIL, RUN, stored, stream

from wireproof.cases.case import Accept, Case, Data, Reject, Source, Value
from wireproof.cases.fixtures import Suite
from wireproof.cases.reference_answers import reference_expectation
from wireproof.cases.token import to_token
from wireproof.cli.promote import command
from wireproof.files import replace_text
from wireproof.formats import FORMATS
from wireproof.fuzz import promote as promoting
from wireproof.fuzz.promote import Difference, PromotionError, promote
from wireproof.judge.likely_rules import likely_rules
from wireproof.lint.cases import lint
from wireproof.wire.checksums import crc32c
from wireproof.wire.options import Options

FIVE = golden_bytes("kafka.batch/v2/headers/five")


@pytest.fixture(autouse=True)
def _one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three fresh processes take seconds; `test_three_fresh_processes_confirm` starts them."""
    monkeypatch.setattr(promoting, "CONFIRMATIONS", 0)


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    load()
    fixture_folders.formats(tmp_path_factory.mktemp("few"), monkeypatch, "kafka.batch")


def _found(data: bytes, format_id: str = "kafka.batch/v2") -> Case:
    form, revision = format_id.split("/")
    case = Case(
        f"{format_id}/fuzz/one",
        form,
        revision,
        Data(data),
        Accept(),
        family="fuzz",
        source=Source("fuzz", "seed 7"),
    )
    return evolve(case, expect=reference_expectation(case))


def _broken() -> bytes:
    """A checksum that is wrong, in bytes that no fixture has."""
    data = bytearray(FIVE)
    data[7] = 9  # baseOffset, which no checksum covers
    data[-1] ^= 1
    return bytes(data)


def test_a_refusal_is_written_with_its_repaired_twin_and_the_rule_of_its_like(tmp_path: Path) -> None:
    made = promote(_found(_broken()), load(), tmp_path)
    again = load((tmp_path,))
    case = again.by_id[made.case.id]
    assert isinstance(case.expect, Reject)
    assert case.expect.cls == "crc-mismatch"
    assert case.source.origin == "fuzz"
    assert "seed 7" in case.source.document
    twin = again.by_id.get(case.twin or "")
    assert twin is not None
    assert isinstance(twin.expect, Accept)
    assert twin.input != case.input
    assert case.rules[0] in load().rules
    assert not [one for one in lint(again) if one.where in (case.id, twin.id)]


def test_an_accepted_finding_keeps_its_value_and_says_what_it_needs(tmp_path: Path) -> None:
    data = bytearray(FIVE)
    data[7] = 9
    made = promote(_found(bytes(data)), load(), tmp_path, "mine/with-headers", "Headers were lost.")
    case = load((tmp_path,)).by_id["kafka.batch/v2/mine/with-headers"]
    assert isinstance(case.expect, Accept)
    assert case.expect.value["baseOffset"] == "9"  # type: ignore[index,call-overload] # an object of JSON
    assert "feature:headers" in case.needs
    assert case.why == "Headers were lost."
    assert made.twin is None


def test_a_refusal_is_named_after_the_field_and_the_value_that_would_be_right(tmp_path: Path) -> None:
    data = bytearray(FIVE)
    data[16] = 7
    made = promote(evolve(_found(bytes(data)), title="found by fuzzing"), load(), tmp_path, "magic/seven")
    assert made.case.title == "magic 7"
    assert made.case.rules == ("kafka.v2.magic",)
    assert made.twin is None or made.twin.title == f"{made.case.title}, repaired"


def test_a_value_is_named_after_the_difference_and_is_of_a_rule_that_names_its_field(tmp_path: Path) -> None:
    data = bytearray(FIVE)
    data[7] = 9
    field = "batches[0].records[0].offset"
    found = Difference("fail:wrong-value", "batches[].records[].offset", f'{field} = "9"', f'{field} = "0"')
    made = promote(_found(bytes(data)), load(), tmp_path, "offsets/nine", difference=found)
    assert made.case.title == f"{field} is 9, not 0"
    assert made.case.why == f'A codec answered {field} = "0"; the format requires {field} = "9".'
    assert "offset" in load().rules[made.case.rules[0]].text
    assert len(made.fitting) > 1
    second = {"difference": found, "choose": lambda fitting: fitting[1]}
    other = promote(_found(bytes(data)), load(), tmp_path, "offsets/also", **second)  # type: ignore[arg-type]
    assert other.case.rules == made.fitting[1:2]


def test_without_a_difference_a_value_is_named_after_its_like(tmp_path: Path) -> None:
    data = bytearray(FIVE)
    data[7] = 9
    case = promote(_found(bytes(data)), load(), tmp_path, "mine/nine").case
    assert case.title == "As kafka.batch/v2/headers/five, with baseOffset 9 and records[0].offset 9 and more"


def test_the_verb_names_the_other_rules_and_takes_one(wireproof: Command, tmp_path: Path) -> None:
    token = to_token(_found(_broken()))
    words = ("promote", token, "--to", tmp_path)
    said = wireproof(*words, "--name", "crc/first")
    (also,) = [line for line in said.out.splitlines() if line.startswith("also")]
    other = also.split()[1].rstrip(",")
    again = wireproof(*words, "--name", "crc/second", "--rule", other)
    assert f"rule  {other}" in again.out
    wrong = wireproof(*words, "--name", "crc/third", "--rule", f"{other}x")
    assert (wrong.code, wrong.err) == (2, f"wireproof: there is no rule {other}x: did you mean {other}?\n")


def test_a_count_is_named_with_the_value_of_its_repaired_twin(tmp_path: Path) -> None:
    data = bytearray(FIVE)
    data[57:61] = (-3).to_bytes(4, "big", signed=True)  # recordsCount; the checksum is fixed up
    data[17:21] = crc32c(bytes(data[21:])).to_bytes(4, "big")
    case = promote(_found(bytes(data)), load(), tmp_path, "counts/minus-three").case
    assert case.title == "recordsCount is -3 instead of 0: negative-length"
    assert "count" in case.rules[0]


@pytest.mark.parametrize("like", ["compacted-gaps", "headers", "log-append-time"])
def test_a_value_is_of_the_rule_of_the_value_most_like_it(like: str) -> None:
    near = load().by_id[f"kafka.batch/v2/encode/{like}"]
    assert isinstance(near.input, Value)
    value = json.loads(json.dumps(near.input.value))
    value["baseOffset"] = "77"
    rules = likely_rules(evolve(near, id="mine", rules=(), input=Value(value)), load(), "")
    assert rules[:1] == near.rules[:1]


def test_a_case_like_no_other_needs_the_name_of_a_rule(tmp_path: Path) -> None:
    suite = Suite((), load().rules, {}, "")
    with pytest.raises(PromotionError, match="no rule has a case like this one: name one with --rule"):
        promote(_found(FIVE), suite, tmp_path)


def test_a_finding_of_a_rule_without_a_text_is_should(tmp_path: Path) -> None:
    """Only Kafka's class refuses a dictionary of LZ4: `lint` takes such a case at `should`."""
    data = bytearray(golden_bytes("kafka.batch/v2/lz4/dictionary-bit"))
    data[7] = 9  # baseOffset, which no checksum covers: bytes that no fixture has
    case = promote(_found(bytes(data)), load(), tmp_path, "found/one").case
    assert "kafka.lz4.dictionary" in case.rules
    assert case.level == "should"


def test_long_bytes_go_to_a_file_beside(tmp_path: Path) -> None:
    data = FIVE + b"\0" * 600
    promote(_found(data), load(), tmp_path, "long")
    page = json.loads((tmp_path / "kafka.batch/v2/found.json").read_text())
    assert page["cases"][0]["input"]["file"] == "found.long.bin"
    assert (tmp_path / "kafka.batch/v2/found.long.bin").read_bytes() == data


def test_two_findings_share_a_file_sorted(tmp_path: Path) -> None:
    data = bytearray(FIVE)
    for last, name in ((3, "b"), (5, "a")):
        data[7] = last
        promote(_found(bytes(data)), load(), tmp_path, name)
    page = json.loads((tmp_path / "kafka.batch/v2/found.json").read_text())
    assert [row["id"].rpartition("/")[2] for row in page["cases"]] == ["a", "b"]


def test_an_id_is_not_used_twice(tmp_path: Path) -> None:
    promote(_found(_broken()), load(), tmp_path, "once")
    with pytest.raises(PromotionError, match="never reused"):
        promote(_found(_broken()), load((tmp_path,)), tmp_path, "once")


def test_an_expectation_that_the_reference_does_not_keep_is_refused_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    wrong = evolve(_found(_broken()), expect=Accept({"baseOffset": "1"}, 3))
    with pytest.raises(PromotionError, match="disagrees"):
        promote(wrong, load(), tmp_path)
    assert not list(tmp_path.rglob("*.json"))


def test_a_reference_that_reads_two_ways_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = FORMATS["kafka.batch/v2"]
    flip = iter(range(100))

    def fickle(reader: object, options: Options) -> object:
        value = row.decode(reader, options)  # type: ignore[arg-type] # passes it on
        return evolve(value, base_offset=next(flip))

    monkeypatch.setitem(FORMATS, row.format_id, evolve(row, decode=fickle))
    with pytest.raises(PromotionError, match="disagrees with itself"):
        promote(_found(FIVE), load(), tmp_path)


def test_a_lint_problem_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promoting, "capabilities_of_case", lambda _: ("feature:none-such",))
    with pytest.raises(PromotionError, match=r"lint reports a problem.*feature:none-such"):
        promote(_found(_broken()), load(), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["No/Such Id", "../../x", "a/..", "x\n"])
def test_a_name_is_made_of_plain_components(tmp_path: Path, name: str) -> None:
    with pytest.raises(PromotionError, match="--name has a-z"):
        promote(_found(_broken()), load(), tmp_path, name)
    assert not list(tmp_path.iterdir())


@every_kill
@pytest.mark.parametrize("file", [0, 1], ids=["the long bytes", "the cases"])
def test_a_kill_while_the_files_are_replaced_loses_no_case(
    tmp_path: Path, kill: signal.Signals, file: int
) -> None:
    long = tmp_path / "kafka.batch/v2/found.b.bin"
    page = tmp_path / "kafka.batch/v2/found.json"
    replace_text(page, "the cases before")
    changed = {long: b"long", page: b"the cases after"}
    killed_at("os.replace", kill, lambda: promoting._replace_files(changed), skip=file)
    assert page.read_text() == "the cases before"
    if kill is signal.SIGINT:  # what was begun is put back
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == [page]
    promoting._replace_files(changed)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == changed


def test_a_case_that_lint_has_not_seen_to_its_end_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promoting, "lint", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        promote(_found(_broken()), load(), tmp_path)
    assert not list(tmp_path.iterdir())


def _interrupted(_: object) -> list[object]:
    raise KeyboardInterrupt


def test_three_fresh_processes_confirm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promoting, "CONFIRMATIONS", 3)
    promoting.confirm(_found(_broken()))
    with pytest.raises(PromotionError, match="does not confirm"):
        promoting.confirm(evolve(_found(_broken()), expect=Reject("bad-magic", (), 16, None)))


def test_the_verb_takes_a_token_and_says_what_it_wrote(tmp_path: Path) -> None:
    said = CliRunner().invoke(
        command, [to_token(_found(_broken())), "--to", str(tmp_path), "--name", "crc/late-bit"]
    )
    assert said.exit_code == 0, said.output
    assert said.output.startswith("kafka.batch/v2/crc/late-bit: refuse crc-mismatch at 17")
    assert "wrote" in said.output


def test_the_verb_writes_a_redacted_case(tmp_path: Path) -> None:
    words = ["--to", str(tmp_path / "cases"), "--name", "crc/late-bit", "--redact"]
    said = CliRunner().invoke(command, [to_token(_found(_broken())), *words])
    assert said.exit_code == 0, said.output
    (path,) = (tmp_path / "cases").rglob("crc.json")
    rows = [row["input"]["hex"] for row in json.loads(path.read_text("utf-8"))["cases"]]
    assert rows
    assert _broken().hex() not in rows


def test_a_finding_of_a_file_starts_no_command_that_the_user_did_not_name(
    wireproof: Command, tmp_path: Path
) -> None:
    """A run may come from somebody else, and name any command as its adapter."""
    path, started = tmp_path / "run.jsonl", tmp_path / "started"
    spec = f"exec:{sys.executable} -c \"open('{started}', 'w')\""
    stored(path, stream(evolve(FAIL, token=to_token(_found(_broken()))), run=evolve(RUN, spec=spec)))
    words = ("promote", f"{path}#1", "--redact", "--to", tmp_path / "cases")
    refused = wireproof(*words)
    assert (refused.code, started.exists()) == (2, False)
    assert "which would be started here: add --adapter" in refused.err
    assert wireproof(*words, "--adapter", spec).code == 4  # it ends without a hello
    assert started.exists()
