"""Find the case of an event: by the token that it carries, or by its id among the fixtures."""

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.rules import Basis, cited
from wireproof.cases.token import TokenError, from_token
from wireproof.derive.derived import derived_cases
from wireproof.derive.seeded_examples import property_case
from wireproof.judge.likely_rules import rule_of_field
from wireproof.run.events import CaseEvent


class CaseLookup:
    """Finds cases and twins of events for the reports."""

    def __init__(self, suite: Suite) -> None:
        self._suite, self._by_id = suite, suite.by_id

    def case(self, event: CaseEvent) -> Case | None:
        """Return the case of an event; None if neither its token nor its id leads to one."""
        if event.token:
            try:
                return from_token(event.token)
            except TokenError:
                return None
        return self._by_id.get(event.id) or property_case(event.id)

    def twin(self, event: CaseEvent) -> Case | None:
        """Return the accepted twin of the event's case; for a derived case, its parent."""
        return self._by_id.get(event.twin or event.id.partition("~")[0])

    def basis(self, event: CaseEvent, case: Case | None) -> Basis:
        """Return the rules of an event, or else the likeliest one, and the first place that they cite."""
        rules, likely = event.deciding_rules, False
        if not rules and case is not None and event.verdict == "fail":
            rules, likely = rule_of_field(case, self._suite, event.path), True
        for rule in filter(None, map(self._suite.rules.get, rules)):
            if places := cited(rule.cites, self._suite.sources):
                return Basis(rules, likely, places[0])
        return Basis(rules, likely)


def find_case(suite: Suite, name: str) -> Case | None:
    """Return a case by id (also of a derived or property case) or token; None if unknown."""
    if name.startswith(("wp1:", "@")):
        return from_token(name)
    if drawn := property_case(name):
        return drawn
    parent = suite.by_id.get(name.partition("~")[0])
    if parent is None or "~" not in name:
        return parent
    wanted = f"{parent.id}~{name.partition('~')[2]}"
    return next((case for case in derived_cases(parent) if case.id == wanted), None)
