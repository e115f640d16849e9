"""The view of one case: its rule, its bytes, their fields, and the byte that a verdict is about.

The values are plain: the matrix packs them into its page.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from json import dumps
from textwrap import wrap
from typing import Final, get_args

from attrs import evolve, frozen

from wireproof.adapters.reference import claim_of_row
from wireproof.cases.case import Accept, Case, Either, Generated, Reject, Steps, Value
from wireproof.cases.fixtures import Suite
from wireproof.cases.observable_fields import observed_tree
from wireproof.cases.rules import Rule, cited
from wireproof.cases.steps import answers
from wireproof.family import object_at
from wireproof.formats import FORMATS, decode_with_trace, family_of
from wireproof.inspect.field_listing import FieldLine, by_path, innermost, lines_with_spans
from wireproof.inspect.hexdump import data_of, layout_of, wire_range
from wireproof.judge.differences import short_expect
from wireproof.lint.sources import Coverage, sentences_of
from wireproof.strict_parsing import to_tree
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import project
from wireproof.wire.options import Profile
from wireproof.wire.rejection import Position
from wireproof.wire.text import counted
from wireproof.wire.trace import FieldSpan

# --- step table ---


def step_lines(case: Case) -> Iterator[str]:
    if not isinstance(case.input, Steps):
        return
    for number, step in enumerate(case.input.steps, 1):
        parts = [step.op, *(f"{name}={_short(part)}" for name, part in step.fields.items())]
        if step.data is not None:
            row = FORMATS.get(case.format_id)
            place = family_of(row).step_words if row else ""
            size = counted(len(step.data), "byte", grouped=False)
            parts.append(str(object_at(place)(step.data)) if place else size)
        yield f"{number:>3}  {' '.join(parts)}"
        for which, (name, answer) in enumerate(answers(step).items()):
            lead = f"or {name}: " if which else f"{name}: " if name else ""
            objects = [(name, _objects(part)) for name, part in answer.items()]
            plain = " ".join(_field(name, answer[name]) for name, rows in objects if not rows)
            first, *rows = [plain, *(f"{name}: {_fields(row)}" for name, rows in objects for row in rows)]
            yield f"     -> {lead}{first}"
            yield from (f"        {line}" for line in rows)


def _objects(part: Json) -> list[dict[str, Json]]:
    return [one for one in part if isinstance(one, dict)] if isinstance(part, list) else []


def _fields(row: Mapping[str, Json]) -> str:
    rows = (f"[{_fields(one)}]" for part in row.values() for one in _objects(part))
    return " ".join([*(_field(name, part) for name, part in row.items() if not _objects(part)), *rows])


def _field(name: str, part: Json) -> str:
    return f"{name}={_short(part)}"


def _short(part: Json) -> str:
    """Return a field without the quotes of JSON."""
    return part if isinstance(part, str) else dumps(part, separators=(",", ":")).replace('"', "")


# --- case view ---


MAX_BYTES: Final = 1024
"""Bytes of a case that are shown; more are counted."""

MAX_FIELDS: Final = 200
"""Fields of a case that are shown."""

MAX_TEXT: Final = 4000
"""Characters of a value to encode that are shown."""


@frozen
class Mark:
    """A place in a case: a line of the tree, and the bytes `start` to `end` of a space; -1 if unknown."""

    line: int = -1
    start: int = -1
    end: int = -1
    space: str = ""


NO_MARK: Final = Mark()


@frozen
class Region:
    """A compressed part of a case as it is unpacked; `space` is such as `61>` for what byte 61 begins."""

    space: str
    start: int
    end: int
    data: bytes


@frozen
class CaseView:
    """A case with its bytes and their fields.

    Attributes:
        data: its bytes; for an encode, the first acceptable ones.
        text: for an encode, the value in JSON.
        tree: the lines of the fields of `data`, at most `MAX_FIELDS`, with the fields; a heading has none.
        regions: the compressed parts of `data`, with the bytes that were unpacked from them.
    """

    case: Case
    data: bytes
    text: str
    tree: tuple[tuple[FieldLine, FieldSpan | None], ...]
    more: bool = False
    regions: tuple[Region, ...] = ()

    @property
    def lines(self) -> Sequence[FieldLine]:
        return [line for line, _ in self.tree]

    def mark(self, at: Position | None, path: str = "") -> Mark:
        """Return the field at a position, else the one with the path, else the expected refusal."""
        if at is None and not path and isinstance(self.case.expect, Reject):
            at = self.case.expect.at
        spans = [span for _, span in self.tree if span is not None]
        span = innermost(spans, at) or by_path(spans, path)
        line = next(
            (n for n, (text, own) in enumerate(self.tree) if (text.marked if span is None else own is span)),
            -1,
        )
        space, _, offset = str(at if span is None else span.at).rpartition(">")
        for region in self.regions:
            if offset and region.space == f"{space}>":
                first = int(offset)
                return Mark(line, first, max(first + 1, span.end if span else 0), region.space)
        start, end = wire_range(span, at)
        inside = 0 <= start < len(self.data)
        return Mark(line, *((start, min(end, len(self.data))) if inside else (-1, -1)))


def case_view_of(case: Case) -> CaseView:
    if isinstance(case.input, Generated):
        recipe = dumps(to_tree(case.input.recipe, without_defaults=True), indent=1)
        text = f"{case.input.size:,} bytes from the recipe {recipe}"
        return CaseView(case, b"", text, ())
    if isinstance(case.input, Steps):
        return CaseView(case, b"", "\n".join(step_lines(case)), ())
    text, regions = "", []
    if isinstance(case.input, Value):
        data = case.expect.data[0] if isinstance(case.expect, Accept) and case.expect.data else b""
        text = dumps(case.input.value, indent=1)
        text = text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
        row, options = FORMATS.get(case.format_id), evolve(case.options, profile=case.profile)
        layout = decode_with_trace(row, data, options) if data and row else None
    else:
        layout, data = layout_of(case), data_of(case) or b""
        if layout is not None and any(span.space for span in layout.spans):
            # A page needs these modules of the mutations; a command that shows a case starts without them.
            from wireproof.derive.mutate.decode_trace import trace_of  # noqa: PLC0415
            from wireproof.derive.mutate.splice import region_of_space  # noqa: PLC0415

            trace = trace_of(FORMATS[case.format_id], data, case.effective_options)
            for space, unpacked in trace.spaces.items():
                if space and (span := region_of_space(trace, space)):
                    regions.append(Region(space, span.start, span.end, unpacked))
    tree = list(lines_with_spans(layout)) if layout else []
    return CaseView(case, data, text, tuple(tree[:MAX_FIELDS]), len(tree) > MAX_FIELDS, tuple(regions))


# --- the answer that is expected ---


LABEL: Final = "want     "
"""What stands before the expectation; the lines of a value are below its text."""

LINE: Final = 100
"""Characters of a line of JSON; what is longer is broken into one line for each part."""

LONGEST_TEXT: Final = 256
"""Characters of a text in a value; of a longer one the first quarter is shown."""

MOST_PARTS: Final = 20
"""Elements of a list that are shown; of a longer one the first quarter is shown, and the last."""


def wanted_lines(case: Case) -> Iterator[str]:
    """Yield what a case expects: the value to answer as JSON, or classes and position of the refusal."""
    expect = case.expect
    if isinstance(expect, Either):
        yield f"{LABEL}one of these answers"
        for behaviour in expect.behaviours:
            first, *rest = _expect_lines(case, behaviour.expect)
            yield from (f"{'':9}{behaviour.id}: {first}", *(f"{'':9}{line}" for line in rest))
    else:
        first, *rest = _expect_lines(case, expect)
        yield from (f"{LABEL}{first}", *(f"{'':9}{line}" for line in rest))


def _expect_lines(case: Case, expect: Accept | Reject) -> Iterator[str]:
    text = short_expect(expect)
    match expect:
        case Reject(before=before) if before is not None:
            yield f"{text}, after this value was delivered"
            yield from value_lines(before)
        case Accept(digest=digest) if digest:
            yield f"{text}, with a value of this digest: {digest}"
        case Accept(data=data) if data:
            yield f"{text}, with these bytes, or others that decode to the value"
            yield from (shortened(one.hex()) for one in data)
        case Accept(value=value) if value is not None and not isinstance(case.input, Steps):
            yield f"{text}, with this value{' in the bytes' if case.op == 'encode' else ''}"
            yield from value_lines(project(value, observed_tree(case.format_id, ())))
        case _:
            yield text


def shortened(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[: LONGEST_TEXT // 4]}… {len(text) // 2:,} bytes"


def value_lines(value: Json, lead: str = "", name: str | None = None) -> Iterator[str]:
    """Yield the lines of a value as JSON; long texts and lists are cut, with a count of what is left out."""
    head = f"{lead}{dumps(name)}: " if name is not None else lead
    match value:
        case str() if len(value) > LONGEST_TEXT:
            yield head + dumps(shortened(value), ensure_ascii=False)
            return
        case dict():
            pairs: list[tuple[str | None, Json]] = list(value.items())
            begin, end = "{", "}"
        case list():
            pairs, begin, end = [(None, part) for part in value], "[", "]"
        case _:
            yield head + dumps(value)
            return
    if len(whole := dumps(value)) + len(head) <= LINE:
        yield head + whole
        return
    yield head + begin
    left_out = len(pairs) - MOST_PARTS // 4 - 1 if isinstance(value, list) and len(pairs) > MOST_PARTS else 0
    shown = [*pairs[: MOST_PARTS // 4], pairs[-1]] if left_out else pairs
    for number, (key, part) in enumerate(shown, 1):
        if left_out and number == len(shown):
            yield f"{lead}  … {left_out:,} more"
        *lines, last = value_lines(part, f"{lead}  ", key)
        yield from (*lines, last + "," * (number < len(shown)))
    yield lead + end


# --- rule lines ---


Lines = Iterator[tuple[str, str]]
"""The lines about a rule or a sentence, each with its label; a line without a text is not shown."""


def rule_lines(rule: Rule, suite: Suite) -> Lines:
    yield "rule", rule.id
    yield "text", rule.text
    yield "kind", rule.kind
    yield "basis", rule.basis
    yield "level", f"{rule.level}, in every case of a live server" if rule.level else ""
    yield "reason", rule.reason
    yield from _sources(rule.cites, suite)
    yield "page", f"{rule.document} {rule.section}"
    yield "practice", rule.practice
    yield "no cases", rule.exclusion
    for sentence in map(sentences_of(suite).get, rule.sentences):
        if sentence is not None:
            yield "sentence", f"{sentence.id}: {sentence.text}"
    yield from _cases(suite.by_rule.get(rule.id, ()))


def sentence_lines(row: Coverage, suite: Suite) -> Lines:
    sentence = row.sentence
    yield "sentence", sentence.id
    yield "text", sentence.text
    yield from _sources(sentence.cites, suite)
    yield "state", row.state
    yield "no cases", sentence.exclusion
    yield "missing", sentence.open
    yield "one kind", sentence.one_kind
    yield from (("rule", name) for name in row.rules)
    yield from _cases(row.cases)


def _sources(cites: Iterable[str], suite: Suite) -> Lines:
    return (("source", f"{place.title}: {place.url}") for place in cited(cites, suite.sources))


def _cases(cases: Iterable[Case]) -> Lines:
    effects = {Accept: "accept", Reject: "refuse", Either: "either"}
    return (("case", f"{case.level:<6} {effects[type(case.expect)]:<7} {case.id}") for case in cases)


# --- format claims ---


CLAIMS: Final = ("ops", "codecs", "features")
"""The parts of a claim whose words depend on the format."""


def claim_lines(format_ids: Sequence[str], room: int | None) -> Iterator[str]:
    """Yield the lines of the table of some formats.

    Cells are broken into several lines if `room` columns are too few, and words at their hyphens if there is
    not even room for the longest word of each column. Without `room` the output is piped.
    """
    # The revisions of a format share a row if they have the same words.
    groups: dict[tuple[str, tuple[tuple[str, ...], ...]], list[str]] = {}
    for row in map(FORMATS.__getitem__, format_ids):
        claim = claim_of_row(row)
        cells = tuple(getattr(claim, name) for name in CLAIMS)
        groups.setdefault((row.name, cells), []).append(row.revision)
    rows: list[tuple[str, ...]] = [("format", "revisions", *CLAIMS)]
    for (name, cells), revisions in groups.items():
        rows.append((name, " ".join(revisions), *map(" ".join, cells)))
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    words = [max(len(word) for cell in column for word in cell.split()) for column in columns]
    gap = "  " if room is None or sum(words) + 2 * (len(words) - 1) <= room else " "
    hyphens = room is not None and sum(words) + len(words) - 1 > room
    if hyphens:
        words = [max(map(len, re.split(r"\s|(?<=-)", " ".join(column)))) for column in columns]
    while room is not None and sum(widths) + len(gap) * (len(widths) - 1) > room and widths != words:
        widest = max(range(len(widths)), key=lambda place: widths[place] - words[place])
        widths[widest] -= 1
    for texts in rows:
        broken = (
            wrap(cell, width, break_long_words=False, break_on_hyphens=hyphens)
            for cell, width in zip(texts, widths, strict=True)
        )
        for parts in zip_longest(*broken, fillvalue=""):
            yield gap.join(map(str.ljust, parts, widths)).rstrip()
    provisional = dict.fromkeys(FORMATS[one].revision for one in format_ids if FORMATS[one].provisional)
    yield ""
    for revision in provisional:
        yield f"{revision}: provisional, of a pre-release"
    yield f"profiles of every format: {' '.join(get_args(Profile))}"
