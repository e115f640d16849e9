"""Where and when a run took place, for its manifest: only this module queries the machine."""

import platform
from datetime import UTC, datetime

from wireproof import __version__


def manifest_fields() -> dict[str, str]:
    """Return the fields of `events.Run` that describe the machine and the time."""
    return {
        "suite": __version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "started": datetime.now(tz=UTC).isoformat(timespec="seconds"),
    }
