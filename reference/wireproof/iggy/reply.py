"""The reply to a request: iggy.md, sections 2.1 and 6.

Up to 0.10.x a reply has the classic framing. Since 0.11.0 the framing of a reply is in `frame`; here is the
body of a reply to SendMessages, which confirms each batch. The body may be empty. The Rust client reads a
body that is truncated or too long as one without confirmations, because committed messages must not be sent
again; this reader refuses it.
"""

from typing import Final

from wireproof.iggy.revision import REVISIONS
from wireproof.schema.layout import Count, Length, Number, Octets
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Struct, many

CLASSIC_REPLY: Final = Struct(
    "ClassicReply",
    Number("status", "uint32le", meaning="0 is success, other numbers are error codes"),
    Length("length", "uint32le", of="body"),
    Octets("body"),
    revisions=REVISIONS,
    cites="iggy.md §2.1",
)


@CLASSIC_REPLY.rule("body", "iggy.reply.short")
def _short_body(body: bytes) -> Fault | None:
    """Remark a body of one byte, which clients read as an empty one: section 2.1."""
    return remarked("iggy-short-body", others=(("empty", ""),)) if len(body) == 1 else None


CONFIRMATION: Final = Struct(
    "SendConfirmation",
    Number("stream_id", "uint32le"),
    Number("topic_id", "uint32le"),
    Number("partition_id", "uint32le"),
    Number("base_offset", "uint64le", meaning="where the server stored the batch"),
    revisions=REVISIONS,
    cites="iggy.md §6",
)
"""The partition and the base offset at which the server stored a batch, in bytes as in JSON."""

SEND_REPLY: Final = Struct(
    "SendReply",
    Count("count", "uint32le", of="confirmations", meaning="absent in an empty body"),
    many("confirmations", CONFIRMATION),
    revisions=REVISIONS,
    cites="iggy.md §6",
    whole="iggy.reply.confirmations.torn",
    empty=True,
)
