"""A run whose reader closes the pipe, or whose output encoding lacks some characters."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from rich.console import Console

from tests.mutants.registry import spec_of
from wireproof.cli import main
from wireproof.cli.common.last_run import last_run
from wireproof.cli.common.standard_output import guarded_output

MUTANT = spec_of("mutant:iggy-identifier-unchecked")

CRC_SKIP = spec_of("mutant:crc-skip")

pytestmark = pytest.mark.usefixtures("fixtures_read_once")

ONLY = ("--run", "iggy.identifier/0.0.30/**", "--no-families", "--in-process")


@contextmanager
def gone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Standard output is a pipe whose reader has gone away."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", out)
        yield


@pytest.mark.parametrize(
    "words",
    [
        ("cases",),  # click prints, more than a buffer
        ("--version",),  # click prints less than one
        ("show", "iggy.identifier/0.0.30/identifier/string-empty"),
        ("check", "reference", *ONLY),  # rich
        ("check", MUTANT, *ONLY),
    ],
    ids=lambda words: words[0],
)
def test_a_reader_that_goes_away_is_no_verdict(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    err = io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    with gone(monkeypatch):
        assert _ended(monkeypatch, *words) == 141
    assert err.getvalue() == ""


@pytest.mark.parametrize("columns", ["0", "1", "-5"])
def test_a_run_is_printed_on_a_terminal_that_says_it_has_no_width(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert _ended(monkeypatch, "check", MUTANT, *ONLY) == 1
    assert "exit code 1" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("own_memory")
def test_what_was_judged_before_the_reader_went_away_is_the_last_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with gone(monkeypatch):
        assert _ended(monkeypatch, "check", MUTANT, *ONLY) == 141
    stored = last_run()
    assert [finding.spec for finding in stored.findings] == [MUTANT]
    assert any('"fail"' in line for line in Path(stored.file).read_text("utf-8").splitlines())


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_stream_that_the_caller_has_closed_is_empty_and_swallows_what_is_written(number: int) -> None:
    words = f"{sys.executable} -m wireproof explain - iggy.identifier {number}>&-"
    done = subprocess.run(["sh", "-c", words], input=b"", capture_output=True, check=False)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_an_error_that_prints_nothing_there_keeps_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    with gone(monkeypatch):
        assert _ended(monkeypatch, "check", "reference", "--run", "none-such") == 2


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize(
    "words",
    [
        ("check", "--help"), ("show", "né\ud800"), ("check", MUTANT, *ONLY), ("explain", "000102"),
        ("adapters",), ("show", "kafka.batch/v2/crc/bit-flip-in-value"), ("show",),
    ],
    ids=["help", "an error", "a matrix", "explain", "adapters", "a case", "formats"],
)  # fmt: skip
def test_output_in_any_encoding_changes_no_exit_code(
    encoding: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, err = io.BytesIO(), io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding=encoding))
    code = {"né\ud800": 2, MUTANT: 1, "000102": 2}.get(words[-1] if words[0] != "check" else words[1], 0)
    assert _ended(monkeypatch, *words) == code
    assert out.getvalue().decode(encoding).isascii() or encoding != "ascii"
    assert b"Traceback" not in err.getvalue()
    assert b"bug of the suite" not in err.getvalue()
    assert out.getvalue() or err.getvalue()


def test_a_sign_of_rich_that_the_encoding_has_not_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(data, encoding="ascii"))
    with guarded_output():
        Console().print("né…", soft_wrap=True)
    assert data.getvalue() == rb"n\xe9\u2026" + b"\n"


SLOW_VERBS = [("lint",), ("export", "--out", "OUT")]


@pytest.mark.parametrize("words", [pytest.param(words, marks=pytest.mark.sweeps) for words in SLOW_VERBS] + [
    ("check", MUTANT, *ONLY, "--out", "OUT"),
], ids=lambda words: words[0])  # fmt: skip
def test_a_process_in_the_locale_c_ends_as_in_any_other(words: tuple[str, ...], tmp_path: Path) -> None:
    words = tuple(str(tmp_path / "out") if word == "OUT" else word for word in words)
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment.pop("PYTHONIOENCODING", None)
    done = subprocess.run(
        [sys.executable, "-m", "wireproof", *words], capture_output=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == (1 if words[0] == "check" else 0), done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout.isascii()


def test_marks_point_to_their_bytes_in_ascii_too(monkeypatch: pytest.MonkeyPatch) -> None:
    wide, narrow = (
        _printed(monkeypatch, encoding, "replay", "kafka.batch/v2/crc/bit-flip-in-value", CRC_SKIP)
        for encoding in ("utf-8", "ascii")
    )
    columns = [text.splitlines()[_marked(text)].index("^^ crc") for text in (wide, narrow)]
    bytes_above = [text.splitlines()[_marked(text) - 1] for text in (wide, narrow)]
    assert columns[0] == columns[1]
    assert bytes_above[0].replace("│", "|")[: columns[0] + 2] == bytes_above[1][: columns[0] + 2]


def _marked(text: str) -> int:
    return next(number for number, line in enumerate(text.splitlines()) if "^^ crc" in line)


def _printed(monkeypatch: pytest.MonkeyPatch, encoding: str, *words: str) -> str:
    out = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
        assert _ended(patch, *words) == 1
        return out.getvalue().decode(encoding)


def _ended(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    monkeypatch.setattr(sys, "argv", ["wireproof", *words])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


@pytest.mark.parametrize("words", [("adapters",), ("show", "kafka.batch"), ("cases", "kafka.batch/v2/crc/*")])
def test_a_terminal_of_60_columns_without_colour_shows_plain_lines(words: tuple[str, ...]) -> None:
    outer, inner = os.openpty()  # type: ignore[attr-defined, unused-ignore] - not on Windows
    env = os.environ | {"COLUMNS": "60", "NO_COLOR": "1", "TERM": "xterm", "LC_ALL": "C"}
    env.pop("PYTHONIOENCODING", None)
    with subprocess.Popen([sys.executable, "-m", "wireproof", *words], stdout=inner, env=env) as process:
        os.close(inner)
        text = b""
        with suppress(OSError):  # Linux ends a terminal with an error
            while block := os.read(outer, 65536):
                text += block
    os.close(outer)
    assert process.returncode == 0
    assert b"\x1b" not in text
    lines = text.decode().splitlines()
    assert lines
    about = [line for line in lines if line.startswith("    ")]
    assert max(map(len, lines if words[0] == "show" else about), default=0) <= 60
    if words[0] == "adapters":
        assert "aiokafka-pure  ready" in text.decode()
        assert len(about) > 20
