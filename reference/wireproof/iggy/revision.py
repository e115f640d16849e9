"""A revision of a binary format of Iggy: the row of a codec's table."""

from typing import Any, Final

from attrs import frozen

from wireproof.schema.layout import Layout

REVISIONS: Final = (
    "0.0.30", "0.0.40", "0.0.60", "0.0.92", "0.2.7", "0.7", "0.8", "0.9", "0.10", "0.11", "0.11.1-edge",
)  # fmt: skip
"""All revisions of the wire, by the crate that began each, oldest first: iggy.md §1."""


EDGE: Final = "0.11.1-edge"
"""The provisional revision, of a pre-release."""


@frozen
class Revision:
    """A revision of a format; classes of codecs add the rules that are not layout. `layout`: of its bytes."""

    layout: Layout

    @property
    def value(self) -> Any:  # noqa: ANN401 - the class of the layout's values
        """Return the class of the values."""
        return self.layout.value
