"""The exported layouts, compiled by Kaitai itself, read what the reference reads: each field of each case."""

import json
import subprocess
from typing import Any

import pytest
import yaml as pyyaml
from attrs import evolve
from folders import TESTS
from goldens import load
from kaitai_fields import frame_of, has_skipped_bytes, is_readable, pairs
from machine import needs

from wireproof.adapters.driver_build import built
from wireproof.adapters.registry_entry import Build
from wireproof.formats import FORMATS
from wireproof.report import kaitai
from wireproof.report.kaitai_scope import ident
from wireproof.wire.layout import REST, WHOLE, Count, Layout, Length, Number, Octets, Repeated, When, Zero

CASES = load().cases

SPECIFIED = [row.format_id for row in kaitai.specified()]

COMPILER = TESTS / "kaitai"


@pytest.fixture(scope="module")
def readers() -> dict[str, Any]:
    """Return the class of each format, compiled from the text of its specification."""
    home = built("kaitai", Build(COMPILER, (("npm", "ci", "--loglevel=error", "--no-audit", "--no-fund"),)))
    specs = {name: pyyaml.safe_load(text) for name, text in kaitai.specifications(SPECIFIED)}
    done = subprocess.run(
        ["node", "compile.mjs"], cwd=home, input=json.dumps(specs), capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {}
    for name, text in json.loads(done.stdout).items():
        module: dict[str, Any] = {}
        exec(text, module)  # what the compiler made of our own specification
        found[name] = module["".join(part.capitalize() for part in name.split("_"))]
    return found


@pytest.mark.tools
@needs("npm", "node")
@pytest.mark.parametrize("format_id", SPECIFIED)
def test_a_compiled_layout_reads_every_field_of_every_accepted_case(
    readers: dict[str, Any], format_id: str
) -> None:
    reader = readers[ident(format_id)]
    mine = [case for case in CASES if case.format_id == format_id and is_readable(case)]
    assert mine
    for case in mine:
        read = reader.from_bytes(frame_of(case))
        found = list(pairs(case, read))
        assert found
        for path, want, got in found:
            assert got == want, f"{case.id} {path}"
        assert read._io.is_eof() or has_skipped_bytes(case), case.id


def tree_of(*parts: Any) -> Any:
    """Return the specification of a format with these parts."""
    return kaitai.spec(evolve(FORMATS["kafka.batch/v2"], layout=Layout("Some", parts)))


def test_a_layout_says_when_a_field_is_there_and_how_long_it_is() -> None:
    tree = kaitai.spec(FORMATS["kafka.batch/v2"])
    by_id = {one["id"]: one for one in tree["seq"]}
    assert by_id["records"]["if"] == "(attributes & 0x7) == 0"
    assert by_id["records"]["repeat-expr"] == "records_count"
    assert by_id["records_packed"]["size"] == "batch_length - 49"
    record = {one["id"]: one for one in tree["types"]["record"]["seq"]}
    assert record["key"]["size"] == "key_length.value"
    assert record["key"]["if"] == "key_length.value >= 0"
    assert tree["instances"]["attributes_timestamp_type"]["value"] == "(attributes & 0x8) >> 3"


def test_a_list_that_a_length_ends_is_a_type_of_its_own() -> None:
    one = Layout("One", (Number("number", "uint8"),))
    tree = tree_of(Length("size", "uint16", of="many"), Repeated("many", of=one), Octets("more"))
    assert tree["seq"][1:] == [
        {"id": "many", "type": "kafka_batch_v2_many", "size": "size"},
        {"id": "more", "size-eos": True},
    ]
    assert tree["types"]["kafka_batch_v2_many"]["seq"] == [{"id": "items", "type": "one", "repeat": "eos"}]


def test_a_list_whose_number_readers_only_compare_ends_with_its_bytes() -> None:
    one = Layout("One", (Number("number", "uint8"),))
    count = Count("count", "uint8", of="many")
    counted = tree_of(count, Repeated("many", of=one))["seq"][1]
    assert counted == {"id": "many", "type": "one", "repeat": "expr", "repeat-expr": "count"}
    compared = tree_of(evolve(count, advisory=True), Repeated("many", of=one))["seq"][1]
    assert compared == {"id": "many", "type": "one", "repeat": "eos"}


def test_bytes_behind_others_of_known_sizes_are_those_that_the_length_leaves() -> None:
    parts = (Number("first", "uint8"), Length("keySize", "uint8", of="key"), Octets("key"), Octets("value"))
    rest = tree_of(Length("size", "uint16", of=REST), *parts)["seq"][-1]
    assert rest == {"id": "value", "size": "size - (2 + key_size)"}
    whole = tree_of(Length("size", "uint16", of=WHOLE), *parts)["seq"][-1]
    assert whole == {"id": "value", "size": "size - (4 + key_size)"}


def test_reserved_bytes_end_at_their_offset() -> None:
    optional = When(Number("more", "uint32"), number="flags", values=(1,))
    tree = tree_of(Number("flags", "uint8"), optional, Zero("reserved", until=16))
    assert tree["seq"][1]["if"] == "flags == 1"
    assert tree["seq"][2]["size"] == "16 - (1 + (flags == 1 ? 4 : 0))"


def test_bytes_whose_end_nothing_tells_are_refused() -> None:
    inner = Layout("Inner", (Octets("data"),))
    with pytest.raises(ValueError, match=r"Inner\.data: no length of it"):
        tree_of(Repeated("many", of=inner))


def test_the_text_is_yaml_of_the_same_tree() -> None:
    for row in kaitai.specified():
        tree = kaitai.spec(row)
        assert pyyaml.safe_load(kaitai.yaml(tree)) == tree
