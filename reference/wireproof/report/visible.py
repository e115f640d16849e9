"""Texts of fixtures and runs made safe to show, under the name by which every report knows it."""

from wireproof.wire.texts import visible

__all__ = ["visible"]
