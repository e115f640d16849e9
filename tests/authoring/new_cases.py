"""Write new cases and freeze them: a file of code describes them once, and is not kept.

The file has a function `write`, which is called with a `NewCases`:

    from tests.authoring.kafka.entry_bytes import batch, batch_value, record, record_value

    def write(cases):
        s = cases.of("kafka.batch", "v2")
        s.accepts("batch/title", "What is special", batch(...), batch_value(...), doc="kafka.md §1.1", why="...")

Bytes and values are made from named parts, never with the reference. `add` refuses a case on which the independent
reader, or `lint`, does not agree, and then changes nothing.
"""

import hashlib
import json
import runpy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.independent.checks import FIXTURES, check
from tests.independent.derived_fields import completed
from wireproof import __version__
from wireproof.cases.case_json import SCHEMA
from wireproof.cases.fixture_writer import CASE_KEYS, MAX_INLINE_BYTES, freeze, page_text, sorted_page_text
from wireproof.cases.fixtures import load
from wireproof.cases.generated_bytes import Recipe
from wireproof.cases.made_case import generator_of
from wireproof.files import replace_text
from wireproof.lint.cases import lint
from wireproof.lint.sources import RECORD
from wireproof.strict_parsing import to_tree
from wireproof.wire.json_values import canonical_json, json_digest

Json = Any


class AddError(Exception):
    """A case that cannot be added: which one, and why."""


class NewCases:
    """The cases of a file, by their ids."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}

    def of(self, form: str, revision: str) -> "CaseBuilder":
        return CaseBuilder(self, f"{form}/{revision}/")

    def add(self, row: Mapping[str, Any]) -> str:
        """Take a case in the form of a fixture file, and return its id; keys without content are left out."""
        unknown = set(row) - set(CASE_KEYS)
        if unknown or row["id"] in self.rows:
            raise AddError(
                f"{row['id']}: {f'no key of a case: {sorted(unknown)}' if unknown else 'is there twice'}"
            )
        self.rows[row["id"]] = {key: row[key] for key in CASE_KEYS if row.get(key) not in (None, [], (), {})}
        return str(row["id"])


class CaseBuilder:
    """Adds cases under `<format>/<revision>/`; `more` has further keys of a case, such as `level` and `needs`.

    Without a level a case is a `must`; `lint` says if its rules do not back that.
    """

    def __init__(self, cases: NewCases, prefix: str) -> None:
        self.cases, self.prefix = cases, prefix

    def accepts(
        self,
        name: str,
        title: str,
        data: bytes,
        value: Json,
        *,
        consumed: int | None = None,
        remarks: Sequence[str] = (),
        **more: Any,
    ) -> str:
        """Add a decode with a value; all bytes are consumed if nothing else is said."""
        accept = {
            "value": value,
            "consumed": len(data) if consumed is None else consumed,
            "remarks": sorted(remarks),
        }
        return self.row(name, title, "decode", {"hex": data.hex()}, {"accept": _filled(accept)}, **more)

    def rejects(
        self,
        name: str,
        title: str,
        data: bytes,
        cls: str,
        *,
        twin: str,
        also: Sequence[str] = (),
        at: int | str | None = None,
        before: Json = None,
        **more: Any,
    ) -> str:
        """Add a decode that is refused, and its accepted neighbour."""
        reject = _filled({"class": cls, "also": list(also), "at": at, "before": before})
        return self.row(
            name, title, "decode", {"hex": data.hex()}, {"reject": reject}, twin=self._whole(twin), **more
        )

    def either(self, name: str, title: str, data: bytes, behaviours: Mapping[str, Json], **more: Any) -> str:
        """Add a decode whose answer is open among named behaviours."""
        rows = [{"id": key, **expect} for key, expect in behaviours.items()]
        return self.row(name, title, "decode", {"hex": data.hex()}, {"either": {"behaviours": rows}}, **more)

    def writes(
        self, name: str, title: str, given: Json, *data: bytes, value: Json = None, **more: Any
    ) -> str:
        """Add an encode that gives one of `data`, or any bytes with the value; `value` has what is computed too."""
        accept = _filled({"value": value or given, "bytes": [one.hex() for one in data]})
        return self.row(name, title, "encode", {"value": given}, {"accept": accept}, **more)

    def unfit(
        self, name: str, title: str, given: Json, *, twin: str, also: Sequence[str] = (), **more: Any
    ) -> str:
        """Add an encode of a value that its format cannot hold."""
        reject = _filled({"class": "invalid-value", "also": list(also)})
        return self.row(
            name, title, "encode", {"value": given}, {"reject": reject}, twin=self._whole(twin), **more
        )

    def scans(
        self,
        name: str,
        title: str,
        chunks: Sequence[bytes],
        items: Sequence[Json],
        *,
        remarks: Sequence[str] = (),
        **more: Any,
    ) -> str:
        """Add a scan of pieces that gives `items`."""
        accept = {
            "value": {"items": list(items)},
            "consumed": sum(map(len, chunks)),
            "remarks": sorted(remarks),
        }
        return self.row(
            name,
            title,
            "scan",
            {"chunks": [one.hex() for one in chunks]},
            {"accept": _filled(accept)},
            **more,
        )

    def made(self, name: str, title: str, op: str, recipe: Mapping[str, Any], **more: Any) -> str:
        """Add a generated case: size, digests and, for a decode, the consumed bytes come from its recipe."""
        made = Recipe(**{"kind": self.prefix.rstrip("/"), **recipe})
        makes = generator_of(made)
        data = makes.data(made) if op == "decode" else canonical_json(makes.given(made))
        source = {
            "generate": to_tree(made, without_defaults=True),
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        answer = {"digest": json_digest(makes.value(made)), "consumed": len(data)} if op == "decode" else {}
        return self.row(name, title, op, source, {"accept": answer}, **more)

    def steps(self, name: str, title: str, steps: Sequence[Json], **more: Any) -> str:
        """Add a sequence of requests, each with its answer."""
        return self._add(name, title, "sequence", {"steps": list(steps)}, **more)

    def row(self, name: str, title: str, op: str, given: Json, expect: Json, **more: Any) -> str:
        """Add a case with an input and an expectation."""
        return self._add(name, title, op, {"input": given, "expect": expect}, **more)

    def _add(
        self,
        name: str,
        title: str,
        op: str,
        parts: Json,
        *,
        doc: str,
        why: str,
        rules: Sequence[str],
        **more: Any,
    ) -> str:
        head = {
            "id": self.prefix + name, "title": title, "why": why, "op": op, "level": "must", "rules": list(rules),
            "source": {"origin": "builder", "document": doc},
        }  # fmt: skip
        return self.cases.add({**head, **parts, **more})

    def _whole(self, twin: str) -> str:
        return twin if twin.count("/") == 3 else self.prefix + twin


def _filled(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in parts.items() if part is not None and part != []}


def described(path: Path) -> NewCases:
    """Return the cases that a file of code describes; raise AddError if it cannot."""
    cases = NewCases()
    try:
        write = runpy.run_path(str(path)).get("write")
        if callable(write):
            write(cases)
    except AddError:
        raise
    except Exception as error:
        raise AddError(f"{path}: {type(error).__name__}: {error}") from error
    if not cases.rows:
        reason = (
            "`write` adds no case" if callable(write) else "has no function `write`, see writing-a-case.md"
        )
        raise AddError(f"{path}: {reason}")
    return cases


def add(path: Path, fixtures: Path = FIXTURES) -> list[str]:
    """Write the cases of a file into the fixtures and freeze them; return their ids, and what is left to do.

    Raises AddError, and leaves the fixtures as they were, if an id exists, or if the independent reader or `lint`
    does not agree with a case. What libraries answer on a case can be recorded only when it is there.
    """
    cases = described(path)
    before: dict[Path, str | None] = {}
    try:
        for row in cases.rows.values():
            _write(row, fixtures, before)
        suite = load() if fixtures == FIXTURES else load((fixtures,))
        problems = [str(one) for one in lint(suite) if one.where in cases.rows]
        later = [one for one in problems if one.endswith(RECORD)]
        _refuse([one for one in problems if one not in later])
        freeze(suite, __version__)
    except BaseException:
        for place, text in before.items():
            place.unlink(missing_ok=True) if text is None else replace_text(place, text)
        raise
    return [*sorted(cases.rows), *later]


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise AddError("\n".join(problems))


def _write(row: dict[str, Any], fixtures: Path, before: dict[Path, str | None]) -> None:
    """Check a case and put it into its file; keep what each file was, None for one that was not there."""
    form, revision, topic, _ = row["id"].split("/")
    place = fixtures / form / revision / f"{topic}.json"
    text = place.read_text("utf-8") if place.exists() else None
    page = json.loads(text) if text else {"schema": SCHEMA, "format": form, "revision": revision, "cases": []}
    if row["id"] in [one["id"] for one in page["cases"]]:
        _refuse([f"{row['id']}: exists already: a new case needs a new id"])
    if "steps" not in row:
        row["expect"] = completed(row, place.parent)
    _, problem = check(row, place.parent)
    _refuse([f"{row['id']}: {problem}"] if problem else [])
    place.parent.mkdir(parents=True, exist_ok=True)
    before.setdefault(place, text)
    data = bytes.fromhex(row.get("input", {}).get("hex", ""))
    if len(data) > MAX_INLINE_BYTES:
        large = place.parent / (".".join(row["id"].split("/")[2:]) + ".bin")
        before.setdefault(large, None)
        large.write_bytes(data)
        row["input"] = {"file": large.name, "sha256": hashlib.sha256(data).hexdigest()}
    page["cases"].append(row)
    place.write_text(sorted_page_text(page_text(page)), "utf-8")
