"""Frozen fixtures: the digest of the input of every case that was released, which must not change.

`frozen.json` in a folder of fixtures maps ids to digests, sorted. Ids are only added; a case that has to
change gets a new id, and the old one stays.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Final

from wireproof.cases.case import Case, Chunks, Data, Generated, Input, Steps, Value
from wireproof.cases.fixtures import FROZEN, Suite, read_frozen
from wireproof.cases.steps import bytes_of_steps
from wireproof.files import replace_text
from wireproof.wire.json_values import canonical_json

DIGEST_BITS: Final = 128


def input_digest(source: Input) -> str:
    """Return the digest of an input: blake2b of its kind and bytes, in hex; each chunk with its length."""
    digest = blake2b(type(source).__name__.lower().encode() + b"\0", digest_size=DIGEST_BITS // 8)
    match source:
        case Data(data):
            digest.update(data)
        case Value(value):
            digest.update(canonical_json(value))
        case Chunks(chunks):
            for chunk in chunks:
                digest.update(len(chunk).to_bytes(8) + chunk)
        case Steps() as given:
            digest.update(bytes_of_steps(given))
        case Generated(size=size, sha256=sha256):  # the bytes, and not the words of the recipe, must stay
            digest.update(f"{size} {sha256}".encode())
    return digest.hexdigest()


def unfrozen_cases(suite: Suite) -> tuple[Case, ...]:
    """Return the cases that may still change."""
    return tuple(case for case in suite.cases if case.id not in suite.frozen)


def freeze(suite: Suite) -> Mapping[Path, int]:
    """Add every case that is not frozen to the file of its folder; return the number added to each file."""
    added: dict[Path, dict[str, str]] = {}
    for case in unfrozen_cases(suite):
        root = suite.files[case.id].parents[2]
        added.setdefault(root / FROZEN, {})[case.id] = input_digest(case.input)
    for path, rows in added.items():
        landed = read_frozen(path)
        text = json.dumps(dict(sorted({**rows, **landed}.items())), indent=2)
        replace_text(path, f"{text}\n")
    return {path: len(rows) for path, rows in added.items()}
