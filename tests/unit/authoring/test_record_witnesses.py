"""Witnesses are recorded once for each library, and none of them is the code of the package."""

import json
from pathlib import Path

import pytest
from each import each

pytest.importorskip("lz4")
from tests.authoring import record_witnesses
from tests.authoring.record_witnesses import Agreement, refusal
from tests.authoring.shared_code import without_shared_code
from wireproof.cases.fixture_writer import page_text


def names(*given: str, revision: str = "v2") -> list[str]:
    return [row["name"] for row in without_shared_code([{"name": name} for name in given], revision)]


def test_peers_that_share_code_are_one_witness() -> None:
    assert names("aiokafka-pure", "sarama", "aiokafka") == ["aiokafka", "sarama"]
    assert names("aiokafka-pure") == ["aiokafka-pure"]


@each("spec", ["reference", "columnar", "py:wireproof.adapters.reference:Reference", "exec:x"])
def test_an_adapter_that_may_be_the_package_itself_is_refused(spec: str) -> None:
    assert refusal(spec).startswith(f"{spec}: is no witness")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Return a fixture file of two cases in canonical form."""
    rows = [{"id": f"kafka.batch/v2/x/{name}", "op": "decode", "source": {"origin": "hand"}} for name in "ab"]
    path = tmp_path / "x.json"
    path.write_text(page_text({"schema": 1, "cases": rows}), encoding="utf-8")
    return path


def witnesses_in(path: Path) -> dict[str, list[str]]:
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return {case["id"][-1]: [one["name"] for one in case["source"].get("witnesses", [])] for case in cases}


def test_a_peer_that_disagrees_now_does_not_hide_one_of_its_group(page: Path) -> None:
    name, asked = "kafka.batch/v2/x/a", {"kafka.batch/v2/x/a"}
    record_witnesses.record_each([page], asked, iter([Agreement("aiokafka", "1", (name,))]))
    found = [Agreement("aiokafka-pure", "2", (name,)), Agreement("aiokafka", "2", ())]
    record_witnesses.record_each([page], asked, iter(found))
    assert witnesses_in(page)["a"] == ["aiokafka-pure"]
