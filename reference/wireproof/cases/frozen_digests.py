"""Frozen fixtures: the digest of the input of every case, which must not change, and what changed since.

`frozen.json` in a folder of fixtures maps ids to a text of words, sorted: the digest of the input, the level,
the digest of the expectation, then the release in which the case was added, and in which its level or its
expectation changed last: `9a57… must 03fe… added=0.2.0 level=0.3.0`. Ids are only added; a case that has to
get another input gets a new id, and the old one stays.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Final

from attrs import evolve, field, frozen

from wireproof.cases.case import Case, Chunks, Data, Generated, Input, Steps, Value
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixture_writer import case_json
from wireproof.cases.fixtures import FROZEN, Suite, read_frozen
from wireproof.cases.steps import bytes_of_steps
from wireproof.files import replace_text
from wireproof.wire.json_values import canonical_json

DIGEST_BITS: Final = 128

EXPECTATION_BYTES: Final = 6
"""Bytes of the digest of an expectation, which only has to differ from the one before."""

ADDED, LEVEL, CHANGED = "added", "level", "expectation"


@frozen
class FrozenCase:
    """What `frozen.json` has of a case.

    Attributes:
        input: the digest of its input.
        level: its level.
        expectation: the digest of its other expectations; empty in a file of before 0.1.0.
        releases: by `added`, `level` and `expectation`, the release in which this happened last.
    """

    input: str
    level: str = ""
    expectation: str = ""
    releases: Mapping[str, str] = field(factory=dict)

    @classmethod
    def parse(cls, text: str) -> "FrozenCase":
        """Read the text of a case; raises `FixtureError`."""
        words = text.split()
        releases = dict(word.split("=", 1) for word in words if "=" in word)
        digests = [word for word in words if "=" not in word]
        if len(digests) not in (1, 3) or not releases.keys() <= {ADDED, LEVEL, CHANGED}:
            raise FixtureError(f"{text!r} is no digest, level, digest of the expectation, and releases")
        level, expectation = digests[1:] or ("", "")
        return cls(digests[0], level, expectation, releases)

    @classmethod
    def of(cls, case: Case) -> "FrozenCase":
        return cls(input_digest(case.input), case.level, expectation_digest(case))

    def __str__(self) -> str:
        releases = (
            f"{part}={self.releases[part]}" for part in (ADDED, LEVEL, CHANGED) if part in self.releases
        )
        return " ".join((self.input, self.level, self.expectation, *releases))

    def changed_parts(self, now: "FrozenCase") -> tuple[str, ...]:
        """Return which of `level` and `expectation` differ in the present case."""
        parts = ((LEVEL, self.level, now.level), (CHANGED, self.expectation, now.expectation))
        return tuple(part for part, was, present in parts if was and was != present)


def expectation_digest(case: Case) -> str:
    """Return the digest of what decides a verdict beside the input: operation, options and expectation."""
    row = case_json(case)
    decides = {key: row.get(key) for key in ("op", "profile", "options", "expect")}
    decides |= {"steps": row["steps"]} if "steps" in row else {}
    return blake2b(canonical_json(decides), digest_size=EXPECTATION_BYTES).hexdigest()


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
    return tuple(case for case in suite.cases if case.id not in suite.frozen)


def freeze(suite: Suite, release: str) -> Mapping[Path, int]:
    """Add the cases that are not frozen to the file of their folder, and record changed expectations.

    The entry of a renamed case gets its present id.

    Args:
        suite: all cases.
        release: the version in which they are new or changed.

    Returns:
        the number of entries that were written to each file.
    """
    written: dict[Path, dict[str, str]] = {}
    for case in suite.cases:
        entries = (suite.frozen[name] for name in (case.id, *case.aliases) if name in suite.frozen)
        text, now = next(entries, ""), FrozenCase.of(case)
        was = FrozenCase.parse(text) if text else None
        events = (ADDED,) if was is None else was.changed_parts(now)
        releases = {**(was.releases if was else {}), **dict.fromkeys(events, release)}
        entry = str(evolve(now, input=was.input if was else now.input, releases=releases))
        if entry != suite.frozen.get(case.id):
            written.setdefault(suite.files[case.id].parents[2] / FROZEN, {})[case.id] = entry
    for path, rows in written.items():
        every = {**read_frozen(path), **rows}
        present = {name: every[name] for name in sorted(every) if name not in suite.aliases}
        text = json.dumps(present, indent=2)
        replace_text(path, f"{text}\n")
    return {path: len(rows) for path, rows in written.items()}
