"""The base class of the mutants: the reference with a hook for each input and output.

A mutant overrides one hook; the first line of its docstring says what is wrong with it. `MUTANTS` of a module
lists its mutants by name. The modules are listed in `registry`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from attrs import evolve

from wireproof import formats
from wireproof.adapters.contract import Claim, Request
from wireproof.adapters.objects import refused
from wireproof.adapters.reference import Reference
from wireproof.cases.outcome import Accepted, Outcome
from wireproof.formats import FORMATS, Decoded, Format
from wireproof.wire.items import Item
from wireproof.wire.options import Options
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.values import Json, to_json

JsonObject = dict[str, Any]
"""A value in JSON form that a hook may change where it stands: it is the mutant's own."""


class ReferenceCodec(Reference):
    """The reference, answer by answer; what a mutant does not override is right.

    Attributes:
        system: `kafka`, `iggy` or `heka`, whose formats it claims; empty claims all.
        reader: the class that reads the bytes.
        costly: whether it spends time and memory, and wants a process of its own, where these are measured.
    """

    system: ClassVar[str] = ""
    costly: ClassVar[bool] = False
    reader: ClassVar[type[Reader]] = Reader

    @property
    def revisions(self) -> Mapping[str, Claim]:
        """The reference's claims on the formats of `system`."""
        return {
            joined: claim for joined, claim in super().revisions.items() if joined.startswith(self.system)
        }

    # --- hooks ---

    def doctored(self, data: bytes, request: Request) -> bytes:
        """The bytes that the reference is shown in place of `data`, as many; may raise `Rejected`."""
        del request
        return data

    def options(self, request: Request) -> Options:
        """The options that the reference is given."""
        return request.options

    def told(self, value: Json, request: Request, data: bytes) -> Json:
        """The value that the mutant tells in place of the reference's, and `data`, which it stands for.

        For a scan it is asked for each frame, with the bytes of that frame.
        """
        del request, data
        return value

    def used(self, consumed: int, request: Request) -> int:
        """The bytes that the mutant says it used."""
        del request
        return consumed

    def refuses(self, rejected: Rejected, request: Request) -> Outcome:
        """What the mutant does where the reference refuses to decode or encode."""
        del request
        return refused(rejected)

    def answered(self, outcome: Accepted, request: Request) -> Outcome:
        """What the mutant does with the answer to a decode or scan as a whole."""
        del request
        return outcome

    def written(self, data: bytes, request: Request) -> bytes:
        """The bytes that the mutant writes in place of the reference's."""
        del request
        return data

    def to_write(self, value: Json, request: Request) -> Json:
        """The value that the mutant encodes in place of the one it is given."""
        del request
        return value

    # --- the contract ---

    def decode(self, request: Request) -> Outcome:
        """Decode through the hooks."""
        row = FORMATS[f"{request.format}/{request.revision}"]
        try:
            decoded = self.read(row, self.doctored(request.data, request), self.options(request))
        except Rejected as rejected:
            return self.refuses(self._before(rejected, request), request)
        value = self.told(to_json(decoded.value), request, request.data)
        remarks = tuple(remark.cls for remark in decoded.remarks)
        return self.answered(Accepted(value, self.used(decoded.consumed, request), remarks=remarks), request)

    def read(self, row: Format, data: bytes, options: Options) -> Decoded:
        """`formats.decode` with the mutant's own reader."""
        reader = self.reader(data, budget=Budget(options.max_output))
        value = row.decode(reader, options)
        return Decoded(value, reader.pos, tuple(reader.remarks))

    def _before(self, rejected: Rejected, request: Request) -> Rejected:
        """The fault shows in what was delivered before a refusal, too."""
        if rejected.before is None:
            return rejected
        return rejected.delivering(self.told(to_json(rejected.before), request, request.data))

    def encode(self, request: Request) -> Outcome:
        """Encode through the hooks."""
        row = FORMATS[f"{request.format}/{request.revision}"]
        try:
            data = formats.encode(row, self.to_write(request.value, request), request.options)
        except Rejected as rejected:
            return self.refuses(rejected, request)
        return Accepted(data=self.written(data, request))

    def scan(self, request: Request) -> Outcome:
        """Scan the doctored bytes in the pieces of the request."""
        row = FORMATS[f"{request.format}/{request.revision}"]
        data = b"".join(request.chunks)
        chunks = _cut_like(self.doctored(data, request), request.chunks)
        items = list(self.items(row, chunks, self.options(request)))
        tree = formats.items_json(items)
        assert isinstance(tree, dict)
        told: list[Json] = [self._item(item, request, data) for item in _objects(tree["items"])]
        remarks = tuple(remark.cls for item in items for remark in item.remarks)
        whole = sum(item.length for item in items)
        return self.answered(Accepted({"items": told}, whole, remarks=remarks), request)

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        """The items of a stream; a mutant that frames wrongly gives others."""
        return formats.scan(row, chunks, options)

    def _item(self, item: JsonObject, request: Request, data: bytes) -> JsonObject:
        frame = data[item["at"] : item["at"] + item["length"]]
        return {**item, "value": self.told(item["value"], request, frame)} if "value" in item else item


def _objects(tree: Json) -> list[JsonObject]:
    return [item for item in tree if isinstance(item, dict)] if isinstance(tree, list) else []


def _cut_like(data: bytes, chunks: tuple[bytes, ...]) -> Iterator[bytes]:
    at = 0
    for chunk in chunks:
        yield data[at : at + len(chunk)]
        at += len(chunk)


def given_up(items: Sequence[Item]) -> Iterator[Item]:
    """The items of a scan that stops at the first garbage, and takes all behind it for the same."""
    end = sum(item.length for item in items)
    for item in items:
        if item.kind == "garbage":
            yield evolve(item, length=end - item.at)
            return
        yield item


def walk(value: Json) -> Iterator[JsonObject]:
    """Every object inside a value, the outer before the inner; iterative."""
    todo: list[Json] = [value]
    while todo:
        here = todo.pop()
        if isinstance(here, dict):
            yield here
            todo.extend(here.values())
        elif isinstance(here, list):
            todo.extend(here)


def with_options(request: Request, **options: Any) -> Options:  # noqa: ANN401 - fields of `Options`, by name
    """The options of a request, some of them changed."""
    return evolve(request.options, **options)
