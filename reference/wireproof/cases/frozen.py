"""What has landed stays: the digest of every frozen case's input. Design, section 1, "fixture".

`frozen.json` in a folder of fixtures holds id -> digest, sorted. An id is only ever added; a case that
has to change gets a new id, and the old one stays as it was.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Final

from wireproof.cases.case import Case, Chunks, Data, Input, Value
from wireproof.cases.fixtures import FROZEN, Suite, frozen_in
from wireproof.files import replace_text
from wireproof.wire.values import canonical

BITS: Final = 128


def seal(given: Input) -> str:
    """The digest of an input: blake2b of its kind and bytes, in hex; each chunk under its length."""
    digest = blake2b(type(given).__name__.lower().encode() + b"\0", digest_size=BITS // 8)
    match given:
        case Data(data):
            digest.update(data)
        case Value(value):
            digest.update(canonical(value))
        case Chunks(chunks):
            for chunk in chunks:
                digest.update(len(chunk).to_bytes(8) + chunk)
    return digest.hexdigest()


def unfrozen(suite: Suite) -> tuple[Case, ...]:
    """The cases that may still change."""
    return tuple(case for case in suite.cases if case.id not in suite.frozen)


def freeze(suite: Suite) -> Mapping[Path, int]:
    """Add every case that is not frozen to the file of its folder; gives how many each file got."""
    added: dict[Path, dict[str, str]] = {}
    for case in unfrozen(suite):
        root = suite.files[case.id].parents[2]
        added.setdefault(root / FROZEN, {})[case.id] = seal(case.input)
    for path, rows in added.items():
        landed = frozen_in(path)
        text = json.dumps(dict(sorted({**rows, **landed}.items())), indent=2)
        replace_text(path, f"{text}\n")
    return {path: len(rows) for path, rows in added.items()}
