"""The base class of mutants that replace functions or constants in the modules of the reference."""

import builtins
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar
from unittest.mock import patch

from tests.mutants.base import ReferenceCodec
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome
from wireproof.schema.struct import Struct

Patch = tuple[Any, str, Any]
"""A module, or the names of a compiled codec; the name of a function or constant in it; the replacement."""


def in_codec(struct: Struct, **replacements: Callable[[Any], Any]) -> tuple[Patch, ...]:
    """Return the patches of the compiled codecs of a structure, in every revision that has all the names.

    A replacement is made of what it replaces; of None if that is a function of Python.
    """
    layouts = {struct.at(revision) for revision in struct.revisions}
    codecs = (codec for layout in layouts for codec in (layout.codec, layout.inner_codec))
    return tuple(
        (names, name, replacement(names.get(name)))
        for names in (codec.read.__globals__ for codec in codecs)
        for name, replacement in replacements.items()
        if name in names or hasattr(builtins, name)
    )


@contextmanager
def _patched(patches: tuple[Patch, ...]) -> Iterator[None]:
    """Apply the patches for the duration of one request; an adapter answers one request at a time."""
    with ExitStack() as stack:
        for module, name, part in patches:
            names = isinstance(module, dict)
            stack.enter_context(
                patch.dict(module, {name: part}) if names else patch.object(module, name, part)
            )
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
