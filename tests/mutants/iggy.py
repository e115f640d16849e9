"""Iggy codecs with one planted fault each.

Most faults were seen in an SDK or a server of iggy.md §11.1; each dies by a golden case.
"""

from collections.abc import Mapping
from typing import Final

from tests.mutants.base import ReferenceCodec
from tests.mutants.iggy_bytes import BYTES
from tests.mutants.iggy_checks import CHECKS
from tests.mutants.iggy_from_0_7 import LATER
from tests.mutants.iggy_numbers import NUMBERS
from tests.mutants.iggy_values import VALUES
from tests.mutants.iggy_writers import WRITERS

MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made for made in (*BYTES, *CHECKS, *VALUES, *NUMBERS, *WRITERS, *LATER)
}
"""Name to class."""
