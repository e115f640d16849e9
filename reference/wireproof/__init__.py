"""wireproof: a conformance and fuzz suite for the Kafka, Iggy and Heka message formats.

    from wireproof import check, decode, encode, explain, scan

`reference/docs/api.md` lists what other packages may import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wireproof.api import check, decode, encode, explain, scan
    from wireproof.formats import UnknownFormat
    from wireproof.wire.json_values import to_json
    from wireproof.wire.options import Options

__version__ = "0.1.0"

__all__ = [
    "Options",
    "UnknownFormat",
    "__version__",
    "check",
    "decode",
    "encode",
    "explain",
    "scan",
    "to_json",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - what `api` has
    """Import a name when it is asked for: the codecs are not loaded by `import wireproof`."""
    if name in __all__:
        return getattr(import_module("wireproof.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
