"""The functions that read and write a structure, compiled from its layout and its rules.

The source is what somebody would write by hand: a line for each field, and behind it a line for each rule.
Adjacent fields of fixed width are unpacked at once where nobody traces them and all their bytes are there.
`wireproof show --source` prints it.
"""

from collections.abc import Callable, Mapping, Sequence
from struct import error as packing_error
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from wireproof.schema.layout import (
    Called,
    Layout,
    Number,
    OneOf,
    Packed,
    Repeated,
    attribute_of,
    proto_fields,
    whole_width,
)
from wireproof.schema.protobuf import MESSAGE_HELPERS, ReadMessage, WriteMessage
from wireproof.schema.reading import Read, place
from wireproof.schema.rules import Fault, Rule
from wireproof.schema.writing import Write
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

if TYPE_CHECKING:
    from wireproof.schema.struct import StructLayout


COMPILED: Final = f"{__name__}.compiled"
"""The module that compiled functions say they are of: coverage is measured by module."""


@frozen(eq=False)
class Codec:
    """The compiled functions of a structure, and their source.

    Attributes:
        read: reads a value, with a reader and perhaps options. Raises `Rejected`.
        write: writes a value, with a writer, the value and perhaps options. Raises `Rejected`; `TypeError`
            for a structure that is only read.
        source: of both.
    """

    read: Callable[..., Any]
    write: Callable[..., None]
    source: str


def compile_codec(layout: "StructLayout", rules: Sequence[Rule], whole: str) -> Codec:
    """Return the codec of a layout with some of its rules; `whole` as in `StructLayout`."""
    names: dict[str, Any] = {
        "__name__": COMPILED,
        "_type": layout.build or layout.type,
        "_layout": layout,
        **_HELPERS,
    }
    read, write = (ReadMessage, WriteMessage) if proto_fields(layout) else (Read, Write)
    functions: list[Any] = [read(layout, rules, whole, names)]
    by_hand = (part for part in layout.parts if isinstance(part, Called | Packed))
    if all(isinstance(part, Packed) and part.write is not None for part in by_hand):
        functions.append(write(layout, rules, whole, names))
    source = "\n\n\n".join("\n".join(one.lines()) for one in functions)
    exec(compile(source, f"<{layout.name}>", "exec"), names)  # noqa: S102 - made from a description of ours
    return Codec(names["read"], names.get("write", _only_read), f"{source}\n")


def _only_read(*_: Any) -> None:  # noqa: ANN401 - the arguments of a writer
    raise TypeError("this structure is only read")


# --- what the compiled functions call ---


def report(reader: Reader, name: str, at: int, fault: Fault) -> None:
    """Add the remark of a fault, or raise its refusal; `name` is the field, if the fault has no other."""
    name = fault.path or name
    if not fault.remark:
        cls: Any = fault.cls
        raise reader.reject(cls, name, fault.text, at=at, detail=fault.detail)
    others = tuple([reader.other(other, name, answer) for other, answer in fault.others])
    reader.remark_once(fault.cls, name, at=at, others=others)


def report_inside(reader: Reader, layout: Layout, variables: Mapping[str, Any], fault: Fault) -> None:
    """Report a fault of a field of a structure, or of one in it.

    A field behind parts without a fixed size has one of the `variables` of the reading function, with its
    position; inside, parts have fixed sizes.
    """
    at: int = variables["_start"]
    for depth, step in enumerate(filter(None, (fault.at or fault.path).split("."))):
        name, _, index = step.removesuffix("]").partition("[")
        part = layout.part(name)
        if depth:
            at += sum(whole_width(one) or 0 for one in layout.parts[: layout.parts.index(part)])
        elif (offset := layout.position(name)) is not None:
            at += offset
        else:
            at = variables[place(part)]
        match part:
            case Repeated(of=layout):
                at += int(index or 0) * sum(whole_width(one) or 0 for one in layout.parts)
            case OneOf(layouts=layouts, number=number):
                layout = layouts[variables[attribute_of(number)]]
    report(reader, fault.path, at, fault)


def refuse(writer: Writer, name: str, fault: Fault) -> None:
    """Raise the refusal of a value, unless writers write what readers remark."""
    if not (fault.remark and fault.written):
        raise writer.invalid(fault.path or name, fault.text)


def unknown_code(reader: Reader, part: Number, number: int, at: int) -> Rejected:
    """Return the refusal of a number that is no code of its field."""
    return reader.reject("bad-kind", part.name, f"code {number}", at=at, detail=part.error)


_HELPERS: Final[dict[str, Any]] = {
    "_report": report, "_report_inside": report_inside, "_refuse": refuse, "_unknown_code": unknown_code,
    "_packing_errors": (packing_error, OverflowError), "_Rejected": Rejected, **MESSAGE_HELPERS,
}  # fmt: skip
