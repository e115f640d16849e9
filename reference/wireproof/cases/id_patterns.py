"""Selection by id (`*` stands for one component, `**` for any number), and the case most similar to bytes."""

import re
from collections.abc import Iterable, Sequence

from wireproof.cases.case import Case, Data, Reject
from wireproof.cases.fixtures import Suite
from wireproof.suggestions import FEW, bracket_error, closest, suggestion
from wireproof.wire.rejection import RejectClass


class PatternError(LookupError):
    """A pattern that nothing matches; the message suggests one that matches."""


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern; within a component `*` is any text of it."""
    words, parts = pattern.split("/"), []
    for word, before in zip(words, ["", *words], strict=False):
        if not word == before == "**":  # a repeated `**` adds nothing, and makes the match slow
            # `**` at the end of a component matches further ones too: `kafka.**`
            pieces = map(re.escape, word.removesuffix("**").split("*"))
            parts.append("[^/]*".join(pieces) + (".*" if word.endswith("**") else ""))
    text = "/".join(parts)
    return re.compile(text.replace("/.*", "(?:/.*)?").replace(".*/", "(?:.*/)?"))


def select(suite: Suite, patterns: Sequence[str]) -> tuple[Case, ...]:
    """Return the cases that any pattern matches, in order; each pattern must match one."""
    found: set[str] = set()
    for pattern in patterns:
        # no file of another format than the pattern's is read
        of_format = compile_pattern(pattern.partition("/")[0]).fullmatch
        fits = compile_pattern(pattern).fullmatch
        hits = {case.id for case in suite.of_formats(of_format) if fits(case.id)}
        if not hits:
            if error := bracket_error(pattern.partition("~")[0]):
                raise PatternError(error)
            raise PatternError(f"no case matches {pattern}: {_advice(suite, pattern)}")
        found |= hits
    formats = {name.partition("/")[0] for name in found}
    return tuple(case for case in suite.of_formats(formats.__contains__) if case.id in found)


def _advice(suite: Suite, pattern: str) -> str:
    ids = list(suite.by_id)
    if not ids:
        return "there are no fixtures"
    folder = pattern.rstrip("/")
    for more in (f"{folder}/*", f"{folder}/**", f"**/{folder}/*") if "*" not in folder else ():
        if any(map(compile_pattern(more).fullmatch, ids)):
            return f"write '{more}' for the cases in it"
    if pattern in suite.rules:
        return f"it is a rule, and `wireproof show {pattern}` lists its cases"
    words = pattern.split("/")
    for place, word in enumerate(words):
        if any(map(compile_pattern("/".join((*words[: place + 1], "**"))).fullmatch, ids)):
            continue
        fits = compile_pattern("/".join((*words[:place], "*", "**"))).fullmatch
        known = {name.split("/")[place] for name in ids if name.count("/") >= place and fits(name)}
        if near := closest(word, sorted(known)):
            fixed = "/".join((*words[:place], near, *words[place + 1 :]))
            return f"did you mean {fixed}?"
        if place and known and len(known) <= FEW:
            return f"known after {'/'.join(words[:place])}/: {', '.join(sorted(known))}"
        break
    return suggestion(pattern, ids, "run `wireproof cases` for the list")


def similarity(one: bytes, other: bytes) -> float:
    """Return the share of bytes that two strings have in common at their ends, 0 to 1."""
    longest = max(len(one), len(other))
    if one == other:
        return 1.0
    head = _alike(one, other)
    return (head + _alike(one[head:][::-1], other[head:][::-1])) / longest


def _alike(one: bytes, other: bytes) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def most_similar(
    data: bytes, format_id: str, refused: RejectClass | None, cases: Iterable[Case]
) -> Case | None:
    """Return the case of a format most similar to `data`; with a rejection, one of the same class first."""

    def score(case: Case) -> tuple[bool, float]:
        assert isinstance(case.input, Data)
        cls = case.expect.cls if isinstance(case.expect, Reject) else None
        return (cls == refused, similarity(data, case.input.data))

    pool = [case for case in cases if case.format_id == format_id and isinstance(case.input, Data)]
    return max(pool, key=score, default=None)
