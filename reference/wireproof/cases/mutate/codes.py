"""Numbers that mean something to the readers of a field, after the tables of the codecs themselves.

A code out of few is drawn with the other small numbers; one that stands alone in a wide range hardly ever is.
"""

from collections.abc import Mapping
from typing import Final

from wireproof.iggy.frame import UNSUMMED, Reply, Request

CODES: Final[Mapping[tuple[type, str], tuple[int, ...]]] = {
    (Request, "operation"): UNSUMMED,
    (Reply, "operation"): UNSUMMED,
}
"""By class and field: iggy.md, section 2.1."""
