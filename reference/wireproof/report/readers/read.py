# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: INP001 - a script, written beside what it reads
"""Read an export of wireproof: `python3 readers/read.py`. Prints the number of cases and a digest of all."""

import json
import sys
import zlib
from pathlib import Path

root = Path(__file__).resolve().parents[1]
count = digest = 0
with (root / "cases.ndjson").open(encoding="utf-8") as lines:
    for line in lines:
        case = json.loads(line)
        data = (root / case["file"]).read_bytes() if "file" in case else b""
        # your codec here: case["op"] and case["format"] say what to do with `data` (of its value,
        # for an encode), case["expect"] what must come of it: accept, reject, or either of some behaviours
        digest = zlib.crc32(case["id"].encode() + b"\n" + data, digest)
        count += 1
sys.stdout.write(f"{count} {digest:08x}\n")
