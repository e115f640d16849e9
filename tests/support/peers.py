"""The adapters in Python of tests/peers, as objects of the process that tests them."""

from typing import Any

from wireproof.adapters.registry import load_object, resolve


def python_adapter(name: str) -> Any:
    """Return the object that the worker process of this adapter would call."""
    return load_object(resolve(name))
