"""The rules that a generated case may be about: nobody has written down which rule it tests."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.id_patterns import similarity
from wireproof.cases.made_case import input_bytes
from wireproof.formats import FORMATS, TracedDecode
from wireproof.judge.signature import without_indices
from wireproof.wire.options import Options


def likely_rules(case: Case, suite: Suite, path: str) -> tuple[str, ...]:
    """Return the ids of the rules that a case without one may be about, that of the most similar case first.

    Where no rule is about the field, it is that of the most similar case. `path` is the field that was read
    differently; empty if none was.
    """
    best = _of_revision(case, _by_similarity(case, _fitting(case, suite, path)))
    best = best or [known for known in (most_like(case, suite),) if known is not None]
    return tuple(dict.fromkeys(known.rules[0] for known in best))[:3]


def rule_of_field(case: Case, suite: Suite, path: str) -> tuple[str, ...]:
    """Return the id of the rule of most cases about a field; empty if there is none."""
    found = Counter(known.rules[0] for known in _of_revision(case, _fitting(case, suite, path)))
    return tuple(rule for rule, _ in found.most_common(1))


def _fitting(case: Case, suite: Suite, path: str) -> list[Case]:
    """Return the cases that are about the field `path`, or about the one for which `case` is refused.

    Those of refusals are refused with the same class at the same field. Of an accepted case, the reference
    cites the section of their rule in a remark at the field, or the sentence of the rule names it.
    """
    comparable, leaf = _comparable(case, suite), leaf_of(path)
    fitting = list(filter(_fits_place(case, suite, leaf), comparable))
    if not fitting and leaf:  # a derived field such as nextOffset stands in no sentence
        words = re.findall("[A-Z]?[a-z]+", leaf) or [leaf]
        fitting = list(filter(_fits_place(case, suite, words[-1]), comparable))
    return fitting


def most_like(case: Case, suite: Suite) -> Case | None:
    """Return the case with the same kind of question and answer whose input is most similar; None if none."""
    return next(iter(_by_similarity(case, _comparable(case, suite))), None)


def _comparable(case: Case, suite: Suite) -> list[Case]:
    """Return the cases whose rule could be the rule of `case`: same kind of question, same answer."""
    found = []
    for known in suite.of_formats(lambda name: name == case.format):
        same = (known.format, known.op, known.profile) == (case.format, case.op, case.profile)
        match known.expect, case.expect:
            case Reject(known_class), Reject(cls):
                alike = known_class == cls
            case one, other:
                alike = isinstance(one, Accept) and isinstance(other, Accept)
        if same and known.rules and alike:
            found.append(known)
    return found


def _by_similarity(case: Case, pool: Iterable[Case]) -> list[Case]:
    """Return the cases with an input of the same type, most similar first; prefer the revision of `case`."""
    content = input_bytes(case)
    return sorted(
        (known for known in pool if type(known.input) is type(case.input)),
        key=lambda known: (known.revision == case.revision, similarity(content, input_bytes(known))),
        reverse=True,
    )


def _of_revision(case: Case, found: list[Case]) -> list[Case]:
    """Return the cases of the revision of `case`; all if there are none."""
    return [known for known in found if known.revision == case.revision] or found


def _fits_place(case: Case, suite: Suite, leaf: str) -> Callable[[Case], bool]:
    """Return a function that reports whether a case is about the field where `case` is special."""
    if isinstance(case.expect, Reject):
        rejected = rejected_field(case)
        return lambda known: rejected_field(known) == rejected
    layout = layout_of_decode(case)
    remarks = layout.decoded.remarks if layout is not None and layout.decoded is not None else ()
    known_remarks = formats.remark_classes()
    sources = (known_remarks[one.cls].source for one in remarks if leaf_of(one.path) == leaf)
    cited = (re.match(r"(\S+\.md),? sections? ([0-9.]+)", source) for source in sources)
    sections = {(match[1], f"§{match[2]}") for match in cited if match}
    named = re.compile(rf"\b{re.escape(leaf)}\b", re.IGNORECASE)

    def fits(known: Case) -> bool:
        rule = suite.rules.get(known.rules[0])
        if rule is None or not leaf:
            return False
        return named.search(rule.text) is not None or (rule.document, rule.section) in sections

    return fits


def leaf_of(path: str) -> str:
    """Return the name of the last field of a path, without an index."""
    return path.rpartition(".")[2].partition("[")[0]


def layout_of_decode(case: Case) -> TracedDecode | None:
    """Return the layout trace of a decode; None for other cases and for unknown formats."""
    if not isinstance(case.input, Data) or case.format_id not in FORMATS:
        return None
    return formats.decode_with_trace(FORMATS[case.format_id], case.input.data, case.options)


def rejected_field(case: Case) -> str:
    """Return the path of the rejected field without indices; empty if the case is accepted."""
    if not isinstance(case.input, Data) or case.format_id not in FORMATS:
        return ""
    return _rejected_field(case.format_id, case.input.data, case.options)


@lru_cache(4096)
def _rejected_field(format_id: str, data: bytes, options: Options) -> str:
    rejected = formats.decode_with_trace(FORMATS[format_id], data, options).rejected
    return without_indices(rejected.path) if rejected is not None else ""
