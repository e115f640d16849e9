"""Requests for the codecs of `toy_codecs.py`, and a question of one of them."""

from typing import Any

from wireproof.adapters.contract import Request
from wireproof.adapters.controller import Controller
from wireproof.cases.outcome import Outcome


def request(what: str, **more: Any) -> Request:
    return Request("7", "decode", "toy", "v1", what.encode(), **more)


def ask(controller: Controller, one: Request) -> Outcome:
    controller.send([one])
    ((name, outcome),) = controller.receive(5)
    assert name == one.id
    return outcome
