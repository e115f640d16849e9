"""The limits of requests that wait for messages, codes 106 and 109: iggy.md, section 6.2."""

from typing import Final

from attrs import frozen

LARGEST_WAIT: Final = 600_000_000
"""The longest wait, in microseconds: ten minutes."""

LARGEST_TIMEOUT: Final = LARGEST_WAIT + 30_000_000
"""The longest timeout of a request, in microseconds."""

DEFERRED_MARGIN: Final = 1_000_000
"""The least time between the end of the wait and the timeout, in microseconds."""

LEAST_BYTES: Final = 40 + 256 + 48
"""The least limit of bytes: the prefix of a reply, the header of a batch and that of a message."""

LARGEST_PARTITIONS: Final = 1000
"""The largest number of partitions of one request, and of sections of its reply."""

Limited = tuple[str, int, int, int | None]
"""The name of a field, its number, the least and the largest number; None for no largest."""


@frozen
class Fault:
    """A field outside its limits, and a text that says so."""

    name: str
    text: str


def first_fault(*fields: Limited) -> Fault | None:
    """Return the first field whose number is outside its limits, or None."""
    for name, number, least, most in fields:
        if number < least or (most is not None and number > most):
            limits = f"at least {least}" if most is None else f"{least} to {most}"
            return Fault(name, f"{number}, allowed: {limits}")
    return None
