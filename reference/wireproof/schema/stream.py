"""Streams of records: a file of structures one after another, without other bytes between them.

The file may still be written: a record whose lengths reach past the end is a tail. A record that the rules
refuse is garbage of the size that its lengths give. A stream has no header, and its records no magic number.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from struct import Struct
from typing import Any, Final, cast

from attrs import evolve, frozen

from wireproof.schema.layout import REST, WHOLE, Length, Repeated, Zero, whole_width
from wireproof.schema.struct import DescriptionError, StructLayout, check
from wireproof.wire.options import Options
from wireproof.wire.reader import FIXED_WIDTH, Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item, StreamBuffer, next_valid, scan_items
from wireproof.wire.walk import Steps
from wireproof.wire.writer import Writer

MAX_SEARCHED: Final = 1 << 20
"""The most positions at which a search looks for a record."""

LOOKAHEAD: Final = 256
"""Bytes after a record that `damaged_length` gets: they show whether another one follows."""

FREE_READ: Final = 1 << 20
"""Bytes of records that a search reads, beside as many as it is given, and those for each byte passed."""


@frozen
class _SizeStep:
    """Bytes of fixed size, then a length or a part that has one.

    Attributes:
        fixed: the size of the fields up to the end of the length, or up to the beginning of the part.
        of: what the length counts, or the name of the part.
        packing: of the length; None for a part.
    """

    fixed: int
    of: str
    packing: Struct | None


@frozen(eq=False)
class RecordStream:
    """A stream of records.

    Attributes:
        layout: of the whole stream: one list of structures.

    Raises:
        DescriptionError: it is something else, or the bytes of a record do not show its size.
    """

    layout: StructLayout

    def __attrs_post_init__(self) -> None:
        """Refuse what cannot be divided into records."""
        check(self.layout)
        match self.layout.parts:
            case [Repeated(of=StructLayout())]:
                pass
            case _:
                raise DescriptionError(f"{self.layout.name}: a stream is one list of structures: many(…)")
        counted = {""}
        for step in self._size_steps:
            if step.packing is None and step.of not in counted:
                text = "a record of a stream needs a length of a fixed width before it"
                raise DescriptionError(f"{self.record.name}.{step.of}: {text}")
            counted.add(step.of)

    @property
    def name(self) -> str:
        """Return the name of the list of records in a value."""
        return self.layout.parts[0].name

    @property
    def value(self) -> type[Any]:
        """Return the class of the values of the stream."""
        return self.layout.type

    @cached_property
    def record(self) -> StructLayout:
        """Return the layout of a record."""
        return cast("StructLayout", cast("Repeated", self.layout.parts[0]).of)

    @cached_property
    def _size_steps(self) -> tuple[_SizeStep, ...]:
        steps: list[_SizeStep] = []
        fixed, counted = 0, set[str]()
        for part in self.record.parts:
            width = whole_width(part)
            fixed += width or 0
            if isinstance(part, Length) and width is not None:
                steps.append(_SizeStep(fixed, part.of, FIXED_WIDTH[part.kind]))
                counted.add(part.of)
            elif width is None and (part.name in counted or not counted & {REST, WHOLE}):
                steps.append(_SizeStep(fixed, part.name, None))
            else:
                continue
            fixed = 0
        return (*steps, _SizeStep(fixed, "", None))

    @cached_property
    def _least(self) -> int:
        """Return a size that no record falls below, in bytes."""
        until = (part.until for part in self.record.parts if isinstance(part, Zero))
        return max(self.record.fixed_size, *until, 0)

    def extent(self, data: bytes | bytearray, pos: int = 0) -> tuple[int, bool]:
        """Return the size of the record at `pos` and True, or a lower bound and False if it is not known.

        It is not known if `data` ends before a length. A length of the whole that is smaller than every
        record is invalid; then the size is that of the smallest one.
        """
        size, counted = 0, {"": 0}
        for step in self._size_steps:
            size += step.fixed
            if step.packing is None:
                size += counted[step.of]
                continue
            if pos + size > len(data):
                return size, False
            number: int = step.packing.unpack_from(data, pos + size - step.packing.size)[0]
            if step.of in (REST, WHOLE):
                return max(self._least, number + (size if step.of == REST else 0)), True
            counted[step.of] = max(number, 0)  # null, or refused
        return size, True

    def decode(self, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - a value of the layout
        """Read the complete records, and leave a tail unread.

        Raises:
            Rejected: a record is refused; the exception carries the records before it.
        """
        name, read, records = self.name, self.record.inner_codec.read, list[Any]()
        while reader.left:
            size, known = self.extent(reader.data, reader.pos)
            if not known or reader.pos + size > len(reader.data):
                break
            reader.enter(name, len(records))
            try:
                records.append(read(reader))
            except Rejected as rejected:
                raise rejected.with_before(self.value(**{name: tuple(records)})) from None
            reader.leave()
        return self.value(**{name: tuple(records)})

    def encode(self, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - a value of the layout
        """Write the records."""
        for index, record in enumerate(getattr(value, self.name)):
            writer.enter(self.name, index)
            self.record.inner_codec.write(writer, record)
            writer.leave()

    def scan(self, chunks: Iterable[bytes], _: Options) -> Iterator[Item]:
        """Yield every byte as part of a record, of garbage or of the tail. Buffer one record at a time."""
        return scan_items(chunks, self._next)

    def _next(self, source: StreamBuffer) -> Item:
        size, known = self.extent(source.data)
        while not known or size > len(source.data):  # the lengths are read again when there are more bytes
            if not source.need(max(size, len(source.data) + 1)):
                return source.take(Item("tail", source.at, len(source.data)))
            size, known = self.extent(source.data)
        return source.take(self._item(bytes(source.data[:size]), source.at))

    def _item(self, record: bytes, at: int) -> Item:
        reader = Reader(record)
        try:
            value = self.record.inner_codec.read(reader)
        except Rejected as rejected:
            return Item("garbage", at, len(record), cls=rejected.cls)
        return Item("frame", at, len(record), value, remarks=tuple(reader.remarks))

    # --- the walk, and damage ---

    def steps(self, plain: Steps) -> Steps:
        """Return the steps with what the description of a record shows: its size, and what is damaged."""

        def size(data: bytes) -> int:
            found, known = self.extent(data)
            return found if known else 0

        return evolve(
            plain,
            size=size,
            damaged_length=lambda data, length, *_: self.damaged_length(data, length),
            lookahead=LOOKAHEAD,
            unlimited=True,
        )

    @cached_property
    def is_sealed(self) -> bool:
        """Return whether a checksum covers a record, so that other bytes are hardly ever taken for one."""
        return any(rule.verifies for rule in self.record.rules)

    def damaged_length(self, data: bytes, length: int) -> int:
        """Return how many damaged bytes precede the next record that begins in `data`; 0 if none is found.

        `data` begins with `length` bytes that are a refused or a cut record, whose lengths may be damaged.
        Bytes behind them are looked at only: where a sound record follows, the lengths are right.
        """
        size, known = self.extent(data)
        if not self.is_sealed or (known and size <= length and self._sound(data, size)):
            return 0
        positions = range(1, min(length, MAX_SEARCHED))
        sizes = ((at, *self.extent(data, at)) for at in positions)
        whole = ((at, size) for at, size, known in sizes if known and at + size <= len(data))
        return next_valid(whole, lambda at, _: self._sound(data, at), FREE_READ + len(data)) or 0

    def _sound(self, data: bytes, at: int) -> bool:
        """Return whether a record that is not refused begins at a position."""
        size, known = self.extent(data, at)
        if not known or at + size > len(data):
            return False
        return self._item(data[at : at + size], at).kind == "frame"
