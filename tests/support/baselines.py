"""A baseline of two entries, and what the tests of baselines ask of it."""

from datetime import date

from attrs import evolve
from small_runs import RUN, event, stream

from wireproof.run.baselines import baseline_adding, baseline_writing
from wireproof.run.baselines.baseline import apply
from wireproof.run.baselines.known_failures import CaseNames, KnownFailure, parse_baseline
from wireproof.run.conclusion import exit_code
from wireproof.run.events import CaseEvent, EventStream

TODAY = date(2026, 11, 21)
LATER = date(2027, 6, 30)
FORMAT = "toy.frame/v1"

TEXT = """\
# known failures of some

# why it is so
# in two lines
[[known-failure]]
id = "toy.frame/v1/sum/wrong"
kind = "fail:wrong-accept"  # seen in 1.2
class = "crc-mismatch"
reason = "checks sums only on request"
owner = "somebody"
expires = 2027-06-30

# another
[[known-failure]]
id = "toy.frame/v1/other/one"
kind = "crash"
class = ""
reason = 'a "quoted" one'
owner = "somebody"
expires = 2027-06-30
"""

OTHER = event(3, "other/one", "crash")

NAMES = CaseNames(
    [f"toy.frame/v1/{name}" for name in ("basic/good", "sum/wrong", "sum/zero", "other/one")],
    ["toy.frame/v1/property/decode"],
)


def fix(text: str, seen: EventStream) -> str:
    return baseline_writing.fix(text, [seen], NAMES).text


def code(*cases: CaseEvent, text: str = TEXT, today: date = TODAY, **run: object) -> int:
    seen = stream(*cases, run=evolve(RUN, **run))
    return exit_code(seen, apply(seen, parse_baseline(text), today))


def written(seen: EventStream, owner: str, reason: str, expires: date, issue: str = "") -> str:
    names = CaseNames({event.id.partition("~")[0] for event in seen.cases}, [f"{FORMAT}/property/decode"])
    model = KnownFailure("", "", "", reason, owner, expires, issue)
    return baseline_adding.add("", [seen], names, model, today=TODAY).text
