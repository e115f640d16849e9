"""What a topic stores of a record set that a producer sends."""

from typing import Final

APPEND_TIME: Final = 2_000_000_000_000
"""The time of the append in expected values, in milliseconds: the clock of a broker is not in the bytes."""
