"""Iggy codecs with one planted fault each. Design, section 7.

Most faults were seen in an SDK or a server of iggy.md §11.1; each dies by a golden case.
"""

from collections.abc import Mapping
from typing import Final

from wireproof.adapters.mutants.base import ReferenceCodec
from wireproof.adapters.mutants.iggy_bytes import BYTES
from wireproof.adapters.mutants.iggy_checks import CHECKS
from wireproof.adapters.mutants.iggy_later import LATER
from wireproof.adapters.mutants.iggy_values import VALUES
from wireproof.adapters.mutants.iggy_writers import WRITERS

MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made for made in (*BYTES, *CHECKS, *VALUES, *WRITERS, *LATER)
}
"""Name to class."""
