"""The batch in segment files of server 0.2.5 to 0.4.x (crate 0.2.7 to 0.6.x): iggy.md, section 7.

The header has 24 bytes. Then come messages, each preceded by its length, which does not include itself. The
payload has no length: it is the rest of the message.
"""

from typing import TYPE_CHECKING, Final, TypeAlias

from wireproof.iggy.message import STORED
from wireproof.iggy.revision import REVISIONS
from wireproof.schema.struct import Struct, many
from wireproof.wire.layout import Length, Number

RETAINED_BATCH: Final = Struct(
    "RetainedBatch",
    Number("base_offset", "uint64le", meaning="offset of the first message, or 0"),
    Length("length", "uint32le", of="messages"),
    Number("last_offset_delta", "uint32le", meaning="last offset minus base_offset"),
    Number("max_timestamp", "uint64le", meaning="microseconds"),
    many("messages", STORED),
    revisions=REVISIONS,
    cites="iggy.md §7",
)

LAYOUT: Final = RETAINED_BATCH.at("0.2.7")

if TYPE_CHECKING:
    from wireproof.iggy import values

    RetainedBatch: TypeAlias = values.RetainedBatch
else:
    RetainedBatch = LAYOUT.type
"""The class of its values."""

FIRST_OFFSET_AT: Final = LAYOUT.fixed_size + STORED.at("0.2.7").offset("offset")
"""The position of the offset of the first message; `base_offset` is 0 in most batches of server 0.4.300."""
