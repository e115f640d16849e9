"""The base classes of the mutants: the reference with a hook for each input and output, or with other parts.

A class with a name of its own is a mutant, and stands in `MUTANTS`; one without is a base of others. The
first line of its docstring says what is wrong with it.
"""

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import deepcopy
from typing import Any, ClassVar, Final
from unittest.mock import patch

from attrs import evolve

from wireproof import formats
from wireproof.adapters.contract import Claim, Request
from wireproof.adapters.reference import Reference
from wireproof.cases.outcome import Accepted, Outcome, refused_outcome
from wireproof.formats import FORMATS, Decoded, Format
from wireproof.schema.layout import Nested, OneOf, Part, ProtoField, Repeated
from wireproof.schema.struct import Struct, StructLayout
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import Options
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item

JsonObject = dict[str, Any]
"""A value in JSON form, which a hook may change in place: it is the mutant's own."""

Patch = tuple[Any, str, Any]
"""A module, or the names of a compiled codec; the name of a function or constant in it; the replacement."""

MUTANTS: Final[dict[str, type["ReferenceCodec"]]] = {}
"""The mutants of the modules that were imported, by name; `registry` imports all."""


class Panic(BaseException):
    """The end of a process in which the codec runs: a panic of Go or Rust, a read outside of the memory."""


class Failed(Exception):  # noqa: N818 - no refusal: the client fails over its own mistake
    """An exception that says nothing of the bytes."""


class ReferenceCodec(Reference):
    """The reference with hooks; a mutant overrides one of them, and everything else stays correct.

    Attributes:
        system: `kafka`, `iggy` or `heka`, whose formats it claims; empty for all formats.
        reader: the class that reads the bytes.
        costly: whether it needs much time or memory: it must run in its own process, where these are limited.
        killed_by: golden cases, each of which kills it. Those of a mutant that repeats a known bug stand in
            `bugs.toml`, with the links to the bug.
        left_open: why no case kills it, where its answer turned out to be one that the sources leave open.
    """

    system: ClassVar[str] = ""
    costly: ClassVar[bool] = False
    killed_by: ClassVar[tuple[str, ...]] = ()
    left_open: ClassVar[str] = ""
    reader: ClassVar[type[Reader]] = Reader

    def __init_subclass__(cls) -> None:
        """Note a mutant in the table; the codecs of tests with a base of these are none.

        Raises:
            ValueError: another mutant has the name.
        """
        if "name" not in cls.__dict__ or not cls.__module__.startswith("tests.mutants."):
            return
        if cls.name in MUTANTS:
            raise ValueError(f"{cls.name} is {MUTANTS[cls.name]} and {cls}")
        MUTANTS[cls.name] = cls

    @property
    def revisions(self) -> Mapping[str, Claim]:
        """Return the claims of the reference for the formats of `system`."""
        return {
            format_id: claim
            for format_id, claim in super().revisions.items()
            if format_id.startswith(self.system)
        }

    # --- hooks ---

    def patch_input(self, data: bytes, request: Request) -> bytes:
        """Return the bytes to decode in place of `data`, of the same length; may raise `Rejected`."""
        del request
        return data

    def options(self, request: Request) -> Options:
        """Return the options to decode with."""
        return request.options

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Return the value to report in place of `value`, which the reference decoded from `data`.

        A scan calls it for each frame, with the bytes of the frame.
        """
        del request, data
        return value

    def patch_consumed(self, consumed: int, request: Request) -> int:
        """Return the number of consumed bytes to report."""
        del request
        return consumed

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        """Return the outcome if the reference rejects the input of a decode or encode."""
        del request
        return refused_outcome(rejected)

    def patch_answer(self, outcome: Accepted, request: Request) -> Outcome:
        """Return the outcome of a decode or scan in place of `outcome`."""
        del request
        return outcome

    def patch_output(self, data: bytes, request: Request) -> bytes:
        """Return the bytes to write in place of `data`, which the reference encoded."""
        del request
        return data

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Return the value to encode in place of `value`, which is a copy that the mutant may change."""
        del request
        return value

    # --- the contract ---

    def decode(self, request: Request) -> Outcome:
        row = FORMATS[f"{request.format}/{request.revision}"]
        try:
            decoded = self.read(row, self.patch_input(request.data, request), self.options(request))
        except Rejected as rejected:
            return self.on_rejected(self._before(rejected, request), request)
        value = self.patch_value(to_json(decoded.value, with_derived=True), request, request.data)
        remarks = tuple(dict.fromkeys(remark.cls for remark in decoded.remarks))
        consumed = self.patch_consumed(decoded.consumed, request)
        return self.patch_answer(Accepted(value, consumed, remarks=remarks), request)

    def read(self, row: Format, data: bytes, options: Options) -> Decoded:
        """Decode as `formats.decode` does, with the reader of the mutant."""
        reader = self.reader(data, budget=Budget(options.max_output))
        return formats.decode_with_reader(row, reader, options)

    def _before(self, rejected: Rejected, request: Request) -> Rejected:
        """Plant the fault also in the value that was delivered before a rejection."""
        if rejected.before is None:
            return rejected
        before = to_json(rejected.before, with_derived=True)
        return rejected.with_before(self.patch_value(before, request, request.data))

    def encode(self, request: Request) -> Outcome:
        row = FORMATS[f"{request.format}/{request.revision}"]
        value = deepcopy(request.value)  # tests of one process share the cases, and so their values
        try:
            data = formats.encode(row, self.patch_value_to_write(value, request), request.options)
        except Rejected as rejected:
            return self.on_rejected(rejected, request)
        return Accepted(data=self.patch_output(data, request))

    def scan(self, request: Request) -> Outcome:
        row = FORMATS[f"{request.format}/{request.revision}"]
        data = b"".join(request.chunks)
        chunks = _cut_like(self.patch_input(data, request), request.chunks)
        items = list(self.items(row, chunks, self.options(request)))
        tree = formats.items_json(items, with_derived=True)
        assert isinstance(tree, dict)
        patched: list[Json] = [self._item(item, request, data) for item in _objects(tree["items"])]
        remarks = tuple(dict.fromkeys(remark.cls for item in items for remark in item.remarks))
        whole = sum(item.length for item in items)
        return self.patch_answer(Accepted({"items": patched}, whole, remarks=remarks), request)

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        """Return the items of a stream; a mutant that frames wrongly overrides it."""
        return formats.scan(row, chunks, options)

    def _item(self, item: JsonObject, request: Request, data: bytes) -> JsonObject:
        frame = data[item["at"] : item["at"] + item["length"]]
        return {**item, "value": self.patch_value(item["value"], request, frame)} if "value" in item else item


REFERENCE: Final = ReferenceCodec()
"""Its hooks change nothing."""


class Patched(ReferenceCodec):
    """The reference with `patches` applied during each request; a base class, no mutant itself."""

    patches: ClassVar[tuple[Patch, ...]] = ()

    def decode(self, request: Request) -> Outcome:
        with self._patched():
            return super().decode(request)

    def encode(self, request: Request) -> Outcome:
        with self._patched():
            return super().encode(request)

    def scan(self, request: Request) -> Outcome:
        with self._patched():
            return super().scan(request)

    def _patched(self) -> ExitStack:
        """Apply the patches until the stack is left; an adapter answers one request at a time."""
        stack = ExitStack()
        for module, name, part in self.patches:
            names = isinstance(module, dict)
            stack.enter_context(
                patch.dict(module, {name: part}) if names else patch.object(module, name, part)
            )
        return stack


def variant(
    base: type[ReferenceCodec], name: str, fault: str, *killed_by: str, **parts: object
) -> type[ReferenceCodec]:
    """Make a mutant of a base with other attributes; one without a place of its own is in the registry."""
    place = {"__module__": "tests.mutants.registry", "__qualname__": f"MUTANTS[{name}]"}
    return type(name, (base,), {"name": name, "__doc__": fault, "killed_by": killed_by, **place, **parts})


def patched(base: type[Patched], rows: Mapping[str, tuple[Any, ...]]) -> None:
    """Make a mutant of each row: by its name the fault, the patches, and the golden cases that kill it."""
    for name, (fault, patches, *killed_by) in rows.items():
        variant(base, name, fault, *killed_by, patches=patches)


def mutant(
    base: type[ReferenceCodec], hook: str, name: str, *killed_by: str, **parts: object
) -> Callable[[Callable[..., Any]], type[ReferenceCodec]]:
    """Make a mutant of a function that takes the place of a hook; its docstring is the fault.

    It gets as many of the values of the hook as it has parameters. If it returns None, the first of them,
    which it may have changed, is the answer. What it asks of `REFERENCE` is answered without the fault.
    """

    def decorate(function: Callable[..., Any]) -> type[ReferenceCodec]:
        taken = function.__code__.co_argcount

        def method(_: ReferenceCodec, *given: Any) -> Any:  # noqa: ANN401 - as the hook
            answer = function(*given[:taken])
            return given[0] if answer is None else answer

        place = {"__module__": function.__module__, "__qualname__": function.__name__}
        return variant(base, name, function.__doc__ or "", *killed_by, **{hook: method}, **place, **parts)

    return decorate


def in_codec(
    struct: Struct, revisions: Sequence[str] = (), **replacements: Callable[[Any], Any]
) -> tuple[Patch, ...]:
    """Return the patches of the compiled codecs of a structure, in every revision that has all the names.

    A replacement is made of what it replaces; of None if that is a function of Python.
    """
    layouts = {struct.at(revision) for revision in revisions or struct.revisions}
    codecs = (codec for layout in layouts for codec in (layout.codec, layout.inner_codec))
    return tuple(
        (names, name, replacement(names.get(name)))
        for names in (codec.read.__globals__ for codec in codecs)
        for name, replacement in replacements.items()
        if name in names or hasattr(builtins, name)
    )


def changed(layout: StructLayout, old: StructLayout, new: StructLayout) -> StructLayout:
    """Return a layout with another structure wherever `old` stands; the classes of values stay."""
    if layout is old:
        return new
    return evolve(layout, parts=tuple(_part(part, old, new) for part in layout.parts))


def _part(part: Part, old: StructLayout, new: StructLayout) -> Part:
    match part:
        case Nested(of=StructLayout() as inner) | Repeated(of=StructLayout() as inner):
            return evolve(part, of=changed(inner, old, new))
        case ProtoField(of=StructLayout() as inner):
            return evolve(part, of=changed(inner, old, new))
        case OneOf():
            layouts = {number: changed(inner, old, new) for number, inner in _choices(part).items()}
            return evolve(part, layouts=layouts)
    return part


def _choices(part: OneOf) -> dict[int, StructLayout]:
    """Return the structures of a choice by their number."""
    return {number: one for number, one in part.layouts.items() if isinstance(one, StructLayout)}


def structures(layout: StructLayout) -> Iterable[StructLayout]:
    """Return a layout and each structure inside of it once."""
    found = {layout: None}
    for part in layout.parts:
        match part:
            case Nested(of=StructLayout() as inner) | Repeated(of=StructLayout() as inner):
                found |= dict.fromkeys(structures(inner))
            case ProtoField(of=StructLayout() as inner):
                found |= dict.fromkeys(structures(inner))
            case OneOf():
                for inner in _choices(part).values():
                    found |= dict.fromkeys(structures(inner))
    return found


def _objects(tree: Json) -> list[JsonObject]:
    return [item for item in tree if isinstance(item, dict)] if isinstance(tree, list) else []


def _cut_like(data: bytes, chunks: tuple[bytes, ...]) -> Iterator[bytes]:
    at = 0
    for chunk in chunks:
        yield data[at : at + len(chunk)]
        at += len(chunk)


def given_up(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items of a scan that stops at the first garbage and reports the rest as garbage too."""
    end = sum(item.length for item in items)
    for item in items:
        if item.kind == "garbage":
            yield evolve(item, length=end - item.at)
            return
        yield item


def walk(value: Json) -> Iterator[JsonObject]:
    """Yield every object inside a value, the outer before the inner; without recursion."""
    todo: list[Json] = [value]
    while todo:
        here = todo.pop()
        if isinstance(here, dict):
            yield here
            todo.extend(here.values())
        elif isinstance(here, list):
            todo.extend(here)


def with_options(request: Request, **options: Any) -> Options:  # noqa: ANN401 - fields of `Options`, by name
    """Return the options of a request with some of them changed."""
    return evolve(request.options, **options)
