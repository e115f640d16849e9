"""Hypothesis strategies for the values, the encodings and nearly valid bytes of all formats; see `api.md`."""

from wireproof.derive.strategies import (
    Encoded,
    NearlyValid,
    encoded,
    nearly_valid,
    value_classes,
    values,
)

__all__ = ["Encoded", "NearlyValid", "encoded", "nearly_valid", "value_classes", "values"]
