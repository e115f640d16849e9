"""The recipe of a generated input: the rule that a fixture has in place of bytes."""

from typing import Any, Final, Literal

from attrs import NOTHING, fields, frozen

Fill = Literal["noise", "text", "runs"]
"""The bytes of values: `noise` and `text` do not repeat, in `runs` each 64 KiB repeat one byte."""

Codec = Literal["none", "gzip", "snappy", "snappy-raw", "lz4", "zstd"]
"""The compression of Kafka entries: `snappy` is in xerial framing, `snappy-raw` one block without it."""

MAX_PAYLOAD: Final = 64 * 1024 * 1024
"""Most bytes of all values together: a recipe may come from a token, which nobody has checked."""

MAX_RECORDS: Final = 256 * 1024
"""Most records or messages."""

MAX_ASKED: Final = 3 * 512 * 1024
"""Most bytes of all values together for which an adapter that answers no digests is asked: 1.5 MiB."""


@frozen
class Recipe:
    """What is made.

    Attributes:
        kind: format and revision: `kafka.batch/v2`.
        records: number of records or messages; of a compressed v0 or v1 entry, those inside the wrapper.
        value: bytes of the value, or payload, of each of them.
        fill: the bytes of the values.
        codec: the compression.
        block: most bytes of a compressed block before compression; 0: those of Kafka's writer.
        sized: whether a zstd frame states the size of its content.
    """

    kind: str
    records: int = 1
    value: int = 0
    fill: Fill = "noise"
    codec: Codec = "none"
    block: int = 0
    sized: bool = False

    def __attrs_post_init__(self) -> None:
        """Raise `ValueError` for numbers outside the limits."""
        if not 1 <= self.records <= MAX_RECORDS:
            raise ValueError(f"records must be 1 to {MAX_RECORDS}, got {self.records}")
        if not 0 <= self.value <= MAX_PAYLOAD // self.records:
            raise ValueError(f"all values together may have {MAX_PAYLOAD} bytes, got {self.payload}")
        if not 0 <= self.block <= MAX_PAYLOAD:
            raise ValueError(f"block must be 0 to {MAX_PAYLOAD}, got {self.block}")

    @property
    def payload(self) -> int:
        """Return the bytes of all values together."""
        return self.records * self.value


def recipe_json(recipe: Recipe) -> dict[str, Any]:
    """Return the JSON object of a recipe, without its defaults."""
    parts = ((one, getattr(recipe, one.name)) for one in fields(Recipe))
    return {one.name: part for one, part in parts if one.default is NOTHING or part != one.default}
