"""Where and when a run ran, for its manifest: the one place of `trial` that looks at the machine."""

import platform
from datetime import UTC, datetime

from wireproof import __version__


def manifest() -> dict[str, str]:
    """The fields of `events.Run` that the machine fills in."""
    return {
        "suite": __version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "started": datetime.now(tz=UTC).isoformat(timespec="seconds"),
    }
