"""Peers that are built before they are asked: a run of tests builds Java's, and names those it leaves out."""

from machine import leave_out

from wireproof.adapters.controller import Controller
from wireproof.adapters.registry.readiness import ready
from wireproof.adapters.registry.registry import open_adapter, resolve


def prepared(name: str) -> Controller:
    """The running peer; where it is not built the test is left out, with the command that brings it in."""
    stands = ready(resolve(name))
    if stands.state != "ready":
        leave_out(f"{name} is left out: {stands.fix}")
    return open_adapter(name)
