"""What a scan gives: every byte of a stream belongs to a frame, to garbage or to the tail.

Design, section 3, "decode and scan".
"""

from typing import Any, Literal

from attrs import field, frozen

from wireproof.wire.classes import RejectClass
from wireproof.wire.rejected import Remark


@frozen
class Item:
    """A run of bytes.

    Attributes:
        kind: a whole frame, bytes that are none, or the torn tail at the end.
        at: its first byte, counted from the start of the stream.
        length: its bytes.
        value: what a frame decodes to; None otherwise.
        cls: why a run of garbage is no frame, where one began there.
        remarks: those of the frame.
    """

    kind: Literal["frame", "garbage", "tail"]
    at: int
    length: int
    value: Any = None
    cls: RejectClass | None = None
    remarks: tuple[Remark, ...] = field(default=())
