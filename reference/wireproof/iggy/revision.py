"""A revision of a binary format of Iggy: the row of a codec's table."""

from typing import Any

from attrs import frozen

from wireproof.wire.layout import Layout


@frozen
class Revision:
    """A revision of a format; classes of codecs add the rules that are not layout. `layout`: of its bytes."""

    layout: Layout

    @property
    def value(self) -> Any:  # noqa: ANN401 - the class of the layout's values
        """Return the class of the values."""
        return self.layout.value
