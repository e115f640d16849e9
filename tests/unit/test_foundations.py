"""What every part stands on: whole files, strict JSON and TOML, close names, the functions of the API."""

import os
import signal
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread
from typing import Any, Literal

import pytest
from attrs import field, frozen
from each import each
from kill_inside_call import every_kill, killed_at

from wireproof import Options, UnknownFormat, check, decode, encode, explain, files, scan, to_json
from wireproof.adapters import Rejected
from wireproof.adapters.errors import UnknownAdapter
from wireproof.cases.id_patterns import PatternError
from wireproof.files import FileInUseError, open_locked, read_limited_bytes, replace_text
from wireproof.strategies import value_classes
from wireproof.strict_parsing import (
    JSON_NAME,
    MAX_JSON_VALUES,
    MAX_TOML_LINE,
    MAX_TOML_SIZE,
    STRICT,
    FieldError,
    Reader,
    count,
    parse_json,
    parse_toml,
    refuse_repeated_keys,
    structure,
    to_tree,
)
from wireproof.suggestions import suggestion


@every_kill
@pytest.mark.parametrize("at", ["fchmod", "fsync", "replace"])
def test_a_kill_inside_a_replacement_leaves_the_old_file_whole(
    tmp_path: Path, at: str, kill: signal.Signals
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    killed_at(f"os.{at}", kill, lambda: replace_text(path, "new"))
    assert path.read_text() == "old"
    replace_text(path, "newest")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("file", "newest")]


def test_an_error_or_an_interrupt_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for error in (OSError(28, "No space left"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            files.replace_file(path, _raising(error))
    assert not list(tmp_path.iterdir())
    with pytest.raises(OSError, match=r"No space left: '.*/file'"):
        files.replace_file(path, _raising(OSError(28, "No space left")))


def _raising(error: BaseException) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text("ne")
        raise error

    return write


def test_a_mode_is_kept_and_a_link_is_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    replace_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_what_is_no_regular_file_is_written_directly() -> None:
    replace_text(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()


def test_a_second_writer_of_the_same_file_waits_for_the_first(tmp_path: Path) -> None:
    path = tmp_path / "file"
    second = Thread(target=replace_text, args=(path, "second"))

    def write(draft: Path) -> None:
        draft.write_text("first")
        second.start()
        second.join(0.1)
        assert second.is_alive()

    files.replace_file(path, write)
    second.join()
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("file", "second")]


def test_a_file_that_a_run_writes_is_refused_to_a_second_one(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with open_locked(path) as out:
        out.write("one\n")
        with pytest.raises(FileInUseError, match=r"run\.jsonl: another run is writing it"), open_locked(path):
            pass
        assert path.read_text() == "one\n"  # at once, and the second run has taken nothing away
    with open_locked(path) as out:
        assert path.read_text() == ""


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: os.mkfifo(folder / "x"), "not a regular file"),
        (lambda folder: (folder / "x").symlink_to("/dev/zero"), "not a regular file"),
        (lambda folder: (folder / "x").mkdir(), "not a regular file"),
        (lambda folder: (folder / "x").write_bytes(bytes(101)), "larger than 100 bytes"),
        (lambda _: None, "No such file"),
    ],
    ids=["pipe", "device", "folder", "too large", "missing"],
)
def test_a_file_is_read_within_its_bound_and_never_waited_for(
    tmp_path: Path, make: Callable[[Path], object], said: str
) -> None:
    make(tmp_path)
    with pytest.raises(OSError, match=said):
        read_limited_bytes(tmp_path / "x", 100)


# --- JSON and TOML of strangers ---


@each(
    "parse, text, said",
    [
        (parse_json, "[" * 200_000, "nested too deeply"),
        (parse_json, "[" + "[]," * MAX_JSON_VALUES, "more than 250,000 values"),
        (parse_json, b"\xff\xfe1\0", "can't decode"),
        (parse_json, "{", "Expecting"),
        (parse_toml, "a = " + "[" * 1900 + "]" * 1900, "nested too deeply"),
        (parse_toml, "a = [\n" + "[\n" * 5000 + "]\n" * 5000 + "]", "nested too deeply"),
        (parse_toml, "a" * (MAX_TOML_LINE + 1) + " = 1", "line 1 is longer than 4,096"),
        (parse_toml, "#\n" * MAX_TOML_SIZE, "larger than 4,194,304"),
        (parse_toml, "a = ", "Invalid value"),
    ],
)
def test_what_is_wrong_is_a_value_error_of_one_line(
    parse: Callable[[Any], Any], text: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=said) as error:
        parse(text)
    assert "\n" not in str(error.value)


def test_the_memory_of_json_is_bounded_by_its_values_and_its_length() -> None:
    text = "[" + "[]," * 20_000_000
    tracemalloc.start()
    with pytest.raises(ValueError, match="values"):
        parse_json(text)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


# --- objects ---


@frozen
class Inner:
    ms: int = 3


@frozen
class Outer:
    cls: Literal["a", "b"] = field(metadata={JSON_NAME: "class"})
    number: int | None = None
    texts: tuple[str, ...] = ()
    inner: Inner = field(default=Inner())
    by_name: Mapping[str, str] = field(factory=dict)
    list_of: tuple[Inner, ...] = ()
    data: bytes = b""
    at: int | str | None = None


@each(
    "tree, text",
    [
        ([], "row must be an object, got []"),
        ({}, "class is missing"),
        ({"clas": "a"}, "row has no field 'clas'"),
        ({"class": "c"}, "class must be one of a, b, got 'c'"),
        ({"class": "a", "number": True}, "number must be a whole number, got True"),
        ({"class": "a", "number": "1"}, "number must be a whole number, got '1'"),
        ({"class": "a", "texts": "x"}, "texts must be a list, got 'x'"),
        ({"class": "a", "texts": ["x", 1]}, "texts[1] must be a string, got 1"),
        ({"class": "a", "inner": {"ms": None}}, "inner.ms must be a whole number, got None"),
        ({"class": "a", "inner": {"s": 1}}, "inner has no field 's'"),
        ({"class": "a", "by_name": []}, "by_name must be an object, got []"),
        ({"class": "a", "by_name": {"A": 1}}, "by_name['A'] must be a string, got 1"),
        ({"class": "a", "list_of": [{}, {"ms": 1.0}]}, "list_of[1].ms must be a whole number, got 1.0"),
        ({"class": "a", "data": "AB"}, "data must be bytes in lower-case hex, got 'AB'"),
        ({"class": "a", "at": "17"}, "at must be a position such as 17 or 61>3, got '17'"),
    ],
)
def test_a_fault_is_one_line_that_names_the_field(tree: Any, text: str) -> None:
    with pytest.raises(FieldError) as caught:
        structure(tree, Outer, "row")
    assert str(caught.value) == text


def test_what_it_reads_it_writes_without_the_defaults() -> None:
    tree = {"class": "a", "number": 4, "list_of": [{"ms": 4}], "at": "61>3"}
    read = structure(tree, Outer, "row")
    assert read == Outer("a", 4, list_of=(Inner(4),), at="61>3")
    assert to_tree(read, without_defaults=True) == tree
    assert structure(to_tree(read), Outer, "row") == read


def test_the_hook_of_a_field_is_read_in_its_place_and_none_leaves_the_field_out() -> None:
    reader = Reader({(Inner, "ms"): count, (Outer, "texts"): None, (Outer, "number"): int})
    assert reader.read({"class": "a", "inner": {"ms": 0}}, Outer, "row") == Outer("a", inner=Inner(0))
    for tree, text in (
        ({"class": "a", "list_of": [{"ms": -1}]}, "list_of[0].ms must be a whole number from 0 on, got -1"),
        ({"class": "a", "texts": []}, "row has no field 'texts'"),
        ({"class": "a", "number": None}, "number must be a whole number, got None"),
    ):
        with pytest.raises(FieldError) as caught:
            reader.read(tree, Outer, "row")
        assert str(caught.value) == text


def test_a_text_is_read_as_its_tree_is_and_its_faults_have_the_name_of_their_place() -> None:
    assert STRICT.decode(b'{"class": "a", "data": "00ff"}', Outer, "row") == Outer("a", data=b"\x00\xff")
    with pytest.raises(FieldError, match=r"row\.inner\.ms must be a whole number, got 'x'"):
        STRICT.decode(b'{"class": "a", "inner": {"ms": "x"}}', Outer, "row", at="row")
    for text, said in ((b"{", "Expecting"), (b"[" * 100_000, "nested too deeply"), (b"\xff", "can't decode")):
        with pytest.raises(ValueError, match=said):
            STRICT.decode(text, Outer, "row")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": [], "\\u0061": 2}}]'])
def test_a_key_twice_is_refused_however_it_is_written(text: str) -> None:
    with pytest.raises(ValueError, match="the key a is repeated"):
        refuse_repeated_keys(text.encode())


READ_TOGETHER = """
import sys
from threading import Barrier, Thread
from wireproof.adapters.contract import Hello
from wireproof.strict_parsing import Reader

sys.setswitchinterval(1e-6)
for _ in range(100):
    reader, together = Reader(), Barrier(8)

    def read():
        together.wait()
        claims = {"kafka.batch/v2": {"ops": ["decode"]}}
        reader.read({"name": "n", "version": "1", "revisions": claims}, Hello, "hello")

    threads = [Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_threads_that_read_a_class_for_the_first_time_do_not_end_the_process() -> None:
    """The worker of a live server begins with 16 cases, each in a thread: it died with SIGSEGV."""
    done = subprocess.run([sys.executable, "-c", READ_TOGETHER], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- suggestions for a misspelled name ---


def test_few_known_names_are_listed_and_many_are_counted() -> None:
    assert suggestion("x", ["one", "two"]) == "known names: one, two"
    assert suggestion("x", [f"n{n}" for n in range(12)]).endswith("n9 and 2 more")
    assert suggestion("x", [], "look there") == "look there"
    assert suggestion("x", []) == "there is none"


# --- the functions that `wireproof` exports ---


IDENTIFIER = "iggy.identifier/0.0.30"
SEVEN = bytes.fromhex("010407000000")


def test_what_was_encoded_is_decoded() -> None:
    decoded = decode(IDENTIFIER, SEVEN + b"more")
    assert decoded.value == {"kind": "numeric", "value": "07000000"}
    assert (decoded.consumed, decoded.remarks) == (6, ())
    assert encode(IDENTIFIER, decoded.value) == SEVEN


def test_a_drawn_value_is_encoded_by_its_json_form() -> None:
    identifier = value_classes("iggy.identifier", "0.0.30")["Identifier"]
    value = identifier(kind="numeric", value=bytes.fromhex("07000000"))
    assert encode(IDENTIFIER, to_json(value), Options(profile="produce")) == SEVEN


def test_bytes_that_are_refused_are_explained_up_to_the_fault() -> None:
    explained = explain(IDENTIFIER, SEVEN[:4])
    assert [field.path for field in explained.fields] == ["kind", "length"]
    assert isinstance(explained.refusal, Rejected)
    assert (explained.value, explained.refusal.cls) == (None, "truncated")
    with pytest.raises(Rejected, match="truncated at 2, value"):
        decode(IDENTIFIER, SEVEN[:4])


def test_a_stream_is_divided_into_items() -> None:
    entry = bytes.fromhex("00000000000000000000000ea7ec68030000ffffffffffffffff")
    items = scan("kafka.log/mixed", [b"x", entry[:9], entry[9:], entry[:5]])
    assert [(item["kind"], item["at"]) for item in items] == [("garbage", 0), ("frame", 1), ("tail", 27)]  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    "call", [decode, explain, lambda name, _: [*scan(name, [])], lambda name, _: encode(name, {})]
)
def test_an_unknown_format_is_named_with_the_nearest_one(call: object) -> None:
    with pytest.raises(UnknownFormat, match=r"kafka.batch/v3: .*kafka.batch/v2"):
        call("kafka.batch/v3", b"")  # type: ignore[operator]


def test_an_adapter_is_judged_case_by_case() -> None:
    events = check("reference", ["iggy.identifier/0.0.30/identifier/*"], derived=False)
    assert {event.verdict for event in events} == {"pass"}
    derived = [event.id for event in check("reference", ["iggy.identifier/0.0.30/identifier/string"])]
    assert any("~truncate:" in name for name in derived)


def test_what_cannot_be_judged_is_an_error_of_one_line() -> None:
    with pytest.raises(UnknownAdapter, match="nosuch"):
        next(check("nosuch", ["iggy.identifier/**"]))
    with pytest.raises(PatternError, match="no case matches nosuch"):
        next(check("reference", ["nosuch/**"]))
