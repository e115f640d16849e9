"""Adapters: what makes an implementation look like a codec. Design, section 4.

What an adapter in Python needs is here: the request, the outcomes, and the refusal.
"""

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Refused, Stalled, Unsupported
from wireproof.wire.rejection import Rejected

__all__ = ["Accepted", "Claim", "Refused", "Rejected", "Request", "Stalled", "Unsupported"]
