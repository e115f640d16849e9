"""Independent implementations that agree with a Heka case: protobuf's two Python decoders."""

# fmt: off

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.authoring.fixture_writer import FixtureWriter

Json = Any


def add_witnesses(writer: FixtureWriter) -> dict[str, int]:
    """Run protobuf's two Python decoders on every plain message, read or written; return how often each agrees."""
    cases = [case for case in writer.cases.values() if case["id"].startswith("heka.message/") and "options" not in case and _bytes(case)]
    counts = {}
    for kind in ("upb", "python"):
        lines = "".join(_bytes(case)[0] + "\n" for case in cases)
        program = Path(__file__).resolve().parent / "protobuf_witness.py"
        done = subprocess.run([sys.executable, str(program)], input=lines, capture_output=True, text=True, check=True, env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": kind})
        said = [json.loads(line) for line in done.stdout.splitlines()]
        name, version = f"protobuf-{said[0]['kind']}", said[0]["version"]
        if said[0]["kind"] != kind:
            raise ValueError(f"asked for protobuf's {kind}, got {name}")
        agreeing = [case for case, answer in zip(cases, said[1:], strict=True) if _agrees(case["expect"], answer)]
        for case in agreeing:
            case["source"].setdefault("witnesses", []).append({"name": name, "version": version})
        counts[name] = len(agreeing)
    return counts


def _agrees(expect: Json, answer: Json) -> bool:
    if "either" in expect:
        return any(_agrees(one, answer) for one in expect["either"]["behaviours"])
    return answer is None if "reject" in expect else answer == expect["accept"]["value"]


def _bytes(case: Json) -> list[str]:
    """The message of a decode case, in a list of one, or the first bytes that an encode case takes."""
    if "generate" in case["input"]:
        return []  # `record_witnesses` runs them through the peers
    return [case["input"]["hex"]] if case["op"] == "decode" else case["expect"].get("accept", {}).get("bytes", [])[:1]
