"""A Python object as an adapter: its claims, and its calls with every exception turned into an outcome.

Design, section 4, and the contract's own docstring. Nothing that the object does, short of ending the
process, leaves `Caller.answer`.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from attrs import evolve, has

from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.adapters.errors import AdapterStartError, MessageError
from wireproof.adapters.framing import Packet
from wireproof.adapters.messages import claim_of, hello_of
from wireproof.cases.outcome import Accepted, Exhausted, Faulty, Outcome, Refused, Unsupported
from wireproof.wire.observe import Wanted, project, tree_of
from wireproof.wire.rejected import Rejected
from wireproof.wire.values import Json, digest, to_json

LONGEST_TEXT: Final = 300
"""Characters of a library's error that travel in an answer."""

WINDOW: Final = 256
"""Requests in flight to an object that names no window: it is called for one after the other in any case."""


class Caller:
    """Calls a Python object as the contract has it.

    Attributes:
        hello: who it is and what it claims.
    """

    def __init__(self, adapter: Any) -> None:  # noqa: ANN401 - any object; its shape is checked here
        """Read the claims of `adapter`; raises `AdapterStartError` where they break the contract."""
        self._adapter = adapter
        self._documented = tuple(getattr(adapter, "documented", ()))
        try:
            self.hello = _hello(adapter)
        except MessageError as error:
            raise AdapterStartError(f"{type(adapter).__name__}: {error}") from None
        self._wanted: dict[str, Wanted] = {
            joined: tree_of(claim.observes) for joined, claim in self.hello.revisions.items()
        }

    def answer(self, request: Request) -> Outcome:
        """The outcome of one call; raises nothing but KeyboardInterrupt."""
        outcome = self._called(request)
        if request.answer == "digest" and isinstance(outcome, Accepted) and outcome.data is None:
            return self._digested(request, outcome)
        return outcome

    def _called(self, request: Request) -> Outcome:
        call = getattr(self._adapter, request.op, None)
        if call is None:
            return Unsupported(f"has no {request.op}")
        try:
            outcome: object = call(_own(request))
        except KeyboardInterrupt:
            raise
        except MemoryError as error:
            return Exhausted("memory", line_of(error))
        except Rejected as rejected:
            return refused(rejected)
        except BaseException as error:  # noqa: BLE001 - a Rust panic is no Exception, SystemExit neither
            return Refused(text=line_of(error), untyped=not isinstance(error, self._documented))
        if not isinstance(outcome, Outcome):
            return Faulty(f"{request.op} gave {type(outcome).__name__}, which is no outcome")
        return outcome

    def _digested(self, request: Request, outcome: Accepted) -> Outcome:
        """The outcome with a digest over the observed fields in place of its value."""
        if outcome.digest is not None:
            return outcome
        seen = project(outcome.value, self._wanted.get(f"{request.format}/{request.revision}", {}))
        try:
            return evolve(outcome, value=None, digest=digest(seen))
        except MemoryError as error:
            return Exhausted("memory", line_of(error))
        except (TypeError, ValueError, RecursionError) as error:
            return Faulty(f"its value is no JSON: {line_of(error)}")


def _own(request: Request) -> Request:
    """The request with a value that the object may change without changing what it is held to."""
    return evolve(request, value=deepcopy(request.value)) if request.op == "encode" else request


def _hello(adapter: Any) -> Hello:  # noqa: ANN401 - as above
    """The hello of an object, held to the same checks as one that came over a pipe."""
    head = {"window": WINDOW} | {
        name: getattr(adapter, name)
        for name in ("name", "version", "errors", "window", "cost")
        if hasattr(adapter, name)
    }
    claims = getattr(adapter, "revisions", {})
    if not isinstance(claims, Mapping):
        raise MessageError("revisions wants a mapping of names such as kafka.batch/v2 to claims")
    hello = hello_of(Packet({"hello": head}))
    return evolve(hello, revisions={joined: _claim(claims, joined) for joined in claims})


def _claim(claims: Mapping[str, Any], joined: str) -> Claim:
    claim = claims[joined]
    return claim if isinstance(claim, Claim) else claim_of(claims, joined)


def refused(rejected: Rejected) -> Refused:
    """The outcome that a `Rejected` stands for."""
    return Refused(
        rejected.cls,
        rejected.at,
        rejected.path,
        rejected.detail,
        rejected.text,
        json_of(rejected.before),
    )


def json_of(value: Any) -> Json:  # noqa: ANN401 - a value class, or its JSON already
    """The JSON form of a value class; what is JSON already stays."""
    if has(type(value)):
        return to_json(value)
    tree: Json = value
    return tree


def line_of(error: BaseException) -> str:
    """An exception on one line, its type first."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - the exceptions of a broken library may not even print
        text = "(its text cannot be shown)"
    name = type(error).__qualname__
    return f"{name}: {text}"[:LONGEST_TEXT] if text else name
