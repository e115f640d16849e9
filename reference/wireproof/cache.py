"""The folder for built adapters and other cached files. It is in the lowest layer: every command needs it."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return `$WIREPROOF_CACHE`, else `wireproof` under `$XDG_CACHE_HOME` or `~/.cache`."""
    if own := os.environ.get("WIREPROOF_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wireproof"
