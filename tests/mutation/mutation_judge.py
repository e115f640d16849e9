"""What a changed codec is held to: cases under their frozen expectations, then families made anew.

This module is imported again, with the whole package, where a change lies outside of functions.
"""

import signal
from collections.abc import Iterable, Sequence
from typing import Any

from layout_check import layout_errors

from wireproof.adapters.reference import Reference
from wireproof.cases.case import Case
from wireproof.cases.derived import broken_relations, derived_cases
from wireproof.cases.made_case import made_case
from wireproof.runner.judge import REFERENCE_HELLO, judge
from wireproof.runner.requests import request_for
from wireproof.runner.verdicts import Verdict
from wireproof.wire.rejection import Rejected

TWIN = Verdict("pass", "canonical")
"""A twin that is not selected does not execute the change: it passes as it did before."""

ADAPTER = Reference()


def verdict_on(case: Case) -> str:
    """Why `case` kills the codec as it is; empty where it passes.

    `lenient` kills: where a rule leaves others the choice, the case still says what the reference does.
    """
    case = made_case(case)
    request = request_for(case, case.id)
    try:
        outcome = getattr(ADAPTER, case.op)(request)
        verdict = judge(case, outcome, hello=REFERENCE_HELLO, twin=TWIN, reference=None)
    except Rejected as rejected:
        return f"raised {rejected.cls}"
    except MemoryError:
        return "memory"
    except Exception as error:  # noqa: BLE001 - nothing but `Rejected` may leave a codec
        return f"raised {type(error).__name__}"
    passing = verdict.passing and verdict.name != "lenient"
    return "" if passing or verdict.name == "info" else verdict.label


class _Late(BaseException):
    """A case took longer than it may; no handler of a codec catches it."""


def _late(*_: Any) -> None:
    raise _Late


def first_failure(cases: Iterable[Case], seconds: float) -> tuple[str, str]:
    """The id of the first case that fails, and why; both empty where all pass. `seconds`: CPU, of each."""
    signal.signal(signal.SIGVTALRM, _late)
    for case in cases:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            why = verdict_on(case)
        except _Late:
            why = "timeout"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if why:
            return case.id, why
    return "", ""


def first_untrue(cases: Iterable[Case], seconds: float) -> tuple[str, str]:
    """As `first_failure`, of the layouts of golden cases; `seconds`: CPU, of all of them."""
    signal.signal(signal.SIGVTALRM, _late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    now = ""
    try:
        for case in cases:
            now = case.id
            for wrong in layout_errors(case):
                return now, f"layout: {wrong}"
    except _Late:
        return "", ""
    except Exception as error:  # noqa: BLE001 - nothing but `Rejected` may leave a codec
        return now, f"layout raised {type(error).__name__}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return "", ""


def first_broken(parents: Sequence[Case], seconds: float) -> tuple[str, str]:
    """As `first_failure`, of families made anew by the codec as it is; `seconds`: CPU, of all of them.

    The families are made from the trace of the codec under judgement, so a trace that tells untruths
    breaks their relations: a flip outside of what a checksum covers goes unnoticed.
    """
    signal.signal(signal.SIGVTALRM, _late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    now = ""
    try:
        for parent in parents:
            now = parent.id
            for case, _ in broken_relations(derived_cases(parent)):
                return case.id, "relation"
    except _Late:
        return "", ""
    except Exception as error:  # noqa: BLE001 - as above
        return f"{now}~", f"raised {type(error).__name__}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return "", ""
