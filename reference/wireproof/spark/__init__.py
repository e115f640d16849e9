"""Archives and campaigns on Spark: `scan`, `recover`, `campaign` and `compare`, in a session that you have.

The sources for `spark.read` are `wireproof.kafka_log`, `wireproof.iggy_log` and `wireproof.heka_stream`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from wireproof.spark.archive_queries import compare, recover
    from wireproof.spark.campaign_job import campaign
    from wireproof.spark.scan_job import scan

__all__ = ["campaign", "compare", "recover", "scan"]

_MODULES: Final = {
    "campaign": "campaign_job",
    "compare": "archive_queries",
    "recover": "archive_queries",
    "scan": "scan_job",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a function
    """Import a public function when it is used: the tasks of the sources need none of them."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
