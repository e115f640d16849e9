"""What the sources of both compiled functions of a structure share: names, rules, lengths, runs of fields."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from operator import itemgetter
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from wireproof.schema.layout import (
    REST,
    WHOLE,
    Checksum,
    Count,
    FixedPart,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    Packed,
    Part,
    Repeated,
    When,
    Zero,
    attribute_of,
    width_of,
)
from wireproof.schema.rules import COMPUTED, Rule
from wireproof.wire.reader import FIXED_WIDTH

if TYPE_CHECKING:
    from wireproof.schema.compiling import Codec
    from wireproof.schema.struct import StructLayout


# --- fields of fixed width ---

RunPart: TypeAlias = FixedPart | Zero | Octets
"""The parts that are packed together: integers, and bytes of a fixed size."""


def packing(parts: Iterable[RunPart]) -> Struct:
    """Return the packing of adjacent fields, for `struct`; an integer of 128 bits is 16 bytes in it.

    Raises:
        ValueError: a field has no packing, or the byte orders differ.
    """
    formats = [_format(part) for part in parts]
    wide = {one[0] for one in formats if one[-1] not in "bBs"}
    if len(wide) > 1:
        raise ValueError("the byte orders of the fields differ")
    return Struct((wide or {">"}).pop() + "".join(one[1:] for one in formats))


def _format(part: RunPart) -> str:
    match part:
        case Zero(size=size) | Octets(size=size) if size:
            return f">{size}s"
        case Octets():
            raise ValueError(f"{part.name} has no fixed size")
        case _ if part.kind == "uint128le":
            return ">16s"
        case _ if part.kind in FIXED_WIDTH:
            return FIXED_WIDTH[part.kind].format
    raise ValueError(f"no packing for {part.kind!r}")


def is_fixed(part: Part) -> bool:
    """Return whether a part is packed together with its neighbours."""
    return isinstance(part, RunPart) and width_of(part) is not None


class Head:
    """The fields of fixed width at the beginning of a layout, for a look at them without a reader."""

    def __init__(self, layout: Layout) -> None:
        """Find the fields."""
        self.parts: Final = tuple(cast("Iterable[RunPart]", takewhile(is_fixed, layout.parts)))
        self.names: Final = tuple(part.name for part in self.parts)
        self.packing: Final = packing(self.parts)
        self.size: Final = self.packing.size

    def peek(self, data: bytes | bytearray, at: int = 0) -> tuple[Any, ...]:
        """Return all of them in the order of the wire; their bytes must be there."""
        return self.packing.unpack_from(data, at)

    def select(self, *names: str) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        """Return a function that selects at least two of them by name."""
        return itemgetter(*map(self.names.index, names))

    def fields(self, data: bytes | bytearray, at: int = 0) -> dict[str, Any]:
        """Return those that a value has, by its attributes."""
        pairs = zip(self.parts, self.peek(data, at), strict=True)
        return {attribute_of(part.name): number for part, number in pairs if isinstance(part, Number)}


# --- functions ---


def indented(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines one step further to the right."""
    return (f"    {line}" for line in lines)


def runs_of(parts: Sequence[Part], last: Part | None = None) -> Iterator[list[Part]]:
    """Yield the parts in their order: adjacent ones of fixed width and one byte order together.

    `last` is a part that ends its run.
    """
    run: list[Part] = []
    for part in parts:
        orders = {byte_order(one) for one in (*run, part)} - {""}
        if run and not (is_fixed(part) and len(orders) < 2 and run[-1] is not last):
            yield run
            run = []
        if is_fixed(part):
            run.append(part)
        else:
            yield [part]
    if run:
        yield run


def byte_order(part: Part) -> str:
    """Return the byte order of an integer as `struct` writes it; empty if it has none."""
    kind = getattr(part, "kind", "")
    packed = FIXED_WIDTH.get(kind)
    return packed.format[0] if packed is not None and packed.size > 1 else ""


def inner_codec(layout: Layout) -> "Codec":
    """Return the codec of a structure inside of another one."""
    return cast("StructLayout", layout).inner_codec


def is_block(part: Part) -> bool:
    """Return whether a part is neither a number nor bytes of a fixed size."""
    block = isinstance(part, Octets | Nested | Repeated | OneOf | When | Zero | Packed)
    return block and not is_fixed(part)


class Function(ABC):
    """The source of a function. `names` are the objects that it refers to."""

    def __init__(
        self, layout: "StructLayout", rules: Sequence[Rule], whole: str, names: dict[str, Any]
    ) -> None:
        """Sort the parts and the rules of a layout."""
        self.layout, self.whole, self.names = layout, whole, names
        parts = layout.parts
        self.nullable = {part.of for part in parts if isinstance(part, Length) and part.null is not None}
        self.rules = [rule for rule in rules if self.holds(rule)]
        self.lengths = {part.of: part for part in parts if isinstance(part, Length)}
        self.counts = {part.of: part for part in parts if isinstance(part, Count)}
        self.flags = {
            part.presence_of: attribute_of(part.name)
            for part in parts
            if isinstance(part, Number) and part.presence_of
        }
        lengths = (part for part in parts if isinstance(part, Length) and part.of in (REST, WHOLE))
        self.total = next(lengths, None)
        self.checksums = [part for part in parts if isinstance(part, Checksum)]
        self.joined = next((part for part in parts if isinstance(part, Repeated) and part.joined), None)

    @abstractmethod
    def holds(self, rule: Rule) -> bool:
        """Return whether a rule belongs into the function."""

    @abstractmethod
    def head(self) -> str:
        """Return its name and its parameters."""

    @abstractmethod
    def body(self) -> Iterator[str]:
        """Yield the lines of its body."""

    def lines(self) -> Iterator[str]:
        """Yield its lines."""
        yield f"def {self.head()}:"
        yield from indented(self.body())

    def look(self, rule: Rule, report: str) -> Iterator[str]:
        """Yield the look at a rule, and the call that reports a fault."""
        yield f"if (fault := {self.call(rule)}) is not None:  # {rule.id}"
        yield f"    {report}"

    def name_of(self, stem: str, thing: Any) -> str:  # noqa: ANN401 - any object
        """Return a name for an object: `stem`, with more underscores if that is taken."""
        name = stem
        while self.names.setdefault(name, thing) != thing:
            name += "_"
        return name

    def call(self, rule: Rule) -> str:
        """Return the call of a rule with the fields that it needs."""
        own = rule.check.__name__.strip("_")
        stem = f"{attribute_of(rule.guards).strip('#') or 'whole'}_{own if own.isidentifier() else 'rule'}"
        arguments = ", ".join(self.argument(rule, need) for need in rule.needs)
        return f"{self.name_of(stem, rule.check)}({arguments})"

    def argument(self, rule: Rule, need: str) -> str:
        """Return the expression for a parameter of a rule."""
        del rule
        return need

    def raw(self, part: Part) -> str:
        """Return the variable of what is on the wire, where the value of the field is something else."""
        name = attribute_of(part.name)
        converted = isinstance(part, Number) and (part.codes or part.truth or part.name in self.flags)
        return f"{name}_number" if converted else name

    def guarding(self, part: Part) -> Iterator[Rule]:
        """Yield the rules behind a field, but for those that need all bytes."""
        return (rule for rule in self.rules if rule.guards == part.name and COMPUTED not in rule.needs)

    def verifying(self, part: Part) -> list[Rule]:
        """Return the rules of a checksum that need all bytes."""
        return [rule for rule in self.rules if rule.guards == part.name and COMPUTED in rule.needs]

    def has_scopes(self) -> bool:
        """Return whether a part has fields with paths of their own."""
        return any(isinstance(part, Nested | Repeated | OneOf | When) for part in self.layout.parts)

    def inner_list(self, part: Repeated) -> tuple[str, str] | None:
        """Return the joined list of the elements of a list and its count in an element; None without one."""
        inner = next((one for one in part.of.parts if isinstance(one, Repeated) and one.joined), None)
        counts = (one for one in part.of.parts if isinstance(one, Count))
        return None if inner is None else (attribute_of(inner.name), attribute_of(next(counts).name))

    def is_windowed(self) -> bool:
        """Return whether the rest of the structure is read in a window of its own, by its length."""
        blocks = [part for part in self.layout.parts if is_block(part)]
        return self.total is not None and self.total.of == REST and len(blocks) > 1 and not self.layout.framed

    def of_the_whole(self) -> list[Rule]:
        """Return the rules of the whole structure."""
        return [rule for rule in self.rules if not rule.guards]
