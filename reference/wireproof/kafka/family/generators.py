"""The generators of large entries, and of logs with one."""

from functools import partial
from typing import Final

from wireproof.cases.made_case import Generator
from wireproof.kafka.family import made_entries


def _message(magic: int) -> Generator:
    value = partial(made_entries.message_value, magic=magic)
    made = partial(made_entries.message, magic=magic)
    return Generator(made, partial(value, computed=True), partial(value, computed=False))


GENERATORS: Final = {
    "kafka.batch/v0": _message(0),
    "kafka.batch/v1": _message(1),
    "kafka.batch/v2": Generator(
        made_entries.batch,
        partial(made_entries.batch_value, computed=True),
        partial(made_entries.batch_value, computed=False),
    ),
    "kafka.log/mixed": Generator(
        made_entries.produced,
        partial(made_entries.log_value, computed=True),
        partial(made_entries.log_value, computed=False),
    ),
}
"""The generator of each kind."""
