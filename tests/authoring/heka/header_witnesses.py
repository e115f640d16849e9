"""Compare what protobuf makes of the headers of Heka's frames with what the cases expect.

Run: `python -m tests.authoring.record_witnesses headers`.

Protobuf's two parsers of Python answer for headers and for messages that are not compressed. One is a witness of an
accepted case if it reads both of all frames as expected, and of a refused one if it refuses the header in which the
case is refused. Neither verifies a signature.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from wireproof.cases.case import Accept, Case, Data, Reject

PARSERS = ("upb", "python")


def agreeing(cases: Sequence[Case]) -> dict[tuple[str, str], list[str]]:
    """Return, for the name and version of each parser, the ids of the cases that it agrees with."""
    asked = list(_plain_streams(cases))
    found = {}
    for kind in PARSERS:
        version, answers = run_parser(kind, [data for _, data in asked])
        rows = zip(asked, answers, strict=True)
        found[f"protobuf-{kind}-header", version] = [
            case.id for (case, _), answer in rows if agrees(case, answer)
        ]
    return found


def _plain_streams(cases: Sequence[Case]) -> Iterator[tuple[Case, bytes]]:
    for case in cases:
        if case.format != "heka.stream" or case.op != "decode" or case.options.keys is not None:
            continue
        if isinstance(case.input, Data) and case.options.compression == "none":
            yield case, case.input.data


def run_parser(kind: str, streams: Sequence[bytes]) -> tuple[str, list[Any]]:
    """Return the version of a parser and what it makes of each stream; raise ValueError if another one runs."""
    program = Path(__file__).with_name("protobuf_witness.py")
    command = [sys.executable, str(program), "headers"]
    lines = "".join(data.hex() + "\n" for data in streams)
    env = {**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": kind}
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, env=env)
    first, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    if first["kind"] != kind:
        raise ValueError(f"asked for protobuf's {kind}, got {first['kind']}")
    return first["version"], answers


def agrees(case: Case, answer: Any) -> bool:
    """Return whether a parser did with the frames what the case expects; False if the case is not about that."""
    if answer is None:
        return False
    frames = _shown(answer["frames"], "content" if case.options.content == "opaque" else "message")
    match case.expect, answer["refused"]:
        case Accept(value=value), None:
            return frames == value["frames"]
        case Reject(at=int(at), before=before), [start, end]:
            return start < at <= end and frames == (before["frames"] if before else [])
    return False


def _shown(frames: Sequence[dict[str, Any]], content: str) -> list[dict[str, Any]]:
    """Return frames as a value shows them: with their message or content, without `message_encoding`, not verified."""
    return [
        {
            "header": {key: part for key, part in frame["header"].items() if key != "message_encoding"},
            "message": frame[content],
            "signer": None,
        }
        for frame in frames
    ]
