"""Texts of fixtures and runs made safe to show, under the name by which every report knows it."""

from wireproof.wire.safe_text import escape_unsafe

__all__ = ["escape_unsafe"]
