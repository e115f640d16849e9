"""`heka.stream`: frames one after another, and nothing between them. heka.md, section 2."""

from attrs import frozen

from wireproof.heka import frame
from wireproof.heka.frame import Frame
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.writer import Writer


@frozen
class Stream:
    """The whole frames of some bytes."""

    frames: tuple[Frame, ...]


def decode(reader: Reader, options: Options) -> Stream:
    """Decode whole frames from the first byte on; a torn one at the end is left, unconsumed: S12 to S14.

    Raises:
        Rejected: `bad-separator` for garbage, or what `frame.read` refuses; the frames before are delivered.
    """
    frames: list[Frame] = []
    while reader.left:
        reader.enter("frames", len(frames))
        try:
            whole = frame.read(reader, options)
        except Rejected as rejected:
            raise rejected.delivering(Stream(tuple(frames))) from None
        reader.leave()
        if whole is None:
            break
        frames.append(whole)
    return Stream(tuple(frames))


def encode(writer: Writer, value: Stream, options: Options) -> None:
    """Write every frame; raises `Rejected` (`invalid-value`), and an empty stream writes nothing (bug 3)."""
    for index, one in enumerate(value.frames):
        writer.enter("frames", index)
        frame.write(writer, one, options)
        writer.leave()
