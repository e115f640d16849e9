"""Signatures: findings with equal signatures are grouped as one finding."""

import re
from typing import Final

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.runner.verdicts import Verdict

BEFORE: Final = "before"
"""Begins the path of a verdict about the entries delivered before a rejection."""

_INDEX: Final = re.compile(r"\[\d+\]")


@frozen(order=True)
class Signature:
    """Findings with equal signatures count as one finding."""

    implementation: str
    format: str
    op: str
    kind: str
    cls: str
    path: str

    def __str__(self) -> str:
        """Return one line without the empty parts."""
        parts = (self.implementation, self.format, self.op, self.kind, self.cls, self.path)
        return " · ".join(part for part in parts if part)


def without_indices(path: str) -> str:
    """Return `records[3].headers[0].key` as `records[].headers[].key`."""
    return _INDEX.sub("[]", path)


def signature(implementation: str, case: Case, verdict: Verdict) -> Signature:
    """Return the signature of a verdict on an implementation, named without its transport or arguments."""
    kind = f"{verdict.name}:{verdict.kind}" if verdict.kind else verdict.name
    rest = signature_parts(kind, verdict.cls, verdict.path, verdict.broken)
    return Signature(implementation, case.format_id, case.op, *rest)


def signature_parts(kind: str, cls: str, path: str, broken: str) -> tuple[str, str, str]:
    """Return the kind, class and path of a signature.

    A wrong value before the fault is the same finding for any fault at any place. The kind of `blocked` is
    the id of the twin, which would make each of them a separate finding.
    """
    path = broken or without_indices(path)
    name, _, of_kind = kind.partition(":")
    early = path.partition(".")[0] == BEFORE
    if early and of_kind == "wrong-value":
        path = path.removeprefix(BEFORE).removeprefix(".")
    return name if name == "blocked" else kind, "" if early else cls, path
