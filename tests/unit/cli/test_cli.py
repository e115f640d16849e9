"""The command line: commands.md and results.md."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from command_line import Command
from fixture_folders import GOOD, PLACE, RULE, write
from folders import SUPPORT
from goldens import load
from machine import needs

from tests.mutants.registry import spec_of
from wireproof.cases.derived import derived_cases
from wireproof.cases.token import to_token
from wireproof.cli import VERBS
from wireproof.cli.show import hex_text
from wireproof.formats import FORMATS
from wireproof.install_hint import install_command
from wireproof.runner.event_files import read_events

SMALL = "kafka.batch/v2/crc/*"
LENIENT = spec_of("mutant:crc-skip")
"""A codec that does not conform, for it does not look at checksums."""

FAULTY = SUPPORT / "faulty_adapter.py"


def golden(name: str) -> str:
    """The bytes of a golden case, in hex."""
    case = load().by_id[name]
    return case.input.data.hex()  # type: ignore[union-attr]


# --- the bad input of users: one line, its exit code, no traceback ---

BAD = (
    ((), 2, "Usage"),
    (("nosuch",), 2, "there is no verb nosuch"),
    (("check",), 2, "Missing argument 'ADAPTER…'"),
    (("check", "reference", "--nosuch"), 2, "--nosuch"),
    (("check", "refrence"), 2, "unknown adapter refrence: did you mean reference?"),
    (("check", "py:nosuch"), 2, "a Python object is written py:module:attribute"),
    (("check", "exec:"), 2, "a command is missing after the colon"),
    (("check", "exec:'"), 2, "quotation"),
    (("check", "py:nosuch:thing"), 4, "cannot be imported"),
    (("check", "exec:/no/such/program"), 4, "/no/such/program"),
    (("check", f"exec:{sys.executable} {FAULTY} dies-at-hello"), 4, "before its hello"),
    (("check", "reference", "--run", "kafka.batch/v9/**"), 2, "known after kafka.batch/: v0, v1, v2"),
    (("check", "reference", "--run", "@/no/such/file"), 2, "/no/such/file"),
    (("check", "reference", "--fixtures", "/no/such/dir"), 2, "/no/such/dir"),
    (("check", "reference", "--run", SMALL, "--skip", SMALL), 2, "no case was judged"),
    (("check", "reference", "--run", SMALL, "--no-families", "--min-cases", "99"), 2, "8 cases were judged"),
    (("check", "reference", "--run", SMALL, "--out", "/no/such/dir/x"), 2, "/no/such/dir/x"),
    (("cases", "nosuch/**"), 2, "no case matches nosuch/**"),
    (("show", "kafka.batch/v2/crc/zerro"), 2, "did you mean kafka.batch/v2/crc/zero?"),
    (("show", "kafka.batch/v2/crc/zero~flip:0"), 2, "no case"),
    (("show", "wp1:AAAA"), 2, "the token is damaged"),
    (("show", "wp2:AAAA"), 2, "no case matches wp2:AAAA"),
    (("replay", "@/no/such/token", "reference"), 2, "cannot be read"),
    (("replay", "kafka.batch/v2/crc/zero", "nosuch"), 2, "unknown adapter nosuch"),
    (("explain", "xyz"), 2, "xyz is neither a file nor hex"),
    (("explain", "abc"), 2, "abc is neither a file nor hex"),
    (("explain", "z" * 5000), 2, "is neither a file nor hex"),
    (("explain", ""), 2, "(nothing) is neither a file nor hex"),
    (("explain", "/dev/null"), 2, "/dev/null"),
    (("explain", "00", "--format", "kafka.batsh/v2"), 2, "kafka.batsh/v2: did you mean kafka.batch/v2?"),
    (("explain", "00", "--format", "nosuch"), 2, "unknown format nosuch"),
    (("report", "/no/such/file"), 2, "/no/such/file"),
    (("report", "/dev/null"), 2, "holds no run"),
    (("diff", "/dev/null", "/dev/null"), 2, "holds no run"),
    (("baseline", "write", "/dev/null", "--owner", "me"), 2, "holds 0 runs"),
    (("serve", "nosuch"), 2, "unknown adapter nosuch"),
    (("adapters", "probe", "nosuch"), 2, "unknown adapter nosuch"),
    (("lint", "--fixtures", "/no/such/dir"), 2, "/no/such/dir"),
)  # fmt: skip


def named(words: tuple[str, ...]) -> str:
    """Name a command in an id, the same on every machine: without the folders of our own programs."""
    text = " ".join(words).replace(sys.executable, "python3").replace(str(FAULTY), FAULTY.name)
    return text[:60] or "nothing"


@pytest.mark.parametrize(("words", "code", "said"), BAD, ids=[named(row[0]) for row in BAD])
def test_bad_input_is_one_line_and_its_exit_code(
    wireproof: Command, words: tuple[str, ...], code: int, said: str
) -> None:
    done = wireproof(*words)
    assert said in done.err
    assert done.code == code
    if words:
        done.one_line()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Expecting property name"),
        ('{"event": "case"}\n', "x.jsonl:1"),
        ("\x00\xff\n", "x.jsonl:1"),
    ],
)
def test_a_damaged_stream_is_one_line_with_its_line(
    wireproof: Command, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(text.encode("latin-1"))
    for verb in (("report", path), ("diff", path, path), ("baseline", "write", path, "--owner", "me")):
        done = wireproof(*verb)
        assert done.code == 2
        line = done.one_line()
        assert said in line or "holds" in line


def test_a_fixture_with_a_wrong_field_is_one_line_of_the_suite(wireproof: Command, tmp_path: Path) -> None:
    write(tmp_path, {**GOOD, "titel": "x"})
    for verb in (("check", "reference"), ("cases",), ("lint",)):
        done = wireproof(*verb, "--fixtures", tmp_path)
        assert done.code == 5
        assert f"{GOOD['id']}: case has no field 'titel'" in done.one_line()


def test_a_file_that_may_not_be_read_is_one_line(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof("check", "reference", "--baseline", tmp_path)
    assert done.code == 2
    assert "is a directory" in done.one_line()


def test_a_baseline_that_is_none_is_one_line(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text("[[known-failure]]\nid = 7\n", encoding="utf-8")
    done = wireproof("check", "reference", "--run", SMALL, "--baseline", path)
    assert done.code == 2
    assert "known.toml" in done.one_line()


def test_a_missing_extra_says_what_to_install(wireproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {"kio", *(name for name in sys.modules if name.startswith("kio."))}:
        monkeypatch.setitem(sys.modules, name, None)  # a submodule that is there is found without its parent
    monkeypatch.delitem(sys.modules, "kio_adapter", raising=False)
    done = wireproof("check", "kio", "--in-process")
    assert done.code == 4
    assert install_command("peers") in done.one_line()


def test_a_bug_of_the_suite_keeps_its_traceback_and_has_its_own_code(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("wireproof.cli.lint.lint", broken)
    done = wireproof("lint")
    assert done.code == 5
    assert "ZeroDivisionError: ours" in done.err
    assert done.err.splitlines()[-1].startswith("wireproof: a bug of the suite")


def test_every_verb_says_what_it_does(wireproof: Command) -> None:
    top = wireproof("--help")
    assert top.code == 0
    for verb in VERBS:
        assert f"  {verb} " in top.out
        done = wireproof(verb, "--help")
        assert done.code == 0
        assert "Usage" in done.out


# --- check ---


def test_check_ends_by_what_it_found(wireproof: Command) -> None:
    assert wireproof("check", "reference", "--run", SMALL, "--no-families").code == 0
    done = wireproof("check", LENIENT, "--run", SMALL, "--no-families")
    assert done.code == 1
    assert "FAIL  kafka.batch/v2/crc/" in done.out
    assert f"wireproof replay kafka.batch/v2/crc/bit-flip-in-value {shlex.quote(LENIENT)}" in done.out


@pytest.mark.usefixtures("stored_cases_alone")
def test_a_run_without_families_reports_nothing_about_their_known_failures(
    wireproof: Command, tmp_path: Path
) -> None:
    known_failures = tmp_path / "known.toml"
    lines = {"kind": "crash", "class": "", "reason": "a test", "owner": "me"}
    text = "".join(f'{name} = "{value}"\n' for name, value in lines.items())
    family = '[[known-failure]]\nid = "iggy.identifier/0.0.30/**~flip:*"\n' + text + "expires = 2099-01-01\n"
    known_failures.write_text(family, encoding="utf-8")
    check = ("check", "reference", "--in-process", "--baseline", known_failures)
    assert wireproof(*check, "--no-families").code == 0
    known_failures.write_text(family.replace("/**~flip:*", "/gone"), encoding="utf-8")
    assert wireproof(*check, "--no-families").code == 3


def test_what_was_judged_is_kept_when_a_later_adapter_dies(wireproof: Command, tmp_path: Path) -> None:
    out, page = tmp_path / "run.jsonl", tmp_path / "run.md"
    dead = f"exec:{sys.executable} {FAULTY} dies-at-hello"
    words = ("--run", SMALL, "--no-families", "--out", out, "--markdown", page)
    done = wireproof("check", LENIENT, dead, "reference", *words)
    assert done.code == 4  # which outranks the 1 of the first
    assert "before its hello" in done.one_line()
    assert "FAIL  kafka.batch/v2/crc/" in done.out
    streams = read_events(out)
    assert [stream.run.adapter for stream in streams] == ["crc-skip", "reference"]
    assert all(stream.complete and len(stream.cases) == 8 for stream in streams)
    assert "reference" in page.read_text("utf-8")


def test_an_adapter_that_dies_on_the_way_leaves_a_stream_of_what_it_did(
    wireproof: Command, tmp_path: Path
) -> None:
    out = tmp_path / "run.jsonl"
    done = wireproof(
        "check",
        f"exec:{sys.executable} {FAULTY} exits-after-three",
        "--run",
        SMALL,
        "--no-families",
        "--out",
        out,
    )
    (stream,) = read_events(out)
    assert len(stream.cases) == 8
    assert done.code == 1
    assert any(event.verdict == "crash" for event in stream.cases) or not stream.complete
    assert "Traceback" not in done.err


def test_every_view_of_a_run_is_written(wireproof: Command, tmp_path: Path) -> None:
    files = {name: tmp_path / f"run.{name}" for name in ("junit", "markdown", "html", "badge")}
    options = [word for name, path in files.items() for word in (f"--{name}", path)]
    out = tmp_path / "run.jsonl"
    done = wireproof(
        "check",
        LENIENT,
        "reference",
        "--run",
        SMALL,
        "--no-families",
        "--out",
        out,
        "--annotations",
        *options,
    )
    assert done.code == 1
    suites = ET.parse(files["junit"]).getroot()
    assert len(list(suites.iter("testcase"))) == 16
    assert list(suites.iter("failure"))
    assert "crc-skip" in files["markdown"].read_text("utf-8")
    assert "<table" in files["html"].read_text("utf-8")
    badge = json.loads(files["badge"].read_text("utf-8"))
    assert (badge["schemaVersion"], badge["color"]) == (1, "red")
    assert "::error title=kafka.batch/v2/crc/" in done.out

    again = {name: tmp_path / f"again.{name}" for name in files}
    options = [word for name, path in again.items() for word in (f"--{name}", path)]
    assert wireproof("report", out, *options).code == 0
    for name, path in files.items():
        assert again[name].read_bytes() == path.read_bytes(), name


def test_the_table_names_formats_whole_at_80_and_at_200_columns(wireproof: Command) -> None:
    first = {case.format_id: case.id for case in reversed(load().cases)}
    runs = [word for name in first.values() for word in ("--run", name)]
    for width in (80, 200):
        done = wireproof("check", "reference", LENIENT, "--no-families", *runs, width=width)
        table = done.out[done.out.rindex("reference 0.") :].partition("\nnext:")[0]
        shown = {line.split()[0] for line in table.splitlines() if "/" in line.partition("  ")[0]}
        assert {case.format_id for case in load().cases} <= shown
        assert "…" not in table
        assert all(len(line) <= width for line in table.splitlines())


# --- the verbs on a stream ---


def streams(wireproof: Command, folder: Path) -> tuple[Path, Path]:
    good, bad = folder / "good.jsonl", folder / "bad.jsonl"
    for spec, out in (("reference", good), (LENIENT, bad)):
        wireproof("check", spec, "--run", SMALL, "--no-families", "--out", out)
    text = bad.read_text("utf-8").replace('"adapter":"crc-skip"', '"adapter":"reference"')
    bad.write_text(text, encoding="utf-8")
    return good, bad


def test_diff_says_what_broke_and_what_was_fixed(wireproof: Command, tmp_path: Path) -> None:
    good, bad = streams(wireproof, tmp_path)
    assert wireproof("diff", good, good).code == 0
    worse, better = wireproof("diff", good, bad), wireproof("diff", bad, good)
    assert (worse.code, better.code) == (1, 0)
    assert "kafka.batch/v2/crc/zero" in worse.out
    assert "kafka.batch/v2/crc/zero" in better.out


def test_each_entry_of_a_baseline_is_listed_with_its_rules_and_their_source(
    wireproof: Command, tmp_path: Path
) -> None:
    known_failures = tmp_path / "known.toml"
    entry = '[[known-failure]]\nid = "{}"\nkind = "fail:wrong-accept"\nclass = "crc-mismatch"\n'
    rest = 'reason = "nobody looks"\nowner = "me"\nexpires = 2099-01-01\n'
    ids = ("kafka.*/**~flip:*", "heka.stream/0.10/garbage/only", "kafka.batch/v2/crc/zero")
    text = "\n".join(entry.format(name) + rest for name in ids) + 'fault = "https://example.org/a.c#L7"\n'
    known_failures.write_text(text, encoding="utf-8")
    listed = wireproof("baseline", "list", known_failures, "--level", "must")
    assert listed.code == 0
    assert "kafka.batch/v2/crc/zero  fail:wrong-accept  must\n  reason  nobody looks\n" in listed.out
    assert "  reason  nobody looks\n  fault   https://example.org/a.c#L7\n  rule" in listed.out
    assert listed.out.count("  fault   ") == 1
    assert "  rule    kafka.v2.crc (text)  https://kafka.apache.org/" in listed.out
    assert re.search(r"^  rule    and \d+ more$", listed.out, re.MULTILINE)
    assert "garbage/only" not in listed.out  # a case of another level


@pytest.mark.usefixtures("stored_cases_alone")
def test_a_baseline_is_written_applied_fixed_and_checked(wireproof: Command, tmp_path: Path) -> None:
    out, known_failures = tmp_path / "run.jsonl", tmp_path / "known.toml"
    check = ("check", LENIENT, "--run", SMALL, "--no-families")
    assert wireproof(*check, "--out", out).code == 1
    written = wireproof("baseline", "write", out, "--owner", "me", "--reason", "a test")
    assert written.code == 0
    known_failures.write_text("# kept\n\n" + written.out, encoding="utf-8")
    assert wireproof("baseline", "check", known_failures).code == 0
    known = wireproof(*check, "--baseline", known_failures)
    assert known.code == 0, known.out
    assert "conforms, but for 6 known failures" in known.out

    assert wireproof("baseline", "check", known_failures, "--ratchet", known_failures).code == 0
    fewer = tmp_path / "fewer.toml"
    fewer.write_text("[[known-failure]]".join(written.out.split("[[known-failure]]")[:-1]), encoding="utf-8")
    assert wireproof("baseline", "check", fewer, "--ratchet", known_failures).code == 0
    more = wireproof("baseline", "check", known_failures, "--ratchet", fewer)
    assert more.code == 3
    assert ": a new entry (" in more.out

    past = tmp_path / "past.toml"
    past.write_text(re.sub("expires = .*", "expires = 2020-01-01", written.out), encoding="utf-8")
    expired = wireproof(*check, "--baseline", past)
    assert expired.code == 1
    assert "baseline: expired  kafka.batch/v2/crc/bit-flip-in-value on 2020-01-01, owner me" in expired.out

    whole = ("check", "reference", "--no-families")
    good = tmp_path / "good.jsonl"
    stale = wireproof(*whole, "--baseline", known_failures, "--out", good)
    assert stale.code == 3
    assert "baseline: stale" in stale.out
    assert wireproof("baseline", "fix", known_failures, good).code == 0
    assert "# kept" in known_failures.read_text("utf-8")
    assert wireproof(*whole, "--baseline", known_failures).code == 0

    known_failures.write_text(written.out.replace("crc/zero", "crc/gone"), encoding="utf-8")
    gone = wireproof("baseline", "check", known_failures)
    assert gone.code == 3
    assert "kafka.batch/v2/crc/gone" in gone.out


# --- one case ---


def test_a_case_is_replayed_by_its_id_by_a_derived_id_and_by_a_token(wireproof: Command) -> None:
    parent = "kafka.batch/v2/crc/leader-epoch-outside"
    flip = next(case for case in derived_cases(load().by_id[parent]) if case.family == "flip")
    for name in ("kafka.batch/v2/crc/zero", flip.id, to_token(flip)):
        good, bad = wireproof("replay", name, "reference"), wireproof("replay", name, LENIENT)
        assert (good.code, bad.code) == (0, 1), name
        assert "pass" in good.out
        assert "fail:wrong-accept" in bad.out


@needs("[peers]")
def test_a_case_that_the_adapter_does_not_claim_is_said_to_be_so(wireproof: Command) -> None:
    done = wireproof("replay", "iggy.identifier/0.0.30/identifier/numeric", "kio")
    assert done.code == 2
    assert "unsupported: " in done.out


def test_long_bytes_are_whole_in_a_pipe_and_begun_on_a_terminal() -> None:
    data = bytes(range(256)) * 4
    assert hex_text(data, terminal=False) == data.hex()
    assert hex_text(data, terminal=True) == f"{data[:512].hex()}… 512 more; a pipe or a file gets all"
    assert hex_text(data[:512], terminal=True) == data[:512].hex()


@pytest.mark.parametrize(
    "name",
    ["kafka.batch/v2/crc/zero", "kafka.batch/v2/encode/nulls", "kafka.log/mixed/scan/damaged-middle",
     "kafka.batch/v1/wrapper/gzip", "kafka.batch/v2/crc/leader-epoch-outside~truncate:9"],
)  # fmt: skip
def test_a_case_is_shown_with_rule_bytes_and_expectation(wireproof: Command, name: str) -> None:
    done = wireproof("show", name)
    assert done.code == 0
    assert f"id       {name}" in done.out
    assert "rule     kafka." in done.out
    assert "(unknown)" not in done.out
    assert "want     " in done.out


def test_the_cases_are_listed_by_pattern(wireproof: Command) -> None:
    done = wireproof("cases", SMALL)
    assert len(done.out.splitlines()) == 8
    assert done.err == "8 cases\n"
    assert len(wireproof("cases").out.splitlines()) == len(load().cases)


def test_patterns_are_read_from_a_file_with_comments(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "patterns"
    path.write_text(f"# some\n{SMALL}  # crc\n\n", encoding="utf-8")
    done = wireproof("check", "reference", "--no-families", "--run", f"@{path}", "--min-cases", 8)
    assert done.code == 0


# --- the suite and its adapters ---


def test_lint_counts_and_freezes(wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD, rules="rule = []\n")
    monkeypatch.setattr("wireproof.cases.fixtures.fixtures_folder", lambda: tmp_path)
    bad = wireproof("lint", "--freeze")
    assert bad.code == 5
    assert f"{GOOD['id']}: the rule shelf.number is unknown" in bad.out
    assert not (tmp_path / "frozen.json").exists()
    write(tmp_path, GOOD, {**GOOD, "id": f"{PLACE}/b-good"}, rules=RULE.replace("refusing", "value"))
    assert "2 of them not frozen" in wireproof("lint").out
    done = wireproof("lint", "--freeze")
    assert done.code == 0
    assert "2 more ids are frozen" in done.out
    assert "0 of them not frozen" in wireproof("lint").out


def test_adapters_lists_every_name_whole(wireproof: Command) -> None:
    done = wireproof("adapters", width=80)
    names = {line.split()[0] for line in done.out.splitlines()}
    assert {"reference", "kio", "kafka-clients"} <= names
    assert "…" not in done.out


@pytest.mark.usefixtures("stored_cases_alone")
def test_the_probe_of_the_reference_finds_nothing(wireproof: Command) -> None:
    done = wireproof("adapters", "probe", "reference", "--run", "kafka.batch/v2/**", "--in-process")
    assert done.code == 0
    assert "claimed and fails" not in done.out
    assert "must be refused" not in done.out


@needs("[peers]")
@pytest.mark.usefixtures("stored_cases_alone")
def test_the_probe_of_kio_shows_the_codec_bits_that_it_ignores(wireproof: Command) -> None:
    done = wireproof("adapters", "probe", "kio")
    wrongly = [line for line in done.out.splitlines() if line.startswith("accepted and must be refused: ")]
    unknown = next(line for line in wrongly if "unknown-codec" in line)
    assert "kafka.batch/v2/attributes/codec-5" in unknown
    assert any("codec-gzip-but-plain" in line for line in wrongly)
    assert "not claimed and answered: kafka.batch/v2 codec gzip" in done.out
    assert "kafka.log" not in done.out


def test_serve_answers_the_lines_of_the_contract() -> None:
    text = golden("kafka.batch/v2/crc/leader-epoch-outside")
    asked = {"op": "decode", "format": "kafka.batch", "revision": "v2"}
    lines = [
        {"hello": {"protocol": 1}},
        {"id": "7", **asked, "hex": text},
        {"id": "8", **asked, "hex": golden("kafka.batch/v2/crc/zero")},
        {"id": "9", **asked, "hex": text, "answer": "digest"},
        {"id": "10", **asked, "format": "nosuch", "hex": ""},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "wireproof", "serve", "reference", "--wire", "jsonl"],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    hello, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert hello["hello"]["name"] == "reference"
    assert set(FORMATS) <= set(hello["hello"]["revisions"])
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id["7"]["outcome"] == "accepted"
    assert by_id["7"]["consumed"] == 79
    assert by_id["7"]["value"]["partitionLeaderEpoch"] == "7"
    assert (by_id["8"]["outcome"], by_id["8"]["class"], by_id["8"]["at"]) == ("refused", "crc-mismatch", 17)
    assert len(by_id["9"]["digest"]) == 32
    assert by_id["10"]["outcome"] == "unsupported"


def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "wireproof", "cases"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        assert listing.stdout.readline().endswith("\n")
        listing.stdout.close()
        assert "Traceback" not in listing.stderr.read()
