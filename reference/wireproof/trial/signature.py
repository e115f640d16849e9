"""How findings are grouped: design, section 1, "signature"."""

import re
from typing import Final

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.trial.verdicts import Verdict

BEFORE: Final = "before"
"""Where the path of a verdict begins that is about what was delivered before a refusal."""

_INDEX: Final = re.compile(r"\[\d+\]")


@frozen(order=True)
class Signature:
    """Findings with equal signatures are, until shown otherwise, one finding."""

    implementation: str
    format: str
    op: str
    kind: str
    cls: str
    path: str

    def __str__(self) -> str:
        """One line, the empty parts left out."""
        parts = (self.implementation, self.format, self.op, self.kind, self.cls, self.path)
        return " · ".join(part for part in parts if part)


def without_indices(path: str) -> str:
    """`records[3].headers[0].key` as `records[].headers[].key`."""
    return _INDEX.sub("[]", path)


def signature(implementation: str, case: Case, verdict: Verdict) -> Signature:
    """The signature of a verdict of an implementation, named without its transport or arguments.

    A value that was wrong before the bytes went bad is wrong whatever they went bad by, and wherever.
    """
    path = without_indices(verdict.path)
    early = path.partition(".")[0] == BEFORE
    if early and verdict.kind == "wrong-value":
        path = path.removeprefix(BEFORE).removeprefix(".")
    kind, cls = _kind(verdict.name, verdict.kind), "" if early else verdict.cls
    return Signature(implementation, case.joined, case.op, kind, cls, path)


def _kind(name: str, kind: str) -> str:
    # A block is named by its twin, which would make every one of them a finding of its own.
    return name if name == "blocked" or not kind else f"{name}:{kind}"
