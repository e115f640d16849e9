"""Python adapters whose claims are wrong, or leave much out; what they answer is the reference's."""

from typing import Any

from wireproof.adapters.contract import Claim, Request
from wireproof.adapters.reference import Reference
from wireproof.cases.outcome import Accepted, Outcome

LOG = "kafka.log/mixed"
ENTRY = "kafka.batch/v2"


class Claims(Reference):
    """The reference under another name and with other claims."""

    name = "claims"
    revisions: Any = {}  # noqa: RUF012 - each has its own

    def __init__(self, revisions: dict[str, Claim]) -> None:
        self.revisions = revisions


class Offsets(Claims):
    """Shows nothing of an entry but its offset."""

    name = "offsets"

    def __init__(self) -> None:
        seen = ("batches[magic=2].baseOffset", "batches[].offset")
        super().__init__({LOG: Claim(("decode",), observes=seen)})

    def decode(self, request: Request) -> Outcome:
        outcome: Any = super().decode(request)
        if not isinstance(outcome, Accepted):
            return outcome
        names = ("baseOffset", "offset")
        kept = [{name: entry[name] for name in names if name in entry} for entry in _of(outcome)]
        return Accepted({"batches": kept}, outcome.consumed)


def _of(outcome: Accepted) -> list[dict[str, Any]]:
    value: Any = outcome.value
    return [value] if "batches" not in value else list(value["batches"])


def typo(revision: str = ENTRY, **claim: Any) -> Claims:
    return Claims({revision: Claim(("decode",), **claim)})


revision = typo("kafka.batch/V2")
codec = typo(codecs=("none", "zlib"))
profile = typo(profiles=("consumer",))
feature = typo(features=("header",))
observes = typo(observes=("records[].valeu",))
selector = typo(LOG, observes=("batches[magc=2].baseOffset",))
nothing = typo(profiles=("produce",))
reader = Claims({ENTRY: Claim(("decode",))})
offsets = Offsets()
