"""Bad input of the commands and files of strangers: one line that says what is wrong, and an exit code."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command
from each import each
from explain_runs import SEGMENT
from fixture_folders import BAD, GOOD, PLACE, RULE, write
from folders import SUPPORT, TOP

from wireproof import cli
from wireproof.cli.common import general_options
from wireproof.files import open_locked
from wireproof.install_hint import install_command
from wireproof.run.exit_codes import Exit

SMALL = "kafka.batch/v2/crc/*"
VERIFIER = "@2026.12:heka-verifier"
FAULTY = SUPPORT / "faulty_adapter.py"
BAD_WORDS = (
    ((), 2, "Usage"),
    (("nosuch",), 2, "there is no verb nosuch: run `wireproof --help` for the list"),
    (("chekc",), 2, "there is no verb chekc: did you mean check?"),
    (("check", "nosuch"), 2, "unknown adapter nosuch: run `wireproof adapters` for the list"),
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
    (("--fixtures", "/no/such/dir", "check", "reference"), 2, "/no/such/dir"),
    (("check", "reference", "--run", SMALL, "--skip", SMALL), 2, "no case was judged"),
    (("check", "reference", "--run", SMALL, "--no-families", "--min-cases", "99"), 2, "8 cases were judged"),
    (("check", "reference", "--run", SMALL, "--out", "/no/such/dir/x"), 2, "/no/such/dir/x"),
    (("cases", "nosuch/**"), 2, "no case matches nosuch/**"),
    (("cases", "kafka.btch/**"), 2, "no case matches kafka.btch/**: did you mean kafka.batch/**?"),
    *((words, 2, "kafka.batch/v[12]: brackets are not supported in patterns") for words in (
        ("interop", "reference", "reference", "--format", "kafka.batch/v[12]"),
        ("fuzz", "reference", "--format", "kafka.batch/v[12]"),
    )),
    *((words, 2, "kafka.batch/v[12]/**: brackets are not supported in patterns") for words in (
        ("check", "reference", "--run", "kafka.batch/v[12]/**"),
        ("check", "reference", "--skip", "kafka.batch/v[12]/**"),
        ("cases", "kafka.batch/v[12]/**"),
        ("show", "kafka.batch/v[12]/**"),
    )),
    (("show", "kafka.batch/v2/crc/zerro"), 2, "did you mean kafka.batch/v2/crc/zero?"),
    (("show", "kafka.batch/v2/crc/zero~flip:0"), 2, "no case"),
    (("show", "wp1:AAAA"), 2, "the token is damaged"),
    (("show", "wp2:AAAA"), 2, "called wp2:AAAA"),
    (("replay", "@/no/such/token", "reference"), 2, "cannot be read"),
    (("replay", "kafka.batch/v2/crc/zero", "nosuch"), 2, "unknown adapter nosuch"),
    (("explain", "xyz"), 2, "xyz is neither a file nor hex"),
    (("explain", "abc"), 2, "abc is neither a file nor hex"),
    (("explain", "z" * 5000), 2, "is neither a file nor hex"),
    (("explain", ""), 2, "(nothing) is neither a file nor hex"),
    (("explain", "/dev/null"), 2, "/dev/null"),
    (("explain", "00", "--format", "kafka.batsh/v2"), 2, "kafka.batsh/v2: did you mean kafka.batch/v2?"),
    (("explain", "00", "--format", "nosuch"), 2, "unknown format nosuch"),
    (("explain", "00", "--at", "@-5"), 2, "@-5 is neither an offset"),
    (("fuzz", "reference", "--format", "nosuch"), 2, "nosuch: list them with `wireproof show`"),
    (("check", "reference", "--run", SMALL, "--out", "x", "--html", "./x"), 2, "x is named twice"),
    (("check", "reference", "--baseline", str(FAULTY), "--junit", str(FAULTY)), 2, "named twice"),
    (("report", str(FAULTY), "--markdown", str(FAULTY)), 2, "is named twice"),
    (("report", "/no/such/file"), 2, "/no/such/file"),
    (("report", "/dev/null"), 2, "holds no run"),
    (("diff", "/dev/null", "/dev/null"), 2, "holds no run"),
    (("baseline", "add", "no.toml", "/dev/null", "--owner", "me"), 2, "holds no run"),
    (("serve", "nosuch"), 2, "unknown adapter nosuch"),
    (("adapters", "probe", "nosuch"), 2, "unknown adapter nosuch"),
    (("check", "reference", "--run", "kafka.batch/v2/crc"), 2, "write 'kafka.batch/v2/crc/*' for the "),
    (("check", "reference", "--run", "kafka.batch/v2/"), 2, "write 'kafka.batch/v2/**' for the cases in it"),
    (("check", "reference", "--run", "kafka.batch"), 2, "write 'kafka.batch/**' for the cases in it"),
    (("check", "reference", "--run", "crc"), 2, "write '**/crc/*' for the cases in it"),
    (("check", "reference", "--run", "kafka.v2.crc"), 2, "`wireproof show kafka.v2.crc` lists its cases"),
    (("--fixtures", "/no/such/dir", "lint"), 2, "/no/such/dir"),
    (("check", "reference", "--no-golden"), 2, "--property"),
    (("check", "reference", "--run", SMALL, "--shard", "1/2", "--property", "3"), 2, "leave one of them out"),
    (("check", "reference", "--run", "kafka.batch/v2/size/none-records-1310*"), 2, "is large: add --large"),
    (("check", "reference", "--run", SMALL, "--in-process", "--trace", "t"), 2, "--in-process"),
    (("explain", "--headers", "--records", str(SEGMENT)), 2, "--headers reads no records"),
    (("explain", "--headers", "--fields", str(SEGMENT)), 2, "--headers reads no records"),
    (("check", "reference", "--run", "@2026.12:heka-verifie"), 2, "did you mean heka-verifier?"),
    (("check", "reference", "--run", "@1999.01:heka-reader"), 2, "the dates: 2026.12"),
    *((("check", "reference", "--run", VERIFIER, *more), 2, "runs the whole set alone") for more in (
        ("--run", "heka.**"), ("--run", "@2026.12:heka-reader"), ("--skip", "heka.**"),
        ("--property", "3"), ("--no-golden",),
    )),
    (("interop", "reference", "--count", "1"), 2, "no format that one of them writes"),
    (("interop", "--format", "nosuch"), 2, "no format is called nosuch"),
    (("interop", "reference", "kio", "--format", "heka.*", "--count", "1"), 2, "no format that one of them"),
)  # fmt: skip


@each("words, code, said", BAD_WORDS)
def test_bad_input_is_one_line_and_its_exit_code(
    wireproof: Command, words: tuple[str, ...], code: int, said: str
) -> None:
    done = wireproof(*words)
    assert said in done.err
    assert done.code == code
    if words:
        done.one_line()


MINE = {
    "mine.py": "def help(): ...\nclass Mine:\n    name = version = '1'\n    def decode(self, request): ...\n",
    "needy.py": "import os\n\nimport no_such_library\n",
    "torn.py": "x = (\n",
    "sad.py": "class Mine:\n    def __init__(self):\n        raise KeyError('no file')\n",
    "nameless.py": "class Mine: ...\n",
    "below/deep.py": "def made(): ...\n",
    "built": "#!/bin/sh\n",
    "below/built": "#!/bin/sh\n",
    "main.go": "package main\n",
}
"""Files of an author, by name."""

WRITTEN = (
    ("mine.py", 2, "unknown adapter mine.py: write py:mine:Mine"),
    ("./mine.py", 2, "write py:mine:Mine"),
    ("mine", 2, "unknown adapter mine: write py:mine:Mine"),
    ("mine:Other", 2, "unknown adapter mine:Other: write py:mine:Other"),
    ("mine.py:Mine", 2, "write py:mine:Mine"),
    ("below/deep.py", 2, "write py:below.deep:made"),
    ("built", 2, "unknown adapter built: write exec:./built"),
    ("below/built", 2, "write exec:below/built"),
    ("main.go", 2, "it cannot be executed: build it, and write exec:COMMAND"),
    ("torn.py", 2, "write py:torn:NAME"),
    ("py:mine", 2, "py:mine: write py:mine:Mine"),
    ("py:mine.py:Mine", 2, "py:mine.py:Mine: write py:mine:Mine"),
    ("py:mine:Nope", 4, "py:mine:Nope: mine has no Nope: known names: help, Mine"),
    ("py:mine:mine", 4, "mine has no mine: did you mean Mine?"),
    ("py:needy:Mine", 4, "cannot be imported: needy.py line 3: ModuleNotFoundError: No module named 'no_s"),
    ("py:torn:Mine", 4, "cannot be imported: SyntaxError: '(' was never closed (torn.py, line 1)"),
    ("py:sad:Mine", 4, "cannot be made: sad.py line 3: KeyError: 'no file'"),
    ("py:nameless:Mine", 4, "Mine: name is missing"),
    ("py:nosuch:Mine", 4, "cannot be imported: there is no module nosuch in "),
)


@pytest.mark.parametrize(("spec", "code", "said"), WRITTEN, ids=[row[0] for row in WRITTEN])
@pytest.mark.parametrize("more", [(), ("--in-process",)], ids=["worker", "in process"])
def test_an_object_that_is_named_wrongly_is_one_line_that_says_what_to_type(
    wireproof: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spec: str,
    code: int,
    said: str,
    more: tuple[str, ...],
) -> None:
    for name, text in MINE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755 if text.startswith("#!") else 0o644)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    assert said in wireproof("check", spec, "--run", SMALL, *more, code=code).one_line()


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "Expecting property name"), ('{"event": "case"}\n', "x.jsonl:1"), ("\x00\xff\n", "x.jsonl:1")],
)
def test_a_damaged_stream_is_one_line_with_its_line(
    wireproof: Command, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(text.encode("latin-1"))
    for verb in (
        ("report", path),
        ("diff", path, path),
        ("baseline", "add", tmp_path / "new.toml", path, "--owner", "me"),
    ):
        line = wireproof(*verb, code=2).one_line()
        assert said in line or "holds" in line


def test_a_fixture_with_a_wrong_field_is_one_line_of_the_suite(wireproof: Command, tmp_path: Path) -> None:
    write(tmp_path, {**GOOD, "titel": "x"})
    for verb in (("check", "reference"), ("cases",), ("lint",)):
        done = wireproof("--fixtures", tmp_path, *verb, code=5)
        assert f"{GOOD['id']}: case has no field 'titel'" in done.one_line()


def test_a_file_that_may_not_be_read_is_one_line(wireproof: Command, tmp_path: Path) -> None:
    assert "is a directory" in wireproof("check", "reference", "--baseline", tmp_path, code=2).one_line()


def test_a_missing_extra_says_what_to_install(wireproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {"kio", *(name for name in sys.modules if name.startswith("kio."))}:
        monkeypatch.setitem(sys.modules, name, None)  # a submodule that is there is found without its parent
    monkeypatch.delitem(sys.modules, "kio_adapter", raising=False)
    assert install_command("peers") in wireproof("check", "kio", "--in-process", code=4).one_line()


def test_a_bug_of_the_suite_keeps_its_traceback_and_has_its_own_code(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("wireproof.lint.states.state_table", broken)
    done = wireproof("lint", code=5)
    assert "ZeroDivisionError: ours" in done.err
    assert done.err.splitlines()[-1].startswith("wireproof: a bug of the suite")


# --- files of strangers ---


DEEP = "[" * 5000 + "]" * 5000


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "no text": lambda path: path.write_bytes(b"# \xff\n"),
    "too deep": lambda path: path.write_text("known-failure = [\n" + "[\n" * 5000 + "]\n" * 5000 + "]"),
    "a folder": Path.mkdir,
}
"""What may stand where a file is wanted."""


@pytest.mark.parametrize(
    ("words", "kinds", "said"),
    [
        (("baseline", "check", "{}"), ("a device", "no text", "too deep", "a pipe"), "given"),
        (("replay", "@{}", "reference"), ("a device", "a pipe"), "not a regular file"),
        (("check", "reference", "--run", "@{}"), ("a device", "no text", "a pipe", "a folder"), "given: "),
    ],
    ids=["baseline", "token", "patterns"],
)
def test_a_file_that_cannot_be_read_is_one_line(
    tmp_path: Path, wireproof: Command, words: tuple[str, ...], kinds: tuple[str, ...], said: str
) -> None:
    for kind in kinds:
        path = tmp_path / kind / "given"
        path.parent.mkdir()
        UNREADABLE[kind](path)
        assert said in wireproof(*(word.format(path) for word in words), code=Exit.USAGE).one_line(), kind


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("name", ["rules.toml", "0.0.30/shelf.json", "0.0.30/shelf.long.bin"])
def test_fixtures_that_cannot_be_read_are_one_line(
    tmp_path: Path, wireproof: Command, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, empty = tmp_path / "own", tmp_path / "empty"
    write(own, {**GOOD, "input": {"file": "shelf.long.bin", "sha256": "0" * 64}})
    empty.mkdir()
    path = own / "iggy.identifier" / name
    path.unlink(missing_ok=True)
    UNREADABLE[kind](path)
    for shipped, words in (
        (empty, ("--fixtures", own, "cases")),
        (own, ("lint",)),
    ):  # and no others, to be quick
        monkeypatch.setattr("wireproof.cases.fixtures.fixtures_folder", lambda shipped=shipped: shipped)
        assert path.name in wireproof(*words, code=Exit.SUITE).one_line()


def test_a_stream_that_another_run_writes_is_left_to_it(tmp_path: Path, wireproof: Command) -> None:
    with open_locked(tmp_path / "run.jsonl") as out:
        out.write("the other's\n")
        done = wireproof("check", "reference", *ONLY, "--out", tmp_path / "run.jsonl", code=Exit.USAGE)
        assert "run.jsonl: another run is writing it: wait" in done.one_line()
        assert (tmp_path / "run.jsonl").read_text() == "the other's\n"
    assert wireproof("check", "reference", *ONLY, "--out", tmp_path / "run.jsonl").code == Exit.CONFORMS


ONLY = ("--run", "iggy.identifier/0.0.30/**", "--no-families", "--in-process")


def test_a_stream_of_one_line_without_end_is_one_line(wireproof: Command) -> None:
    assert "/dev/zero:1: a line of" in wireproof("report", "/dev/zero", code=Exit.USAGE).one_line()


def test_no_id_leads_an_export_out_of_its_folder(
    tmp_path: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.cases.fixtures.fixtures_folder", lambda: tmp_path / "none")  # to be quick
    write(tmp_path / "fixtures", {**GOOD, "id": f"{PLACE}/../../../../../OUTSIDE/x"})
    done = wireproof(
        "--fixtures", tmp_path / "fixtures", "export", "--out", tmp_path / "a/b/c/out", code=Exit.SUITE
    )
    assert "its id does not fit its file" in done.one_line()
    assert {path.name for path in tmp_path.iterdir()} == {"fixtures"}


def test_a_token_that_is_no_whole_case_is_one_line_for_each_verb_that_takes_one(
    tmp_path: Path, wireproof: Command
) -> None:
    (tmp_path / "token").write_text(json.dumps(DEEP))
    for verb in (("replay", "reference"), ("shrink", "reference"), ("show",)):
        done = wireproof(verb[0], f"@{tmp_path}/token", *verb[1:])
        assert (done.code, "a token begins with wp1:" in done.one_line()) == (Exit.USAGE, True)


# --- verbs and options that are gone ---


@each("verb", general_options.VERBS)
def test_a_verb_that_is_gone_says_what_replaces_it(wireproof: Command, verb: str) -> None:
    done = wireproof(*verb.split(), "a", "--b")
    assert (done.code, done.one_line()) == (
        2,
        f"wireproof: there is no verb {verb} any more: {general_options.VERBS[verb]}",
    )
    assert verb not in cli.VERBS


@each("command, option", general_options.OPTIONS)
def test_an_option_that_is_gone_says_what_replaces_it(wireproof: Command, command: str, option: str) -> None:
    done = wireproof(*command.split(), option, "x", "y")
    line = f"wireproof: {command} has no option {option} any more: {general_options.OPTIONS[command, option]}"
    assert (done.code, done.one_line()) == (2, line)


@each("command", ["adapters probe", "baseline list", "cases", "check", "lint", "show"])
def test_an_option_that_stands_before_the_verb_now_says_so(wireproof: Command, command: str) -> None:
    done = wireproof(*command.split(), "--fixtures", "x", "y")
    where = f"`wireproof --fixtures DIR {command} …` has it before the verb"
    line = f"wireproof: {command} has no option --fixtures any more: {where}"
    assert (done.code, done.one_line()) == (2, line)
    done = wireproof("replay", "--timeout-scale", "2")
    assert "`wireproof --timeout-scale N replay …` has it before the verb" in done.one_line()


PAGES = [
    TOP / "README.md",
    *(TOP / "reference" / "docs").glob("*.md"),
    *(path for folder in (".github", ".ci") for path in (TOP / folder).rglob("*") if path.is_file()),
]


@each("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_no_document_has_what_is_gone(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not [verb for verb in general_options.VERBS if re.search(rf"wireproof {verb}\b", text)]
    options = general_options.OPTIONS
    typed = [row for row in options if re.search(rf"wireproof {row[0]}\b[^`\n]*{row[1]}(?![\w-])", text)]
    assert typed == []


# --- `lint DIR`: the fixtures of a user's folder alone ---


@pytest.mark.parametrize("form", ["argument", "option"])
def test_a_folder_is_reported_alone_with_its_problems_last(
    wireproof: Command, tmp_path: Path, form: str
) -> None:
    write(tmp_path, {**GOOD, "rules": ["shelf.none", *GOOD["rules"]]}, BAD, rules=RULE)
    words = ("lint", tmp_path) if form == "argument" else ("--fixtures", tmp_path, "lint")
    done = wireproof(*words)
    count, *problems, last = done.out.splitlines()
    assert done.code == 5
    assert count == "2 cases, 2 of them not frozen; 1 rule"
    assert problems == [f"{GOOD['id']}: the rule shelf.none is unknown"]
    assert last == "1 problem"


def cut(path: Path) -> None:
    path.write_text(path.read_text("utf-8")[:200], encoding="utf-8")


def twice(path: Path) -> None:
    write(path.parents[2], GOOD, GOOD, BAD)


def other_bytes(path: Path) -> None:
    (path.parent / "shelf.a-good.bin").write_bytes(b"x")
    write(path.parents[2], {**GOOD, "input": {"file": "shelf.a-good.bin", "sha256": "0" * 64}}, BAD)


@pytest.mark.parametrize(
    ("spoil", "names", "said"),
    [
        (cut, "shelf.json", "correct or restore it"),
        (twice, GOOD["id"], "correct or restore it"),
        (other_bytes, GOOD["id"], "has another sha256 than the case says: correct or restore it"),
    ],
)
def test_a_bad_file_is_one_line_that_names_the_place_and_counts_last(
    wireproof: Command, tmp_path: Path, spoil: Callable[[Path], None], names: str, said: str
) -> None:
    spoil(write(tmp_path, GOOD, BAD, rules=RULE))
    done = wireproof("lint", tmp_path)
    lines = [*done.out.splitlines(), *done.err.splitlines()]
    assert done.code == 5
    assert sum(names in line and said in line for line in lines) == 1, lines
    assert lines[-1].endswith("1 problem")
