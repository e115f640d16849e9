"""Bad input of the commands: one line that says what is wrong, and an exit code."""

import sys
from pathlib import Path

import pytest
from command_line import Command
from each import each
from fixture_folders import GOOD, write
from folders import SUPPORT

from wireproof.install_hint import install_command

SMALL = "kafka.batch/v2/crc/*"
FAULTY = SUPPORT / "faulty_adapter.py"
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
    (("--fixtures", "/no/such/dir", "check", "reference"), 2, "/no/such/dir"),
    (("check", "reference", "--run", SMALL, "--skip", SMALL), 2, "no case was judged"),
    (("check", "reference", "--run", SMALL, "--no-families", "--min-cases", "99"), 2, "8 cases were judged"),
    (("check", "reference", "--run", SMALL, "--out", "/no/such/dir/x"), 2, "/no/such/dir/x"),
    (("cases", "nosuch/**"), 2, "no case matches nosuch/**"),
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
)  # fmt: skip


def named(words: tuple[str, ...]) -> str:
    """Name a command in an id, the same on every machine: without the folders of our own programs."""
    text = " ".join(words).replace(sys.executable, "python3").replace(str(FAULTY), FAULTY.name)
    return text[:60] or "nothing"


@each("words, code, said", BAD)
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
    (
        "py:needy:Mine",
        4,
        "cannot be imported: needy.py line 3: ModuleNotFoundError: No module named 'no_s",
    ),
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
    done = wireproof("check", spec, "--run", SMALL, *more)
    assert done.code == code
    assert said in done.one_line()


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
    for verb in (
        ("report", path),
        ("diff", path, path),
        ("baseline", "add", tmp_path / "new.toml", path, "--owner", "me"),
    ):
        done = wireproof(*verb)
        assert done.code == 2
        line = done.one_line()
        assert said in line or "holds" in line


def test_a_fixture_with_a_wrong_field_is_one_line_of_the_suite(wireproof: Command, tmp_path: Path) -> None:
    write(tmp_path, {**GOOD, "titel": "x"})
    for verb in (("check", "reference"), ("cases",), ("lint",)):
        done = wireproof("--fixtures", tmp_path, *verb)
        assert done.code == 5
        assert f"{GOOD['id']}: case has no field 'titel'" in done.one_line()


def test_a_file_that_may_not_be_read_is_one_line(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof("check", "reference", "--baseline", tmp_path)
    assert done.code == 2
    assert "is a directory" in done.one_line()


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

    monkeypatch.setattr("wireproof.lint.states.state_table", broken)
    done = wireproof("lint")
    assert done.code == 5
    assert "ZeroDivisionError: ours" in done.err
    assert done.err.splitlines()[-1].startswith("wireproof: a bug of the suite")
