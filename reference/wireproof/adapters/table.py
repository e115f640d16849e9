"""The adapters that come with this package, one row each; mutants are found in `mutants/` by themselves."""

from typing import Final

from wireproof.adapters.entry import Entry

TABLE: Final[tuple[Entry, ...]] = (
    Entry(
        "reference",
        "the reference codecs of this package",
        object="wireproof.adapters.reference:Reference",
        formats=("kafka", "iggy", "heka"),
    ),
)
