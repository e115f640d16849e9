"""Tables of structures as text: records with versions, as Kafka's message schemas declare them.

A line without indentation begins a table; the indented lines below it are its rows, in the order of the wire.

    OffsetCommitValue 1 versions=0-4 flexible=4+
        offset int64
        leaderEpoch int32 3+
        metadata string
        topicId uuid 4+ tag=0

A row has name, type and the versions that have the field, then `nullable=` (versions), `tag=`, `default=`,
`codes=` (a table of names), `holds=` (the message that its bytes are, after an int16 version) and
`if=FIELD=VALUE` (the text of the outermost structure with which they are). `[]` before a type is a list.
Tagged fields are at the end of the bytes, by their tags. In a flexible version lengths are varints, plus one,
and there are tagged fields (KIP-482); the outermost structure says which versions are. A table is known below
itself, until another one has its name.
"""

from collections.abc import Iterator, Mapping
from functools import cache, partial, reduce
from operator import or_
from typing import Any, Final, cast

from attrs import field, frozen

from wireproof.schema import tagged
from wireproof.schema.layout import (
    Called,
    Count,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    Part,
    ReadCall,
    Repeated,
    When,
    attribute_of,
    tagged_fields,
)
from wireproof.schema.struct import ByRevision, Ranged, Struct, StructLayout
from wireproof.schema.tagged import Held, MessageValue, TaggedField
from wireproof.wire.reader import FIXED_WIDTH, Reader

OPEN: Final = 1 << 15
"""The end of a range of versions that has none: versions are of 16 bits."""

TYPES: Final[Mapping[str, tuple[Any, int, Any]]] = {
    **{kind: (int, FIXED_WIDTH[kind].size, 0) for kind in FIXED_WIDTH},
    "bool": (bool, 1, False), "float64": (float, 8, 0.0), "uuid": (str, 16, "A" * 22),
    "string": (str, 2, ""), "bytes": (bytes, 4, b""),
}  # fmt: skip
"""Each type: that of its values, the bytes of the smallest one if it is not flexible, and its default."""

OF_TYPE: Final = object()
"""The default of a field that declares none: that of its type."""


def versions_of(words: str) -> range:
    """Return the versions that a text means: `0-4`, `1+`, `2` or `none`."""
    if words == "none":
        return range(0)
    if words.endswith("+"):
        return range(int(words[:-1]), OPEN)
    first, _, last = words.partition("-")
    return range(int(first), int(last or first) + 1)


@frozen(kw_only=True, eq=False)
class Row:
    """A field; the head of this module describes the attributes."""

    name: str
    type: "str | Table"
    many: bool = False
    versions: range
    nullable: range = range(0)
    tag: int | None = None
    default: Any = OF_TYPE
    codes: Mapping[int, str] | None = None
    holds: "Table | None" = None
    only_if: tuple[str, str] | None = None

    @property
    def scalar_default(self) -> Any:  # noqa: ANN401 - a value of any type
        """Return the value where it is absent, if it is no list and no structure."""
        return TYPES[str(self.type)][2] if self.default is OF_TYPE else self.default


@frozen(kw_only=True, eq=False)
class Table:
    """A structure as its table has it; `versions` and `flexible` count for the outermost one."""

    name: str
    rows: tuple[Row, ...]
    versions: range
    flexible: range
    cites: str

    @property
    def newest(self) -> int:
        """Return the newest version."""
        return self.versions[-1]

    def rows_in(self, version: int) -> list[Row]:
        """Return the rows of a version, in the order of the table."""
        return [row for row in self.rows if version in row.versions]

    def at(self, version: int) -> StructLayout:
        """Return the layout of an outermost structure in a version that it has."""
        return _struct(self, self).at(str(version))

    def read(self, reader: Reader, version: int) -> Any:  # noqa: ANN401 - a value of the structure
        """Read a value in a version that the table has.

        Raises:
            Rejected: the bytes are no such value.
        """
        return self.at(version).codec.read(reader, tagged.Message())

    def read_held(self, reader: Reader) -> Held:
        """Read the bytes of a message that begins with its version.

        Raises:
            Rejected: they are none.
        """
        data = reader.data[reader.pos : reader.end]
        version = reader.int16("version")
        if version < 0:
            raise reader.reject("invalid-value", "version", f"version {version}")
        value = self.read(reader, min(version, self.newest))
        return Held(data, version, value, reader.rest("rest") if reader.left else b"")


# --- the text ---


@frozen
class Block:
    """A table of a text: the words of its head, and its rows."""

    words: tuple[str, ...]
    rows: tuple[str, ...]


def blocks(lines: str) -> Iterator[Block]:
    """Yield the tables of a text; comments, from `#` on, are left out."""
    head, rows = "", list[str]()
    for line in lines.splitlines():
        row = line.partition("#")[0].rstrip()
        if row[:1].isspace():
            rows.append(row)
        elif row:
            if head:
                yield Block(tuple(head.split()), tuple(rows))
            head, rows = row, []
    yield Block(tuple(head.split()), tuple(rows))


@frozen
class Tables:
    """The tables of a text so far: the last structure of each name, and the names of codes."""

    cites: str
    structs: dict[str, Table] = field(factory=dict)
    codes: dict[str, dict[int, str]] = field(factory=dict)

    def add(self, block: Block) -> Table | None:
        """Add a table, and return it if it is that of a structure.

        Raises:
            ValueError: a field has no type.
        """
        name, *words = block.words
        if name == "codes":
            pairs = " ".join(block.rows).split()
            self.codes[words[0]] = dict(zip(map(int, pairs[::2]), pairs[1::2], strict=True))
            return None
        said = _options(words)
        ranges = {one: versions_of(said.get(one, usual)) for one, usual in _RANGES.items()}
        rows = tuple(map(self._row, block.rows))
        self.structs[name] = table = Table(name=name, rows=rows, cites=self.cites, **ranges)
        return table

    def _row(self, row: str) -> Row:
        name, kind, *words = row.split()
        versions = words.pop(0) if words and "=" not in words[0] else "0+"
        said = _options(words)
        element = kind.removeprefix("[]")
        of = self.structs.get(element, element)
        if isinstance(of, str) and of not in TYPES:
            raise ValueError(f"{row.strip()}: {of} is no type")
        found: dict[str, Any] = {"default": OF_TYPE}
        if "default" in said:
            found["default"] = None if said["default"] == "null" else int(said["default"])
        if "if" in said:
            found["only_if"] = tuple(said["if"].split("="))
        return Row(
            name=name,
            type=of,
            many=kind != element,
            versions=versions_of(versions),
            nullable=versions_of(said.get("nullable", "none")),
            tag=int(said["tag"]) if "tag" in said else None,
            codes=self.codes[said["codes"]] if "codes" in said else None,
            holds=self.structs[said["holds"]] if "holds" in said else None,
            **found,
        )


_RANGES: Final = {"versions": "0+", "flexible": "none"}


def _options(words: list[str]) -> dict[str, str]:
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def read_tables(lines: str, cites: str) -> dict[str, Table]:
    """Return the structures of a text that has nothing but tables, by name."""
    tables = Tables(cites)
    for block in blocks(lines):
        tables.add(block)
    return tables.structs


# --- structures ---


@cache
def _struct(table: Table, outer: Table) -> Struct:
    """Return a structure inside the outermost one."""
    rows = [(row.versions, ByRevision(row.name, partial(_part, row, outer))) for row in table.rows]
    tags = ByRevision("unknownTags", partial(_tags, table, outer))
    whole, fields = outer.versions, list[Ranged]()
    for versions, part in (*rows, (outer.flexible, tags)):
        first, end = max(versions.start, whole.start), min(versions.stop, whole.stop)
        if first < end:
            since, until = str(first) * (first > whole.start), str(end) * (end < whole.stop)
            fields.append(Ranged(part, since, until))
    revisions = tuple(map(str, whole))
    return Struct(table.name, *fields, revisions=revisions, cites=table.cites, base=MessageValue)


@frozen(kw_only=True)
class NamedNumber(Number):
    """A number of which some have names; readers take the others too."""

    names: Mapping[int, str] | None = None


def _part(row: Row, outer: Table, revision: str) -> Part:
    version = int(revision)
    if row.tag is None and not row.many and row.type in _PLAIN:
        kind, truth = ("int8", "any") if row.type == "bool" else (str(row.type), "")
        return NamedNumber(row.name, kind, truth=truth, names=row.codes)  # type: ignore[arg-type] # a Literal
    read = _read(row, version, outer) if row.tag is None else None
    of = _struct(row.type, outer).at(revision) if isinstance(row.type, Table) else None
    held: Any = of.type if of is not None else TYPES[str(row.type)][0]
    held = tuple.__class_getitem__((held, ...)) if row.many else held
    more = [Held] * (row.holds is not None) + [type(None)] * (version in row.nullable)
    return Called(row.name, reduce(or_, more, held), read, of=of, names=row.codes)


_PLAIN: Final = frozenset((*FIXED_WIDTH, "bool"))


def _read(row: Row, version: int, outer: Table) -> ReadCall:
    """Return the function that reads a field."""
    compact, nullable = version in outer.flexible, version in row.nullable
    of: ReadCall | str
    if isinstance(row.type, Table):
        of = _struct(row.type, outer).at(str(version)).inner_codec.read
        least = _least(row.type, version, outer)
    else:
        of, least = row.type, 1 if compact and row.type in ("string", "bytes") else TYPES[row.type][1]
    if row.many:
        return tagged.many(row.name, of, least, compact=compact, nullable=nullable)
    if callable(of):
        return tagged.inner(row.name, of, nullable=nullable, tagged=row.tag is not None)
    if of == "string":
        kept = any(row.name == name for name in _texts(outer))
        return tagged.text(row.name, compact=compact, nullable=nullable, kept=kept)
    if of == "bytes":
        held = None if row.holds is None else row.holds.read_held
        return tagged.octets(row.name, compact=compact, nullable=nullable, held=held, only_if=row.only_if)
    read_one = tagged.scalar(of, compact=compact)
    return lambda reader, _: read_one(reader, row.name)


def _texts(table: Table) -> Iterator[str]:
    """Yield the texts of the outermost structure on which fields depend."""
    for row in table.rows:
        if row.only_if is not None:
            yield row.only_if[0]
        if isinstance(row.type, Table):
            yield from _texts(row.type)


def _tags(table: Table, outer: Table, revision: str) -> Called:
    version = int(revision)
    every = frozenset(row.tag for row in table.rows if row.tag is not None)
    rows = {row.tag: row for row in table.rows_in(version) if row.tag is not None}
    known = {
        tag: TaggedField(row.name, _read(row, version, outer), default_of(row, version, outer))
        for tag, row in sorted(rows.items())
    }
    also = tuple(one.name for one in known.values())
    pairs = tuple[tuple[int, bytes], ...]
    return Called("unknownTags", pairs, tagged.tagged(known, every), also=also)


def default_of(row: Row, version: int, outer: Table) -> Any:  # noqa: ANN401 - a value of any type
    """Return the value of a field that is absent."""
    if row.default is OF_TYPE and row.many:
        return ()
    if row.default is not OF_TYPE or isinstance(row.type, str):
        return row.scalar_default
    rows = row.type.rows_in(version)
    values = {attribute_of(one.name): default_of(one, version, outer) for one in rows}
    tags = {"unknown_tags": ()} if version in outer.flexible else {}
    return _struct(row.type, outer).at(str(version)).type(**values, **tags)


def _least(table: Table, version: int, outer: Table) -> int:
    """Return the size of the smallest value of a structure, in bytes."""
    rows = (row for row in table.rows_in(version) if row.tag is None)
    return sum(_least_of(row, version, outer) for row in rows) + (version in outer.flexible)


def _least_of(row: Row, version: int, outer: Table) -> int:
    if isinstance(row.type, Table) and not row.many:
        return 1 if version in row.nullable else _least(row.type, version, outer)
    if row.many or row.type in ("string", "bytes"):
        return 1 if version in outer.flexible else 4 if row.many else TYPES[str(row.type)][1]
    return TYPES[str(row.type)][1]


# --- layouts of flexible versions, for what reads no value ---


def flexible_layout(table: Table, *before: Part, outer: Table | None = None) -> Layout:
    """Return the layout of all versions together; `before` has the parts before it, such as the version."""
    rows = (part for row in table.rows for part in _declared(row, outer or table))
    return Layout(table.name, (*before, *rows, *tagged_fields()))


def _declared(row: Row, outer: Table) -> Iterator[Part]:
    name, versions = row.name, tuple(version for version in outer.versions if version in row.versions)
    part: Part
    match row.type:
        case Table() as of if row.many:
            yield Count(f"{name}Count", "uvarint", of=name)
            part = Repeated(name, of=flexible_layout(of, outer=outer))
        case Table() as of:
            part = Nested(name, of=flexible_layout(of, outer=outer))
        case "string":
            yield Length(f"{name}Length", "uvarint", of=name)
            part = Octets(name, text=True)
        case "uuid":
            part = Octets(name, size=16)
        case kind:
            part = Number(name, kind)
    yield part if len(versions) == len(outer.versions) else When(part, number="version", values=versions)


# --- what is in a value ---


def code_names(layout: StructLayout, value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - of any structure
    """Yield the path and the name of each number of a value that is a code with a name."""
    for name, attribute, names, of in _coded(layout):
        path, own = f"{prefix}{name}", getattr(value, attribute)
        if names and own in names:
            yield path, names[own]
        if of is not None and own is not None:
            for index, element in enumerate(own) if isinstance(own, tuple) else [(-1, own)]:
                yield from code_names(of, element, f"{path}." if index < 0 else f"{path}[{index}].")


@cache
def _coded(layout: StructLayout) -> tuple[tuple[str, str, Mapping[int, str], StructLayout | None], ...]:
    """Return the parts that are codes, or that contain some: name, attribute, names of numbers, structure."""
    found = []
    for part in layout.parts:
        names: Mapping[int, str] = getattr(part, "names", None) or {}
        of = cast("StructLayout | None", part.of) if isinstance(part, Called) else None
        if names or (of is not None and _coded(of)):
            found.append((part.name, attribute_of(part.name), names, of))
    return tuple(found)
