"""Iggy codecs that leave out one check of the reference: what it would refuse is answered.

Each row of `SWALLOWED` names the check by the class of its refusal, and by where it stands.
"""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from attrs import frozen

from tests.mutants.iggy_helpers import IggyMutant
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, refused_outcome
from wireproof.wire.rejection import Rejected


@frozen
class Check:
    """A row: the mutant's name and fault, and which refusals it does not make.

    Attributes:
        classes: of the refusal; empty takes all.
        formats: a pattern of the format's name.
        path: a pattern of the field.
        op: decode or encode.
        spared: the specification's name of refusals that it does make.
    """

    name: str
    fault: str
    classes: tuple[str, ...] = ()
    formats: str = ""
    path: str = ""
    op: str = "decode"
    spared: str = ""

    def leaves_out(self, rejected: Rejected, request: Request) -> bool:
        """Return True if this mutant omits the refusal."""
        return (
            request.op == self.op
            and (not self.classes or rejected.cls in self.classes)
            and re.search(self.formats, request.format) is not None
            and re.search(self.path, rejected.path) is not None
            and not (self.spared and rejected.detail == self.spared)
        )


BINARY: Final = r"^iggy\.(?!json)"
JSON: Final = r"^iggy\.json"
CUT: Final = ("truncated", "length-past-end")

SWALLOWED: Final[tuple[Check, ...]] = (
    Check(
        "iggy-identifier-unchecked",
        "Takes identifiers of any kind, length, text and number.",
        ("bad-kind", "bad-length", "bad-utf8", "invalid-value"),
        path=r"^(stream|topic)\.|^(kind|length|value)$",
        formats=r"^iggy\.(identifier|send)$",
    ),
    Check(
        "iggy-partitioning-unchecked",
        "Takes partitionings of any kind and length.",
        ("bad-kind", "bad-length"),
        path=r"^partitioning\.|^(kind|length)$",
        formats=r"^iggy\.(partitioning|send|json\.send)$",
    ),
    Check("iggy-cut-accepted", "Takes whatever is cut short as if it were whole.", CUT, BINARY),
    Check("iggy-trailing-accepted", "Ignores what is left over behind a poll.", ("trailing-data",), BINARY),
    Check(
        "iggy-state-unchecked",
        "Takes states that do not exist.",
        ("bad-kind", "type-mismatch"),
        path="state$",
    ),
    Check("iggy-send-of-none", "Takes a send without messages.", ("count-mismatch",), "send$"),
    Check(
        "iggy-bad-headers-skipped",
        "Skips a header block of a message that it cannot read.",
        ("bad-kind", "bad-length", "bad-utf8", "length-past-end"),
        r"^iggy\.(send|poll|log)$",
        r"\.headers\[",
    ),
    Check(
        "iggy-json-text-lax",
        "Reads text that is no JSON.",
        ("bad-json", "bad-utf8", "trailing-data"),
        JSON,
        spared="base64",
    ),
    Check("iggy-json-types-coerced", "Makes of a JSON value what its field wants.", ("type-mismatch",), JSON),
    Check("iggy-json-wide-numbers", "Cuts numbers to the width of their field.", ("invalid-value",), JSON),
    Check(
        "iggy-json-fields-defaulted",
        "Puts a default in the place of a missing field.",
        ("missing-field",),
        JSON,
    ),
    Check("iggy-json-kinds-unchecked", "Takes kinds and states that do not exist.", ("bad-kind",), JSON),
    Check(
        "iggy-json-base64-skipped",
        "Takes a text that is no base64 as it stands.",
        ("bad-json",),
        JSON,
        "payload$",
    ),
    Check("iggy-writes-unchecked", "Writes what no reader takes.", op="encode"),
)


class Swallows(IggyMutant):
    """Leaves out the check of its row."""

    check: ClassVar[Check]

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        """Accept if the check is the one that is left out."""
        outcome = refused_outcome(rejected)
        if not self.check.leaves_out(rejected, request):
            return outcome
        return Accepted(data=b"") if request.op == "encode" else Accepted(outcome.before, len(request.data))


def _made(check: Check) -> type[Swallows]:
    name = "".join(word.capitalize() for word in check.name.split("-"))
    return type(name, (Swallows,), {"name": check.name, "check": check, "__doc__": check.fault})


def swallowing(rows: Iterable[Check]) -> tuple[type[Swallows], ...]:
    """Return a mutant for each row."""
    return tuple(map(_made, rows))


CHECKS: Final[tuple[type[Swallows], ...]] = swallowing(SWALLOWED)
