"""How a binding tells that its library refused: design, section 3, "Classes".

A library's exception names a class only where its text leaves no doubt; else the class is `other`.
Running out of memory is no answer of a codec: it is passed on for the worker to report.
"""

from attrs import frozen

from wireproof.cases.outcome import Refused
from wireproof.wire.classes import RejectClass
from wireproof.wire.values import Json

LONGEST = 300
"""Characters of an exception's text that are kept."""


@frozen
class Refusals:
    """What a library's exceptions mean.

    Attributes:
        documented: the exception types by which the library says that it refuses bytes.
        classes: (part of the exception's line, class), the first that matches counts.
    """

    documented: tuple[type[BaseException], ...]
    classes: tuple[tuple[str, RejectClass], ...] = ()

    def outcome(self, error: BaseException, before: Json = None) -> Refused:
        """Return the refusal that `error` is, after `before` was delivered.

        Raises it again where it is no answer: out of memory, or what is no `Exception`, such as a panic of
        Rust code behind PyO3.
        """
        if isinstance(error, MemoryError) or not isinstance(error, Exception):
            raise error
        line = f"{type(error).__name__}: {error}"[:LONGEST]
        found: RejectClass = next((cls for part, cls in self.classes if part in line), "other")
        untyped = not isinstance(error, self.documented)
        return Refused(cls=found, text=line, before=before, untyped=untyped)
