"""The Heka reference with other rows in one of its own tables, while it answers. Mutants are made of it."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, ClassVar

from attrs import evolve

from tests.mutants.base import ReferenceCodec
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome
from wireproof.heka.message import FIELD
from wireproof.heka.schema import Slot

Table = MutableMapping[Any, Any]


@contextmanager
def _altered(table: Table, rows: Mapping[Any, Any]) -> Iterator[None]:
    """`table` with other `rows`, while it lasts; an adapter answers one request at a time."""
    before = {key: table[key] for key in rows}
    table.update(rows)
    try:
        yield
    finally:
        table.update(before)


class Altered(ReferenceCodec):
    """The reference with other rows in one of its tables; in itself no mutant."""

    system = "heka"
    table: ClassVar[Table] = FIELD

    def rows(self) -> Mapping[Any, Any]:
        """The rows that are wrong."""
        return {}

    def decode(self, request: Request) -> Outcome:
        """Decode by the altered table."""
        with _altered(self.table, self.rows()):
            return super().decode(request)

    def scan(self, request: Request) -> Outcome:
        """Scan by the altered table."""
        with _altered(self.table, self.rows()):
            return super().scan(request)


def told(slot: Slot, change: Callable[[Any], Any]) -> Slot:
    """The row `slot`, telling another value in place of the one that it reads."""
    return evolve(slot, read=lambda reader, wire, name: change(slot.read(reader, wire, name)))
