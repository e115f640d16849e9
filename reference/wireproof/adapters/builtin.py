"""The adapters of this package's own decoders."""

from typing import Final

from wireproof.adapters.registry_entry import Entry
from wireproof.formats import FAMILIES

REFERENCE: Final = Entry(
    "reference",
    "the reference codecs of this package",
    object="wireproof.adapters.reference:Reference",
    formats=tuple(FAMILIES),
)

COLUMNAR: Final = Entry(
    "columnar",
    "the fast decoders of this package, and the reference for what they hand over",
    object="wireproof.adapters.columnar:Columnar",
    extra="columnar",
    requires=("numba", "pyarrow"),
    formats=tuple(name for name, family in FAMILIES.items() if family.fast_decoders),
    start_seconds=120,
    reserves=1536,  # MiB of address space for LLVM and Arrow, before the first case
)

BUILTIN: Final = {entry.name: entry for entry in (REFERENCE, COLUMNAR)}
"""By name."""
