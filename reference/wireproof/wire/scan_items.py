"""The result of a scan: items that divide a stream into frames, garbage and a tail without gaps."""

from typing import Any, Literal

from attrs import field, frozen

from wireproof.wire.reject_classes import RejectClass
from wireproof.wire.rejection import Remark


@frozen
class Item:
    """A range of bytes in a stream.

    Attributes:
        kind: a whole frame, bytes that belong to no frame, or the incomplete frame at the end.
        at: position of its first byte in the stream.
        length: its size in bytes.
        value: the decoded value of a frame; None for garbage and tail.
        cls: reject class of garbage that looked like the start of a frame; None elsewhere.
        remarks: the remarks of the frame.
    """

    kind: Literal["frame", "garbage", "tail"]
    at: int
    length: int
    value: Any = None
    cls: RejectClass | None = None
    remarks: tuple[Remark, ...] = field(default=())
