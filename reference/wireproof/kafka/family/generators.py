"""The generators of large entries, and of logs with one."""

from functools import partial
from typing import Final

from wireproof.cases.generate import kafka
from wireproof.cases.made_case import Generator


def _message(magic: int) -> Generator:
    value = partial(kafka.message_value, magic=magic)
    made = partial(kafka.message, magic=magic)
    return Generator(made, partial(value, computed=True), partial(value, computed=False))


GENERATORS: Final = {
    "kafka.batch/v0": _message(0),
    "kafka.batch/v1": _message(1),
    "kafka.batch/v2": Generator(
        kafka.batch, partial(kafka.batch_value, computed=True), partial(kafka.batch_value, computed=False)
    ),
    "kafka.log/mixed": Generator(
        kafka.produced, partial(kafka.log_value, computed=True), partial(kafka.log_value, computed=False)
    ),
}
"""The generator of each kind."""
