"""From an event back to its case: by the token that it carries, or by id among the fixtures."""

from wireproof.cases.case import Case
from wireproof.cases.derived import derived
from wireproof.cases.fixtures import Suite
from wireproof.cases.token import TokenError, parse
from wireproof.trial.events import CaseEvent
from wireproof.trial.property import property_case


class Lookups:
    """Both lookups that the reports ask for."""

    def __init__(self, suite: Suite) -> None:
        """Look among the fixtures of `suite`."""
        self._by_id = suite.by_id

    def case(self, event: CaseEvent) -> Case | None:
        """The case of an event; None where neither its token nor its id can be had."""
        if event.token:
            try:
                return parse(event.token)
            except TokenError:
                return None
        return self._by_id.get(event.id) or property_case(event.id)

    def twin(self, event: CaseEvent) -> Case | None:
        """The accepted twin of its case; of a derived one, its parent."""
        return self._by_id.get(event.twin or event.id.partition("~")[0])


def find(suite: Suite, name: str) -> Case | None:
    """A case by what a user has of it: an id, an alias, the id of a derived or drawn case, or a token."""
    if name.startswith(("wp1:", "@")):
        return parse(name)
    if drawn := property_case(name):
        return drawn
    parent = suite.get(name.partition("~")[0])
    if parent is None or "~" not in name:
        return parent
    wanted = f"{parent.id}~{name.partition('~')[2]}"
    return next((case for case in derived(parent) if case.id == wanted), None)
