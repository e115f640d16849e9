"""Profiles of Hypothesis: `ci` draws the same examples every time, `nightly` others and many more.

Tests import `given` from here: without a profile an example has a time limit, which a busy machine exceeds.
`WIREPROOF_PROFILE=nightly pytest tests/properties` chooses; `HYPOTHESIS_MAX_EXAMPLES` is Hypothesis's own
concern and is not read here.
"""

import os

from hypothesis import HealthCheck, given, settings

__all__ = ["given"]

# A damaged stream may be long; the time is bounded by the number of examples.
_LENIENT = (HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile(
    "ci", max_examples=20, deadline=None, derandomize=True, database=None, suppress_health_check=_LENIENT
)
settings.register_profile("nightly", max_examples=2_000, deadline=None, suppress_health_check=_LENIENT)
settings.load_profile(os.environ.get("WIREPROOF_PROFILE", "ci"))
