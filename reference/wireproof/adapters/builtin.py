"""The adapters of this package's own decoders."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from wireproof.adapters.registry_entry import Entry
from wireproof.formats import FAMILIES

REFERENCE: Final = "reference"
COLUMNAR: Final = "columnar"


def _reference() -> Entry:
    return Entry(
        REFERENCE,
        "the reference codecs of this package",
        object="wireproof.adapters.reference:Reference",
        formats=tuple(FAMILIES),
    )


def _columnar() -> Entry:
    return Entry(
        COLUMNAR,
        "the fast decoders of this package, and the reference for what they hand over",
        object="wireproof.adapters.columnar:Columnar",
        extra="columnar",
        requires=("numba", "pyarrow"),
        formats=tuple(name for name, family in FAMILIES.items() if family.fast_decoders),
        start_seconds=120,
        reserves=1536,  # MiB of address space for LLVM and Arrow, before the first case
    )


BUILTIN: Final[Mapping[str, Callable[[], Entry]]] = {REFERENCE: cache(_reference), COLUMNAR: cache(_columnar)}
"""Functions that return the entries, by name: an entry has the formats of all families, which it loads."""
