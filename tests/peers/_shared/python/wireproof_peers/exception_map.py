"""Refusals from the exceptions of a library.

An exception has a reject class only if its text leaves no doubt; else the class is `other`. Running out of
memory is no answer of a codec: the error is raised again, and the worker reports it.
"""

from attrs import frozen

from wireproof.cases.outcome import Refused
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import RejectClass

LONGEST = 300
"""Characters of an exception's text that are kept."""


@frozen
class Refusals:
    """The meaning of a library's exceptions.

    Attributes:
        documented: the exception types that the library documents for bytes that it refuses.
        classes: pairs of a part of the exception's text and a class; the first match counts.
    """

    documented: tuple[type[BaseException], ...]
    classes: tuple[tuple[str, RejectClass], ...] = ()

    def outcome(self, error: BaseException, before: Json = None) -> Refused:
        """Return the refusal for `error`; `before` is the value delivered before it.

        Raises `error` again if it is no answer: out of memory, or no `Exception`, such as a panic of Rust
        code behind PyO3.
        """
        if isinstance(error, MemoryError) or not isinstance(error, Exception):
            raise error
        line = f"{type(error).__name__}: {error}"[:LONGEST]
        found: RejectClass = next((cls for part, cls in self.classes if part in line), "other")
        untyped = not isinstance(error, self.documented)
        return Refused(cls=found, text=line, before=before, untyped=untyped)
