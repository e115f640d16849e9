"""Archives and campaigns on Spark: `scan`, `recover` and `campaign`, in a session that you have.

The sources for `spark.read` are `wireproof.kafka_log`, `wireproof.iggy_log` and `wireproof.heka_stream`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from wireproof.spark.campaign_job import campaign
    from wireproof.spark.scan_job import scan
    from wireproof.spark.sound_records import recover

__all__ = ["campaign", "recover", "scan"]

_MODULES: Final = {
    "campaign": "campaign_job",
    "recover": "sound_records",
    "scan": "scan_job",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a function
    """Import a public function when it is used: the tasks of the sources need none of them."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
