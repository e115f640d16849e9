"""Whether a codec dies by fuzzing alone, and of what: a column of the kill table. Design, section 7."""

import tempfile
from pathlib import Path

from wireproof.fuzz.campaign import Campaign, run
from wireproof.trial.kill import Killed


def killed_by_fuzz(name: str, seconds: float, seed: int = 1, workers: int = 1) -> Killed:
    """Fuzz `name` for `seconds` at most, from the least encodings on, until its first failure.

    Raises:
        AdapterError: the adapter cannot be started, or atheris is missing.
    """
    with tempfile.TemporaryDirectory(prefix="wireproof-kill-") as folder:
        campaign = Campaign(
            name, Path(folder), minutes=seconds / 60, seed=seed, workers=workers, first=True, bare=True
        )
        gating = [finding for finding in run(campaign).findings if finding.gates]
    if not gating:
        return Killed("", "", 0, 0)
    first = min(gating, key=lambda finding: finding.first)
    return Killed(first.token, first.signature.kind, len(gating), 0)
