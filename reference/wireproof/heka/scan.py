"""Scanning a stream: every byte is of a frame, of garbage or of the tail. heka.md, sections 2.1 to 2.4 and 9.

One pass without recursion. The buffer holds one candidate frame at most (3 + 255 + the longest message)
and the chunk at hand; nothing is decided before the bytes that decide it are there, so that the way in
which a stream is cut into chunks changes nothing.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from attrs import evolve, field, frozen

from wireproof.heka import frame, header
from wireproof.heka.frame import AROUND, RECORD_SEPARATOR, UNIT_SEPARATOR, Frame
from wireproof.heka.framing import FRAMINGS, Head
from wireproof.wire.classes import RejectClass
from wireproof.wire.items import Item
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejected import Rejected, Remark

WORK: Final = 4
"""Bytes of refused messages that may be read again for each byte of the stream; see `Scanner`."""


def scan(chunks: Iterable[bytes], options: Options = DEFAULT) -> Iterator[Item]:
    """The items of a stream, in order and without gaps.

    A whole frame whose message or signature is refused is garbage of that class. Other garbage comes in
    the longest runs; its class is that of the frame which seemed to begin at its first byte. At the end a
    frame that never got whole is the tail, unless a whole frame is found inside what it claims: then it
    was a false separator (S15, S16, S33).

    Args:
        chunks: the stream, in any pieces.
        options: `resync` picks the framing; `keys`, `max_message`, `compression` as for decode.
    """
    scanner = Scanner(options)
    for chunk in chunks:
        yield from scanner.feed(chunk)
    yield from scanner.finish()


@frozen
class Content:
    """What is behind the header of a whole frame: the frame, or the class of what is wrong with it."""

    frame: Frame | None
    cls: RejectClass | None = None
    remarks: tuple[Remark, ...] = field(default=())


class Scanner:
    """The state between two chunks.

    Attributes:
        buffer: bytes of the stream from position `base` on; those before `pos` are accounted for.
        run: position and class of the garbage that is being gathered.
        torn: position of the first frame that the end of the stream cuts; set at the end only.
        credit: bytes that may still be spent on reading messages that turn out refused. Frames may be
            nested in one another at every few bytes; without a bound their reading would take time in the
            square of the longest message. Without credit a refused frame is not looked into. What a
            frame leaves of it is never more than there is at the beginning, so that a scan which begins
            behind one where `clean` says so gives what the scan of the whole gives.
        most: the credit at the beginning.
        head, fault, size, content: what is known of the frame that seems to begin at `pos`.
    """

    def __init__(self, options: Options) -> None:
        """Start at byte 0."""
        self.options = options
        self.framing = FRAMINGS[options.resync]
        self.buffer = bytearray()
        self.base = 0
        self.pos = 0
        self.run: tuple[int, RejectClass | None] | None = None
        self.torn: int | None = None
        self.most = self.credit = 16 * (header.limit(options) + header.MAX_HEADER)
        self._forget()

    def _forget(self) -> None:
        self.head: Head | None = None
        self.fault: RejectClass | None = None
        self.size = 0
        self.content: Content | None = None

    @property
    def here(self) -> int:
        """The position of `pos` in the stream."""
        return self.base + self.pos

    @property
    def clean(self) -> bool:
        """Whether nothing that lies before `here` bears on what lies behind it."""
        return self.run is None and self.torn is None and self.credit == self.most

    def feed(self, chunk: bytes) -> Iterator[Item]:
        """Take the next bytes; gives what is certain by now."""
        self.buffer += chunk
        yield from self._search(final=False)
        del self.buffer[: self.pos]
        self.base += self.pos
        self.pos = 0

    def finish(self) -> Iterator[Item]:
        """The stream has ended."""
        yield from self._search(final=True)
        end = self.base + len(self.buffer)
        if self.torn is None:
            yield from self._end_run(end)
            return
        if self.run is not None:
            yield from self._end_run(self.torn)
        yield Item("tail", self.torn, end - self.torn)

    def _search(self, *, final: bool) -> Iterator[Item]:
        while self._to_separator():
            if not self._wants_bytes(final=final):
                if self._stands():
                    yield from self._give()
                else:
                    self._pass_over(self.fault)
            elif not final:
                return
            else:
                self.torn = self.here if self.torn is None else self.torn
                if not self.framing.rescans:
                    return
                self._pass_over(None)

    # --- garbage ---

    def _to_separator(self) -> bool:
        """Step to the next 1E; the bytes before it are garbage."""
        found = self.buffer.find(RECORD_SEPARATOR, self.pos)
        stop = len(self.buffer) if found < 0 else found
        if stop > self.pos:
            self._gather(None)
            self._advance(stop - self.pos)
        return found >= 0

    def _pass_over(self, cls: RejectClass | None) -> None:
        """The separator at `pos` begins no frame: section 2.1, step 6."""
        self._gather(cls)
        self._advance(1)
        self._forget()

    def _advance(self, count: int) -> None:
        self.pos += count
        self.credit += WORK * count

    def _gather(self, cls: RejectClass | None) -> None:
        if self.run is None and self.torn is None:
            self.run = (self.here, cls)

    def _end_run(self, stop: int) -> Iterator[Item]:
        """Give the garbage before `stop`; a frame that was cut is garbage once another is found behind it."""
        if self.run is None and self.torn is not None:
            self.run = (self.torn, "truncated")
        if self.run is not None:
            at, cls = self.run
            yield Item("garbage", at, stop - at, cls=cls)
        self.run = None

    # --- frames ---

    def _wants_bytes(self, *, final: bool) -> bool:
        """Learn what the bytes at hand tell of the frame at `pos`; True if more are wanted to judge it."""
        have = len(self.buffer) - self.pos
        if self.head is None:
            if have < 2 or have < (size := AROUND + self.buffer[self.pos + 1]):
                return True
            self._read_header(size)
            if self.head is None:
                return False
        if have < self.size:
            return True
        if self.content is None:
            self.content = self._read_content(self.head)
        refused = self.content.cls is not None and self.framing.refused == "aligned"
        return refused and have == self.size and not final

    def _read_header(self, size: int) -> None:
        if self.buffer[self.pos + size - 1] != UNIT_SEPARATOR:  # the same in every framing: S09, S10
            self.fault = "bad-separator"
            return
        match self.framing.head(bytes(self.buffer[self.pos : self.pos + size]), self.options):
            case Head() as head:
                self.head, self.size = head, size + head.header.message_length
            case cls:
                self.fault = cls

    def _read_content(self, head: Head) -> Content:
        data = bytes(self.buffer[self.pos : self.pos + self.size])
        reader = Reader(
            data, pos=self.size - head.header.message_length, budget=Budget(self.options.max_output)
        )
        try:
            whole = frame.read_content(reader, head.header, self.options)
        except Rejected as rejected:
            self.credit -= self.size
            self.fault = rejected.cls
            return Content(None, rejected.cls)
        return Content(whole, None, tuple(_moved(r, self.here) for r in (*head.remarks, *reader.remarks)))

    def _stands(self) -> bool:
        """Whether the bytes at `pos` are one frame, right or refused, and not to be searched for others."""
        if self.content is None:
            return False
        if self.content.cls is None or self.framing.refused == "deliver" or self.credit < 0:
            return True
        return self.framing.refused == "aligned" and self.torn is None and self._aligned()

    def _aligned(self) -> bool:
        """Whether the end of the stream or another separator follows the frame: S31 against S17."""
        behind = self.pos + self.size
        return behind == len(self.buffer) or self.buffer[behind] == RECORD_SEPARATOR

    def _give(self) -> Iterator[Item]:
        content = self.content
        assert content is not None, "only what stands is given"
        yield from self._end_run(self.here)
        self.torn = None
        kind: Literal["frame", "garbage"] = (
            "frame" if content.cls is None or self.framing.refused == "deliver" else "garbage"
        )
        item = Item(kind, self.here, self.size, content.frame, content.cls, content.remarks)
        self._advance(self.size)
        self.credit = min(self.credit, self.most)
        self._forget()
        yield item


def _moved(remark: Remark, base: int) -> Remark:
    """The remark of a frame, as one of the stream in which it stands at `base`."""
    place, _, inner = str(remark.at).partition(">")
    moved = int(place) + base
    return evolve(remark, at=f"{moved}>{inner}" if inner else moved)
