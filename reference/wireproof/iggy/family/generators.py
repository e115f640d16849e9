"""The generators of large requests, replies and segments."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from wireproof.cases.generate import iggy, iggy_json, iggy_log
from wireproof.cases.made_case import Generator, alike


def _binary() -> Iterator[tuple[str, Generator]]:
    yield "iggy.send/0.0.30", alike(iggy.send_30, iggy.send_30_value)
    yield "iggy.send/0.11", alike(iggy.send_11, iggy.send_11_value)
    yield "iggy.poll/0.11", alike(iggy.poll_11, iggy.poll_11_value)
    for name in ("0.0.30", "0.0.40", "0.0.60"):
        made, value = partial(iggy.poll_30, revision=name), partial(iggy.poll_30_value, revision=name)
        yield f"iggy.poll/{name}", alike(made, value)
    for name in iggy.HEADED:
        yield f"iggy.send/{name}", alike(partial(iggy.send_70, revision=name), iggy.send_70_value)
        made, value = partial(iggy.poll_70, revision=name), partial(iggy.poll_70_value, revision=name)
        yield f"iggy.poll/{name}", alike(made, value)


def _json() -> Iterator[tuple[str, Generator]]:
    for name in ("0.0.30", "0.7", "0.8", "0.9", "0.10"):
        yield f"iggy.json.send/{name}", alike(iggy_json.send, iggy_json.send_value)
    for name in ("0.0.30", "0.0.40", "0.0.60"):
        value = partial(iggy.poll_30_value, revision=name)
        yield f"iggy.json.poll/{name}", alike(partial(iggy_json.poll_30, revision=name), value)
    for name in iggy_json.RESERVED:
        value = partial(iggy_json.poll_70_json_value, revision=name)
        yield f"iggy.json.poll/{name}", alike(partial(iggy_json.poll_70, revision=name), value)


def _log() -> Iterator[tuple[str, Generator]]:
    yield "iggy.log/0.0.30", alike(iggy_log.log_30, iggy_log.log_30_value)
    yield "iggy.log/0.0.40", alike(iggy_log.log_40, iggy_log.log_40_value)
    yield "iggy.log/0.2.7", alike(iggy_log.log_27, iggy_log.log_27_value)
    for name in iggy.HEADED:
        made, value = partial(iggy_log.log_70, revision=name), partial(iggy_log.log_70_value, revision=name)
        yield f"iggy.log/{name}", alike(made, value)
    for name in ("0.11", "0.11.1-edge"):
        yield f"iggy.log/{name}", alike(iggy_log.log_11, partial(iggy_log.log_11_value, revision=name))


GENERATORS: Final = {**dict(_binary()), **dict(_json()), **dict(_log())}
"""The generator of each kind."""
