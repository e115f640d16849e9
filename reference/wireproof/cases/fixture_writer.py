"""The writer of fixture files, in one canonical form, so that two authors write the same bytes.

Two spaces, UTF-8, the keys of a case in the order of `CASE_KEYS`, each on a line of its own with its value if
that fits into 110 columns, defaults left out, inputs over 512 bytes in separate files.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof.cases.case import (
    Accept,
    Case,
    Chunks,
    Data,
    Either,
    Expect,
    Generated,
    Input,
    Limits,
    Reject,
    Steps,
    Value,
    options_to_json,
)
from wireproof.cases.case_json import REQUIRED, SCHEMA, FixtureError
from wireproof.cases.fixtures import FROZEN, Suite, read_frozen
from wireproof.cases.steps import bytes_of_steps, step_json
from wireproof.files import replace_text
from wireproof.strict_parsing import to_tree
from wireproof.wire.json_values import Json, canonical_json

MAX_INLINE_BYTES: Final = 512
"""Maximum bytes of an input inside the JSON file."""

MAX_LINE: Final = 110
"""Maximum columns of a line with a list or an object; a longer one takes a line for each of its parts."""

CASE_KEYS: Final = (
    "id", "title", "why", "op", "profile", "options", "level", "rules", "flags",
    "input", "expect", "steps", "twin", "needs", "source", "limits",
)  # fmt: skip
"""The keys of a case, in order."""


@frozen
class FixturePage:
    """The text of a fixture file, and the files of its inputs over 512 bytes by their names."""

    text: str
    files: Mapping[str, bytes]


def fixture_page(form: str, revision: str, cases: Iterable[Case]) -> FixturePage:
    """Return the file of the cases of one topic, sorted by id."""
    files: dict[str, bytes] = {}
    rows = []
    for case in sorted(cases, key=lambda case: case.id):
        row = case_json(case)
        if isinstance(case.input, Data) and len(case.input.data) > MAX_INLINE_BYTES:
            name = ".".join(case.id.split("/")[2:]) + ".bin"
            files[name] = case.input.data
            row["input"] = {"file": name, "sha256": hashlib.sha256(case.input.data).hexdigest()}
        rows.append(row)
    return FixturePage(
        page_text({"schema": SCHEMA, "format": form, "revision": revision, "cases": rows}), files
    )


def page_text(page: Mapping[str, Any]) -> str:
    """Return the JSON text of a page, whose keys already have their order."""
    return _text(dict(page), 0, 0, whole=3) + "\n"


def _text(value: Json, indent: int, before: int, whole: int = 0) -> str:
    """Return the text of a value, in one line if it fits.

    `indent` is the number of spaces in front of its line, `before` that of all characters before it, `whole`
    that of the levels, such as the page and its list of cases, that never stand in one line.
    """
    line = "" if whole else json.dumps(value, ensure_ascii=False)
    if not (isinstance(value, dict | list) and value) or (line and before + len(line) + len(",") <= MAX_LINE):
        return line or json.dumps(value, ensure_ascii=False)
    inner = " " * (indent + 2)
    parts = value.items() if isinstance(value, dict) else (("", part) for part in value)
    rows = []
    for key, part in parts:
        lead = inner + (f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(value, dict) else "")
        rows.append(lead + _text(part, indent + 2, len(lead), max(0, whole - 1)))
    first, last = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([first, ",\n".join(rows), f"{' ' * indent}{last}"])


def sorted_page_text(text: str) -> str:
    """Return the text of a fixture file in canonical form: cases sorted by id, their keys in order."""
    page = json.loads(text)
    rows = sorted(page["cases"], key=lambda row: str(row["id"]))
    return page_text({**page, "cases": [{key: row[key] for key in CASE_KEYS if key in row} for row in rows]})


def sort_files(suite: Suite) -> tuple[Path, ...]:
    """Rewrite the fixture files that are not in canonical form, and return them; cases stay what they are."""
    changed = []
    for path in sorted(set(suite.files.values())):
        text = path.read_text(encoding="utf-8")
        if (wanted := sorted_page_text(text)) != text:
            replace_text(path, wanted)
            changed.append(path)
    return tuple(changed)


def case_json(case: Case) -> dict[str, Any]:
    """Return the JSON object of a case, its bytes inline; `fixtures.case_of` reads it back."""
    parts: dict[str, Any]
    if isinstance(case.input, Steps):
        parts = {"steps": [step_json(step) for step in case.input.steps]}
    else:
        parts = {"input": to_tree(case.input, without_defaults=True), "expect": _expect(case.expect)}
        parts["input"].pop("list_name", None)  # it follows from the format of the case
    limits = to_tree(case.limits, without_defaults=True)
    row: dict[str, Any] = {
        "id": case.id,
        "title": case.title,
        "why": case.why,
        "op": case.op,
        "profile": case.profile if case.profile != "reader" else None,
        "options": options_to_json(case.options),
        "level": case.level,
        "rules": list(case.rules),
        "flags": list(case.flags),
        **parts,
        "twin": case.twin,
        "needs": list(case.needs),
        "source": to_tree(case.source, without_defaults=True),
        "limits": {} if case.limits == Limits() else {"ms": case.limits.ms, **limits},
    }
    return {key: part for key, part in row.items() if key in REQUIRED or part not in (None, [], {})}


def _expect(expect: Expect) -> dict[str, Any]:
    match expect:
        case Accept():
            tree = to_tree(expect, without_defaults=True)
            head = {key: tree.pop(key) for key in ("value", "digest") if key in tree}
            return {"accept": {**head, **tree}}
        case Reject():
            return {"reject": to_tree(expect, without_defaults=True)}
        case Either(behaviours):
            rows = [{"id": behaviour.id, **_expect(behaviour.expect)} for behaviour in behaviours]
            return {"either": {"behaviours": rows}}


# --- frozen digests ---
#
# `frozen.json` in a folder of fixtures maps ids to a text of words: `9a57… must 03fe… added=0.2.0`. Ids are
# only added; a case that has to get another input gets a new id, and the old one stays.


ADDED, LEVEL, CHANGED = "added", "level", "expectation"


@frozen
class FrozenCase:
    """What `frozen.json` has of a case: digests of input and expectation, and the level.

    `releases` are those in which it was added, and its level or expectation changed last.
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
        parts = (part for part in (ADDED, LEVEL, CHANGED) if part in self.releases)
        releases = (f"{part}={self.releases[part]}" for part in parts)
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
    # it only has to differ from the one before
    return blake2b(canonical_json(decides), digest_size=6).hexdigest()


def input_digest(source: Input) -> str:
    """Return the digest of an input: blake2b of its kind and bytes, in hex; each chunk with its length."""
    digest = blake2b(type(source).__name__.lower().encode() + b"\0", digest_size=16)
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
    """Add the cases that are not frozen, and record what a `release` changed; return the number by file."""
    written: dict[Path, dict[str, str]] = {}
    for case in suite.cases:
        text, now = suite.frozen.get(case.id, ""), FrozenCase.of(case)
        was = FrozenCase.parse(text) if text else None
        events = (ADDED,) if was is None else was.changed_parts(now)
        releases = {**(was.releases if was else {}), **dict.fromkeys(events, release)}
        entry = str(evolve(now, input=was.input if was else now.input, releases=releases))
        if entry != suite.frozen.get(case.id):
            written.setdefault(suite.files[case.id].parents[2] / FROZEN, {})[case.id] = entry
    for path, rows in written.items():
        text = json.dumps({**read_frozen(path), **rows}, indent=2, sort_keys=True)
        replace_text(path, f"{text}\n")
    return {path: len(rows) for path, rows in written.items()}
