"""The base class of mutants that replace functions or constants in the modules of the reference."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar
from unittest.mock import patch

from tests.mutants.base import ReferenceCodec
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome

Patch = tuple[Any, str, Any]
"""A module, the name of a function or constant in it, and the replacement."""


@contextmanager
def _patched(patches: tuple[Patch, ...]) -> Iterator[None]:
    """Apply the patches for the duration of one request; an adapter answers one request at a time."""
    with ExitStack() as stack:
        for module, name, part in patches:
            stack.enter_context(patch.object(module, name, part))
        yield


class Patched(ReferenceCodec):
    """The reference with `patches` applied during each request; a base class, no mutant itself."""

    patches: ClassVar[tuple[Patch, ...]] = ()

    def decode(self, request: Request) -> Outcome:
        """Decode with the patches applied."""
        with _patched(self.patches):
            return super().decode(request)

    def encode(self, request: Request) -> Outcome:
        """Encode with the patches applied."""
        with _patched(self.patches):
            return super().encode(request)

    def scan(self, request: Request) -> Outcome:
        """Scan with the patches applied."""
        with _patched(self.patches):
            return super().scan(request)
