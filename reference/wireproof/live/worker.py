"""The process of an adapter that is a running server: it serves cases, or removes what a run left there.

`python -m MODULE SPEC TOKEN` serves until stdin ends. It may be killed at any time, so the process that
started it runs `python -m MODULE SPEC TOKEN clean` after its end: it removes what has the token in its name.
`python -m MODULE SPEC TOKEN list` prints those names; with an empty token, those of all runs.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Final, Generic, TypeVar

from attrs import frozen

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.message_framing import Frames
from wireproof.adapters.object_worker import end_with_parent
from wireproof.adapters.registry.live_servers import PREFIX
from wireproof.adapters.serve import Answering, converse, refuse
from wireproof.cases.outcome import Crashed, Outcome
from wireproof.wire.text import one_line

GONE: Final = 3
"""Exit code after a case whose server is not there any more."""


@frozen
class Service:
    """What a process serves.

    Attributes:
        hello: the answer to a hello.
        answer: runs a request.
        window: the number of requests that are run at the same time.
        is_server: whether a crash is the end of a server, which ends the process too.
        note: returns what the user should know at the end of a run; empty if nothing.
    """

    hello: Hello
    answer: Answering
    window: int = 1
    is_server: bool = True
    note: Callable[[], str] = str


ServerT = TypeVar("ServerT")


@frozen
class LiveServer(Generic[ServerT]):
    """A kind of server. Its functions raise `AdapterError`.

    Attributes:
        things: what is created on it, such as `topics`.
        opened: serves the adapter with this name; the second argument is the token of the run.
        connected: connects to the server of the adapter with this name.
        names: returns the names of the things on it with a prefix.
        delete: deletes them; it returns those that are left, with the reason of each.
    """

    things: str
    opened: Callable[[str, str], AbstractContextManager[Service]]
    connected: Callable[[str], AbstractContextManager[ServerT]]
    names: Callable[[ServerT, str], Sequence[str]]
    delete: Callable[[ServerT, str], Mapping[str, str]]


def main(server: LiveServer[ServerT], arguments: Sequence[str]) -> int:
    """Do what the arguments say; return the exit code."""
    spec, token, *rest = arguments
    prefix = f"{PREFIX}{token}-" if token else PREFIX
    if not rest:
        return serve(server.opened(spec, token))
    try:
        with server.connected(spec) as found:
            if rest == ["list"]:
                sys.stdout.writelines(f"{name}\n" for name in server.names(found, prefix))
                return 0
            left = server.delete(found, prefix)
    except AdapterError as error:
        what = "" if rest == ["list"] else f"{server.things} named {prefix}… may be left: "
        sys.stderr.write(f"{what}{one_line(str(error), 200)}\n")
        return 1
    if left:
        sys.stderr.write(f"{server.things} left: {summary_of(left, prefix)}\n")
    return int(bool(left))


def serve(opened: AbstractContextManager[Service]) -> int:
    """Serve until stdin ends; return the exit code."""
    end_with_parent()
    with ExitStack() as stack:
        try:
            service = stack.enter_context(opened)
        except AdapterError as error:
            refuse(sys.stdout.buffer, str(error))
            return 4
        pipes = sys.stdin.buffer, sys.stdout.buffer
        ends = _gone if service.is_server else lambda _: None
        converse(service.hello, service.answer, Frames, *pipes, window=service.window, ends=ends)
        if note := service.note():
            sys.stderr.write(f"{note}\n")
    return 0


def summary_of(left: Mapping[str, str], prefix: str) -> str:
    """Return what is left as one line: those with the same reason together."""
    names: dict[str, list[str]] = {}
    for name, reason in left.items():
        names.setdefault(reason, []).append(name)
    shown = ((one[0] if len(one) == 1 else f"{len(one)} named {prefix}…", why) for why, one in names.items())
    return ", ".join(f"{what} ({reason})" for what, reason in shown)


def note_of(again: Mapping[str, int]) -> str:
    """Return the note on cases that were asked again and connections that were opened again, by reason."""
    rows = ", ".join(f"{number} {what}" for what, number in again.items())
    return f"asked again or opened again: {rows}" if rows else ""


def _gone(outcome: Outcome) -> int | None:
    if not isinstance(outcome, Crashed):
        return None
    sys.stderr.write(f"{outcome.text}\n")
    return GONE
