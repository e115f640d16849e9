"""The bases of the Heka mutants that replace parts of the reference, or rows of a table of it."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, ClassVar

from attrs import evolve

from tests.mutants.base import Patched, ReferenceCodec
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome
from wireproof.heka.message import FIELD_SCHEMA
from wireproof.heka.schema import SchemaField

Table = MutableMapping[Any, Any]


@contextmanager
def _patched(table: Table, rows: Mapping[Any, Any]) -> Iterator[None]:
    """Put `rows` into `table` for the duration of one request; an adapter answers one request at a time."""
    before = {key: table[key] for key in rows}
    table.update(rows)
    try:
        yield
    finally:
        table.update(before)


class PatchedHeka(Patched):
    """A Heka codec with other parts; a base class, no mutant itself."""

    system = "heka"


class PatchedTable(ReferenceCodec):
    """The reference with other rows in `table` during each request; a base class, no mutant itself."""

    system = "heka"
    table: ClassVar[Table] = FIELD_SCHEMA

    def rows(self) -> Mapping[Any, Any]:
        """Return the wrong rows."""
        return {}

    def decode(self, request: Request) -> Outcome:
        """Decode with the patched table."""
        with _patched(self.table, self.rows()):
            return super().decode(request)

    def scan(self, request: Request) -> Outcome:
        """Scan with the patched table."""
        with _patched(self.table, self.rows()):
            return super().scan(request)


def changed_slot(slot: SchemaField, change: Callable[[Any], Any]) -> SchemaField:
    """Return the row `slot`, which passes the values that it reads through `change`."""
    return evolve(slot, read=lambda reader, wire, name: change(slot.read(reader, wire, name)))
