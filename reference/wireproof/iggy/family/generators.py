"""The generators of large requests, replies and segments."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from wireproof.cases.made_case import Generator, alike
from wireproof.iggy.family import made_json, made_messages


def _binary() -> Iterator[tuple[str, Generator]]:
    yield "iggy.send/0.0.30", alike(made_messages.send_30, made_messages.send_30_value)
    yield "iggy.send/0.11", alike(made_messages.send_11, made_messages.send_11_value)
    yield "iggy.poll/0.11", alike(made_messages.poll_11, made_messages.poll_11_value)
    for name in ("0.0.30", "0.0.40", "0.0.60"):
        made, value = (
            partial(made_messages.poll_30, revision=name),
            partial(made_messages.poll_30_value, revision=name),
        )
        yield f"iggy.poll/{name}", alike(made, value)
    for name in made_messages.HEADED:
        yield (
            f"iggy.send/{name}",
            alike(partial(made_messages.send_70, revision=name), made_messages.send_70_value),
        )
        made, value = (
            partial(made_messages.poll_70, revision=name),
            partial(made_messages.poll_70_value, revision=name),
        )
        yield f"iggy.poll/{name}", alike(made, value)


def _json() -> Iterator[tuple[str, Generator]]:
    for name in ("0.0.30", "0.7", "0.8", "0.9", "0.10"):
        yield f"iggy.json.send/{name}", alike(made_json.send, made_json.send_value)
    for name in ("0.0.30", "0.0.40", "0.0.60"):
        value = partial(made_messages.poll_30_value, revision=name)
        yield f"iggy.json.poll/{name}", alike(partial(made_json.poll_30, revision=name), value)
    for name in made_json.RESERVED:
        value = partial(made_json.poll_70_json_value, revision=name)
        yield f"iggy.json.poll/{name}", alike(partial(made_json.poll_70, revision=name), value)


def _log() -> Iterator[tuple[str, Generator]]:
    yield "iggy.log/0.0.30", alike(made_messages.log_30, made_messages.log_30_value)
    yield "iggy.log/0.0.40", alike(made_messages.log_40, made_messages.log_40_value)
    yield "iggy.log/0.2.7", alike(made_messages.log_27, made_messages.log_27_value)
    for name in made_messages.HEADED:
        made, value = (
            partial(made_messages.log_70, revision=name),
            partial(made_messages.log_70_value, revision=name),
        )
        yield f"iggy.log/{name}", alike(made, value)
    for name in ("0.11", "0.11.1-edge"):
        yield (
            f"iggy.log/{name}",
            alike(made_messages.log_11, partial(made_messages.log_11_value, revision=name)),
        )


GENERATORS: Final = {**dict(_binary()), **dict(_json()), **dict(_log())}
"""The generator of each kind."""
