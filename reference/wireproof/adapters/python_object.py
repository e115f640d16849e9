"""A Python object as an adapter: its claims, and its calls with every exception turned into an outcome.

The docstring of `contract` gives the rules. Whatever the object does, `Caller.answer` returns an outcome,
unless the process ends.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from attrs import evolve
from attrs.exceptions import FrozenInstanceError

from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.adapters.contract_json import claim_of, hello_of
from wireproof.adapters.errors import AdapterStartError, MessageError
from wireproof.adapters.message_framing import Packet
from wireproof.cases.case import Limits
from wireproof.cases.observable_fields import observed_tree
from wireproof.cases.outcome import (
    Accepted,
    Crashed,
    Exhausted,
    Faulty,
    Outcome,
    Refused,
    Stalled,
    Unsupported,
    refused_outcome,
)
from wireproof.wire.json_values import json_digest
from wireproof.wire.observed_fields import FieldTree, project
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected
from wireproof.wire.text import one_line


class Caller:
    """Caller of a Python object according to the contract; `hello` has its identity and claims."""

    def __init__(self, adapter: Any) -> None:  # noqa: ANN401 - any object; its shape is checked here
        """Read the claims of `adapter`; raise `AdapterStartError` if they break the contract."""
        self._adapter = adapter
        try:
            self._documented = _documented(adapter)
            self.hello = _hello(adapter)
        except MessageError as error:
            raise AdapterStartError(f"{type(adapter).__name__}: {error}") from None
        self._wanted: dict[str, FieldTree] = {
            format_id: observed_tree(format_id, claim.observes)
            for format_id, claim in self.hello.revisions.items()
        }

    def answer(self, request: Request) -> Outcome:
        """Return the outcome of one call; raise nothing but KeyboardInterrupt."""
        outcome = self._called(request)
        if request.answer == "digest" and isinstance(outcome, Accepted) and outcome.data is None:
            # The outcome with a digest over the observed fields in place of its value.
            if outcome.digest is not None:
                return outcome
            format_id = f"{request.format}/{request.revision}"
            wanted = self._wanted[format_id] if format_id in self._wanted else observed_tree(format_id, ())
            seen = project(outcome.value, wanted)
            try:
                return evolve(outcome, value=None, digest=json_digest(seen))
            except MemoryError as error:
                return Exhausted("memory", line_of(error))
            except (TypeError, ValueError, RecursionError) as error:
                return Faulty(f"its value is no JSON: {line_of(error)}")
        return outcome

    def _called(self, request: Request) -> Outcome:
        call = getattr(self._adapter, request.op, None)
        if call is None:
            return Unsupported(f"has no {request.op}")
        try:
            if request.op == "encode" and isinstance(request.value, dict | list):
                # the object cannot change the expected value; this takes a fifth of the time of `deepcopy`
                request = evolve(request, value=json.loads(json.dumps(request.value)))
            outcome: object = call(request)
        except KeyboardInterrupt:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            return self._raised(error)
        except BaseException as error:  # noqa: BLE001 - a Rust panic or SystemExit: no caller expects it
            return Crashed(f"would end its caller: {line_of(error)}")
        if not isinstance(outcome, Outcome):
            return Faulty(f"{request.op} gave {type(outcome).__name__}, which is no outcome")
        return outcome

    def _raised(self, error: Exception) -> Refused | Exhausted | Faulty:
        if isinstance(error, MemoryError):
            return Exhausted("memory", line_of(error))
        if isinstance(error, Rejected):
            return refused_outcome(error)
        if _misuses_contract(error):
            return Faulty(f"the adapter calls the adapter contract wrongly: {line_of(error)}")
        return Refused(text=line_of(error), untyped=not isinstance(error, self._documented))


def _documented(adapter: Any) -> tuple[type[BaseException], ...]:  # noqa: ANN401 - as above
    """Return the exceptions that a library documents: one class, or several; raise `MessageError`."""
    found = getattr(adapter, "documented", ())
    classes = tuple(found) if isinstance(found, Iterable) and not isinstance(found, type | str) else (found,)
    for cls in classes:
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            raise MessageError(f"documented has {cls!r}, which is no class of exceptions")
    return classes


def _hello(adapter: Any) -> Hello:  # noqa: ANN401 - as above
    """Return the hello of an object, after the same checks as for a hello over a pipe."""
    # open requests to an object that claims no window; its calls are made one after the other in any case
    head = {"window": 256} | {
        name: getattr(adapter, name)
        for name in ("name", "version", "errors", "window", "cost")
        if hasattr(adapter, name)
    }
    claims = getattr(adapter, "revisions", {})
    if not isinstance(claims, Mapping):
        raise MessageError("revisions must be a mapping of names such as kafka.batch/v2 to claims")
    for format_id in claims:
        if not isinstance(format_id, str):
            raise MessageError(
                f"revisions has the key {format_id!r}, which is no name such as kafka.batch/v2"
            )
    hello = hello_of(Packet({"hello": head}))
    revisions = {
        format_id: claim if isinstance(claim, Claim) else claim_of(claim, format_id)
        for format_id, claim in claims.items()
    }
    return evolve(hello, revisions=revisions, digests=True)  # `Caller` makes them for every object


_ANSWERS: Final = (Accepted, Refused, Unsupported, Stalled, Exhausted, Faulty, Rejected)
_CONTRACT: Final = (*_ANSWERS, Request, Claim, Options, Limits)
_WRONG_CALL: Final = re.compile(rf"({'|'.join(kind.__name__ for kind in _ANSWERS)})\.__init__\(\) ")


def _misuses_contract(error: Exception) -> bool:
    """Return True if the exception is about a class of the adapter contract, not about the codec."""
    match error:
        case TypeError():
            return _WRONG_CALL.match(str(error)) is not None
        case FrozenInstanceError():
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            return isinstance(trace.tb_frame.f_locals.get("self") if trace is not None else None, _CONTRACT)
        case AttributeError():
            return isinstance(error.obj, _CONTRACT) or error.obj in _CONTRACT
        case ImportError():
            return (error.name or "").partition(".")[0] == "wireproof"
    return False


def line_of(error: BaseException) -> str:
    """Return an exception on one line, its type first."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the exceptions of a broken library may not even print
        text = "(its text cannot be shown)"
    name = type(error).__qualname__
    return one_line(f"{name}: {text}" if text else name, 300)
