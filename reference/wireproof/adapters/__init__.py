"""Adapters: they let the suite call any implementation of a format. See `adapter-contract.md`.

This module exports the names that an adapter in Python needs: request, outcomes and refusal.
"""

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, BrokenRule, Refused, Stalled, Unsupported
from wireproof.wire.rejection import Rejected

__all__ = ["Accepted", "BrokenRule", "Claim", "Refused", "Rejected", "Request", "Stalled", "Unsupported"]
