"""wireproof: a conformance and fuzz suite for the Kafka, Iggy and Heka message formats.

    from wireproof import check, decode, encode, explain, scan

`reference/docs/api.md` lists what other packages may import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wireproof.api import check, decode, encode, explain, scan

__version__ = "0.1.0"

__all__ = ["__version__", "check", "decode", "encode", "explain", "scan"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a function of `api`
    """Import a function when it is asked for: the codecs are not loaded by `import wireproof`."""
    if name in __all__:
        return getattr(import_module("wireproof.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
