"""Check golden cases with the independent readers: values, refusals, written bytes, scans and steps.

`check` reads the input of a case as its file states it, by code that shares nothing with the reference, and
compares what it finds with the expectation.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from tests.independent.derived_fields import bare, completed
from tests.independent.heka import reader as heka
from tests.independent.iggy import formats as iggy
from tests.independent.iggy import json_reader as iggy_json
from tests.independent.iggy import steps as iggy_steps
from tests.independent.iggy.header_numbers import with_numbers
from tests.independent.iggy.reader import first_entry
from tests.independent.kafka import reader as kafka
from tests.independent.kafka import steps as kafka_steps
from tests.independent.kafka import views
from tests.independent.refused import RefusedError
from wireproof.cases.generated_bytes import Recipe
from wireproof.cases.made_case import generator_of
from wireproof.wire.json_values import canonical_json, json_digest

Json = Any
Row = Mapping[str, Any]
"""A case as it is in its file."""

FIXTURES: Final = Path(__file__).resolve().parents[2] / "fixtures"

ANOTHER_CLASS: Final = frozenset(
    (
        "iggy.fetch/0.11.1-edge/reply/lengths-shifted",
        "iggy.log/0.2.7/states/headers-of-one-byte",
        "iggy.poll/0.0.30/states/headers-of-one-byte",
        "iggy.poll/0.11/editions/0-9",
        "iggy.poll/0.11/torn/one-byte-more",
        "iggy.poll/0.11.1-edge/editions/0-11",
        "iggy.poll/0.9/editions/0-11",
        "iggy.poll/0.9/phantom/70-ff",
        "iggy.send/0.0.30/states/headers-of-one-byte",
        "iggy.send/0.11/editions/0-9",
        "iggy.send/0.11/length/two-batches",
        "iggy.send/0.7/metadata/count-3-for-2",
        "iggy.send/0.8/metadata/count-3-for-2",
        "iggy.send/0.9/editions/0-11",
        "iggy.send/0.9/metadata/count-3-for-2",
        "kafka.batch/v2/attributes/codec-none-but-gzip",
        "kafka.batch/v2/states/xerial-chunk-greatest",
        "kafka.batch/v2/varints/cut-at-record-end",
    )
)
"""Refusals for which the reader finds another of the right classes: more than one thing is wrong there."""


COMPUTED: Final = (".hmac",)
"""The parts of a value that a writer computes where it is given null."""


@frozen
class Report:
    """What was found: how many cases of each sort were checked, and what is wrong with some.

    The sorts: `value` and `refusal` of a decode, `open` if it has several answers, `written` bytes, `given`
    values that are to be written without stated bytes, `scan`, `steps`, and `generated` from a recipe. What
    is `large` is made by `check reference`; of a value that is `unfit` to be written nothing can be computed.
    """

    counts: Counter[str] = field(factory=Counter)
    problems: list[str] = field(factory=list)


def rows_of(form: str, fixtures: Path = FIXTURES) -> Iterator[tuple[Row, Path]]:
    """Yield each case of a format, and the folder of its file."""
    for path in sorted(fixtures.glob(f"{form}/*/*.json")):
        for row in json.loads(path.read_text("utf-8"))["cases"]:
            yield row, path.parent


def report_of(form: str, fixtures: Path = FIXTURES) -> Report:
    report = Report()
    for row, folder in rows_of(form, fixtures):
        try:
            sort, problem = check(row, folder)
        except ValueError as error:  # hexadecimal digits that are none
            sort, problem = "unreadable", str(error)
        report.counts[sort] += 1
        if problem:
            report.problems.append(f"{row['id']}: {problem}")
    return report


def check(row: Row, folder: Path = FIXTURES) -> tuple[str, str | None]:
    """Return of which sort a case is, and what is wrong with it."""
    if "steps" in row:
        return "steps", _STEPS[row["id"].partition(".")[0]](row)
    if "generate" in row["input"]:
        return _generated(row)
    if row["op"] == "encode":
        return _written(row)
    if row["op"] == "scan":
        return "scan", _scanned(row)
    sort = {"accept": "value", "reject": "refusal", "either": "open"}[next(iter(row["expect"]))]
    return sort, _decoded(row, input_bytes(row, folder), row["expect"])


def input_bytes(row: Row, folder: Path) -> bytes:
    """Return the bytes of a case, which may lie in a file beside it."""
    source = row["input"]
    return bytes.fromhex(source["hex"]) if "hex" in source else (folder / source["file"]).read_bytes()


def read(row: Row, data: bytes) -> tuple[Json, int]:
    """Return the value of bytes in the format of a case, and how many it has; or raise RefusedError."""
    form, revision = row["id"].split("/")[:2]
    options = row.get("options") or {}
    if form == "kafka.log":
        is_view = bool({"isolation", "fetch_offset", "aborted"} & set(options))
        return (views.stored if "topic" in options else views.delivered if is_view else kafka.read_log)(
            data, options
        )
    if form == "kafka.batch":
        return kafka.read_single(data, revision, row.get("profile", "reader"))
    if form.startswith("heka."):
        return (heka.read_single if form == "heka.message" else heka.read_stream)(data, options)
    read_iggy = iggy_json.read if form.startswith("iggy.json.") else iggy.read
    return read_iggy(form, revision, data)


# --- decodes ---


def _decoded(row: Row, data: bytes, expect: Row) -> str | None:
    """Return how the reader departs from what a decode expects; of several answers it must give one."""
    try:
        value, consumed = read(row, data)
        found: Json = {"accept": {"value": value, "consumed": consumed}}
    except RefusedError as refused:
        found = {"reject": {"class": refused.cls, "at": refused.at, "before": refused.before}}
    answers = expect["either"]["behaviours"] if "either" in expect else [expect]
    problems = [_departure(answer, found, row["id"]) for answer in answers]
    return None if None in problems else problems[0]


def _departure(expect: Row, found: Row, name: str) -> str | None:
    match expect, found:
        case {"accept": stated}, {"accept": read_value}:
            return difference({**read_value, **_other(stated)}, stated)
        case {"reject": stated}, {"reject": refused}:
            wanted = stated.get("also", ()) if name in ANOTHER_CLASS else (stated["class"],)
            if stated["class"] != "other" and refused["class"] not in wanted:
                return f".class: the reader finds {refused['class']}, the file has {stated['class']}"
            named = {name: refused[name] for name in ("at", "before") if name in stated}
            return difference(named, {name: stated[name] for name in named})
    return f"the reader finds {str(found)[:120]}"


def _other(stated: Row) -> Row:
    """Return the parts of an expectation that a reader does not compute; `consumed` may be left out."""
    rest = {name: part for name, part in stated.items() if name not in ("value", "digest", "consumed")}
    return rest if "consumed" in stated else {**rest, "consumed": None}


def difference(found: Json, stated: Json, place: str = "") -> str | None:
    """Return the first place where two values differ, with both parts."""
    if isinstance(found, dict) and isinstance(stated, dict):
        for name in [*stated, *(name for name in found if name not in stated)]:
            if problem := difference(found.get(name), stated.get(name), f"{place}.{name}"):
                return problem
        return None
    if isinstance(found, list) and isinstance(stated, list) and len(found) == len(stated):
        for number, (one, other) in enumerate(zip(found, stated, strict=True)):
            if problem := difference(one, other, f"{place}[{number}]"):
                return problem
        return None
    if found == stated:
        return None
    return f"{place}: the reader finds {str(found)[:80]}, the file has {str(stated)[:80]}"


# --- what is made from a recipe ---

MOST_MADE: Final = 1 << 18
"""Bytes of all payloads up to which a recipe is carried out here, with 100 for each record."""


def _generated(row: Row) -> tuple[str, str | None]:
    """Check what a recipe makes: its size, its digests, and what the reader finds in it."""
    source = row["input"]
    recipe = Recipe(**source["generate"])
    if recipe.payload + 100 * recipe.records > MOST_MADE:
        return "large", None
    makes = generator_of(recipe)
    data = makes.data(recipe) if row["op"] == "decode" else canonical_json(makes.given(recipe))
    if (len(data), sha256(data).hexdigest()) != (source["size"], source["sha256"]):
        return "generated", f".input: the recipe makes {len(data)} bytes, {sha256(data).hexdigest()}"
    if row["op"] == "encode":
        return "generated", None
    try:
        value, consumed = read(row, data)
        found: Json = {"accept": {"digest": json_digest(value), "consumed": consumed}}
    except RefusedError as refused:
        found = {"reject": {"class": refused.cls, "at": refused.at, "before": refused.before}}
    return "generated", _departure(row["expect"], found, row["id"])


# --- what is written ---


def _written(row: Row) -> tuple[str, str | None]:
    """Check that a given value is expected, and that stated bytes have it; one of several answers fits."""
    expect, given = row["expect"], row["input"]["value"]
    answers = expect["either"]["behaviours"] if "either" in expect else [expect]
    accepted = [answer["accept"] for answer in answers if "accept" in answer]
    if not accepted:
        return "unfit", None
    problems = [_unlike(_sorted_headers(given), _sorted_headers(one.get("value", given))) for one in accepted]
    read_back = (
        _decoded(row, bytes.fromhex(data), _as_read(row, one, data))
        for one in accepted
        for data in one.get("bytes", ())
    )
    derived = difference(completed({**row, "expect": bare(expect)}, FIXTURES), expect)
    sort = "written" if any(one.get("bytes") for one in accepted) else "given"
    return sort, next(filter(None, read_back), derived or (None if None in problems else problems[0]))


def _sorted_headers(value: Json) -> Json:
    """Return a value whose headers of Iggy stand in one order: they are a map."""
    if isinstance(value, dict):
        parts = {name: _sorted_headers(part) for name, part in value.items()}
        headers = parts.get("headers")
        return {**parts, "headers": sorted(headers, key=str)} if isinstance(headers, list) else parts
    return [_sorted_headers(part) for part in value] if isinstance(value, list) else value


def _as_read(row: Row, accept: Row, data: str) -> Row:
    value = accept.get("value")
    if value is None:  # a large value stands in the input alone, without what is derived
        return {"accept": {"value": with_numbers(row["input"]["value"]), "consumed": len(data) // 2}}
    return {"accept": {"value": value, "consumed": len(data) // 2}}


def _unlike(given: Json, value: Json, place: str = "") -> str | None:
    """Return where a value is not the one that was given; further parts and some nulls are computed."""
    if given is None and place.endswith(COMPUTED):
        return None
    if isinstance(given, dict) and isinstance(value, dict):
        parts = [(f"{place}.{name}", part, value.get(name)) for name, part in given.items()]
    elif isinstance(given, list) and isinstance(value, list) and len(given) == len(value):
        parts = [(f"{place}[{number}]", *pair) for number, pair in enumerate(zip(given, value, strict=True))]
    else:
        return None if given == value else f"{place}: given is {str(given)[:80]}, expected {str(value)[:80]}"
    return next(filter(None, (_unlike(part, other, at) for at, part, other in parts)), None)


# --- scans ---


def _scanned(row: Row) -> str | None:
    """Check that the items cover the bytes, and that each is what the reader finds at its place.

    Other searches than that of a strict reader (option `resync`) may deliver what it refuses.
    """
    data = bytes.fromhex("".join(row["input"]["chunks"]))
    accept, at = row["expect"]["accept"], 0
    own = "resync" not in (row.get("options") or {})
    for number, item in enumerate(accept["value"]["items"]):
        if item["at"] != at:
            return f".items[{number}].at: the item before it ends at {at}, the file has {item['at']}"
        at += item["length"]
        if problem := _item(row, data, item, own=own):
            return f".items[{number}]{problem}"
    end = accept.get("consumed", len(data))
    return None if at == len(data) == end else f".items: they end at {at} of {len(data)} bytes"


def _item(row: Row, data: bytes, item: Row, *, own: bool) -> str | None:
    at, end = item["at"], item["at"] + item["length"]
    try:
        found = _entry(row, data, at)
    except RefusedError as refused:
        if item["kind"] == "frame":
            return f": the reader refuses the frame: {refused}" if own else None
        if item["kind"] == "garbage" and own and item.get("class") not in (None, refused.cls):
            return difference(refused.cls, item["class"], ".class")
        return None if item["kind"] == "garbage" else f": the reader refuses the {item['kind']}: {refused}"
    if found is None:
        return ": the reader finds that the bytes end in it" if item["kind"] == "frame" else None
    if item["kind"] == "frame" and "value" in item:
        return difference([found[0], found[1]], [item["value"], end])
    return f": the reader finds a frame of {found[1] - at} bytes" if own else None


def _entry(row: Row, data: bytes, at: int) -> tuple[Json, int] | None:
    """Return the entry at a position and its end, or None if the bytes end in it."""
    form, revision = row["id"].split("/")[:2]
    if form == "heka.stream":
        return heka.read_frame(data, at, row.get("options") or {})
    if form == "kafka.log":
        end = kafka.entry_end(data, at)
        return None if end is None else (kafka.read_entry(data, at, end), end)
    return first_entry(revision, data, at)


_STEPS: Final[Mapping[str, Callable[[Row], str | None]]] = {
    "kafka": kafka_steps.problem_of,
    "iggy": iggy_steps.problem_of,
}
