"""JSON and TOML of strangers become objects of exact types, or an error of one line that names the field."""

import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any, Literal

import pytest
from attrs import field, frozen
from each import each

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
