"""The name of a client program: `kafka-client:[NAME=VALUE …] COMMAND`."""

import json
import re
import shlex
from collections.abc import Sequence
from typing import Any, Final, Literal, Self, get_args

import attrs
from attrs import frozen

from wireproof.adapters.errors import UnknownAdapter
from wireproof.adapters.registry_entry import AdapterOption
from wireproof.kafka.family.loopback_broker.served_log import Manner
from wireproof.strict_parsing import structure

KIND: Final = "kafka-client"

OLDEST_FETCH: Final = 4
NEWEST_FETCH: Final = 17
"""The versions of Fetch that can be the newest one."""

Side = Literal["both", "consume", "produce"]

_OPTION: Final = re.compile(r"(?P<name>[a-z]+)=(?P<value>.*)")


@frozen
class ClientOptions:
    """The options of a client program; each is a word `NAME=VALUE` before the command.

    Attributes:
        name: the name for reports.
        fetch: the newest version of Fetch that the broker announces.
        serve: how a log is served.
        start: `consume` at an offset, or `subscribe` by a group.
        side: what is judged: the consumer, the producer, or both.
        lost: `answers`, if the broker closes the connection in place of the first answer to each producer
            with an id; the batch is stored.
    """

    name: str = KIND
    fetch: int = NEWEST_FETCH
    serve: Manner = "pieces"
    start: Literal["consume", "subscribe"] = "consume"
    side: Side = "both"
    lost: Literal["nothing", "answers"] = "nothing"

    def __attrs_post_init__(self) -> None:
        """Check the numbers; raise `ValueError`."""
        if not OLDEST_FETCH <= self.fetch <= NEWEST_FETCH:
            raise ValueError(f"fetch: must be from {OLDEST_FETCH} to {NEWEST_FETCH}, not {self.fetch}")

    def json(self) -> str:
        """Return the options as a word for the worker."""
        return json.dumps(attrs.asdict(self))

    @classmethod
    def of_json(cls, text: str) -> Self:
        """Return the options of such a word."""
        return structure(json.loads(text), cls, "the options")


ABOUT: Final = {
    "fetch": "the newest version of Fetch that the broker has",
    "serve": "how the broker serves a log; whole, also what no broker returns, is a check of robustness",
    "start": "assign a partition at an offset, or subscribe by a group",
    "side": "the side that is judged",
    "lost": "lose the first answer to a batch of a producer with an id",
}
"""What each option changes; `name` is for a command alone."""


def listed_options() -> tuple[AdapterOption, ...]:
    """Return the options for listings."""
    fields = attrs.fields_dict(ClientOptions)
    return tuple(
        AdapterOption(
            name,
            "|".join(get_args(fields[name].type)) or f"{OLDEST_FETCH}..{NEWEST_FETCH}",
            about,
            str(fields[name].default),
        )
        for name, about in ABOUT.items()
    )


def parse_spec(spec: str) -> tuple[ClientOptions, tuple[str, ...]]:
    """Return the options and the words of the command in `kafka-client:…`; raise `UnknownAdapter`."""
    try:
        words = shlex.split(spec.partition(":")[2])
        count = next((place for place, word in enumerate(words) if not _OPTION.fullmatch(word)), len(words))
        options = _options(words[:count])
    except ValueError as error:
        raise UnknownAdapter(f"{spec}: {error}") from None
    if count == len(words):
        raise UnknownAdapter(f"{spec}: a command is missing; a client is written {KIND}:COMMAND")
    return options, tuple(words[count:])


def _options(words: Sequence[str]) -> ClientOptions:
    given: dict[str, Any] = dict(word.split("=", 1) for word in words)
    known = attrs.fields_dict(ClientOptions)
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"no option {name}: there are {', '.join(known)}")
        choices = get_args(known[name].type)
        if choices and value not in choices:
            raise ValueError(f"{name}: must be one of {', '.join(choices)}, not {value}")
    if not re.fullmatch(r"\d{1,3}", given.get("fetch", "4")):
        raise ValueError(f"fetch: must be a number, not {given['fetch']}")
    return ClientOptions(**(given | ({"fetch": int(given["fetch"])} if "fetch" in given else {})))
