"""The reference with other parts in its own modules, while it answers. Mutants are made of it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar
from unittest.mock import patch

from tests.mutants.base import ReferenceCodec
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome

Swap = tuple[Any, str, Any]
"""A module, the name of a part as that module calls it, and what stands in its place."""


@contextmanager
def _swapped(swaps: tuple[Swap, ...]) -> Iterator[None]:
    """The parts swapped, while it lasts; an adapter answers one request at a time."""
    with ExitStack() as stack:
        for module, name, part in swaps:
            stack.enter_context(patch.object(module, name, part))
        yield


class Swapped(ReferenceCodec):
    """The reference with `swaps` in it; in itself no mutant."""

    swaps: ClassVar[tuple[Swap, ...]] = ()

    def decode(self, request: Request) -> Outcome:
        """Decode with the other parts."""
        with _swapped(self.swaps):
            return super().decode(request)

    def encode(self, request: Request) -> Outcome:
        """Encode with the other parts."""
        with _swapped(self.swaps):
            return super().encode(request)

    def scan(self, request: Request) -> Outcome:
        """Scan with the other parts."""
        with _swapped(self.swaps):
            return super().scan(request)
