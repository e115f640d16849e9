"""Format `heka.stream`: frames one after another, without other bytes between them. heka.md, section 2."""

from typing import Final

from attrs import frozen

from wireproof.heka import frame
from wireproof.heka.frame import FRAME, HekaFrame
from wireproof.wire.layout import Layout, Repeated
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer


@frozen
class FrameStream:
    """The whole frames of a stream."""

    frames: tuple[HekaFrame, ...]


STREAM: Final = Layout("Stream", (Repeated("frames", of=FRAME),), value=FrameStream, cites="heka.md §2")


def decode(reader: Reader, options: Options) -> FrameStream:
    """Decode whole frames from the first byte on; a frame cut by the end is not consumed: S12 to S14.

    Raises:
        Rejected: `bad-separator` for garbage, and as `frame.read`; `before` is a stream of the frames before.
    """
    frames: list[HekaFrame] = []
    while reader.left:
        reader.enter("frames", len(frames))
        try:
            whole = frame.read(reader, options)
        except Rejected as rejected:
            raise rejected.with_before(FrameStream(tuple(frames))) from None
        reader.leave()
        if whole is None:
            break
        frames.append(whole)
    return FrameStream(tuple(frames))


def encode(writer: Writer, value: FrameStream, options: Options) -> None:
    """Encode every frame; an empty stream is no bytes (section 7, bug 3).

    Raises:
        Rejected: `invalid-value`.
    """
    for index, whole in enumerate(value.frames):
        writer.enter("frames", index)
        frame.write(writer, whole, options)
        writer.leave()
