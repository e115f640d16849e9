"""The function with which every report makes texts of fixtures and runs safe to show."""

from wireproof.wire.safe_text import escape_unsafe

__all__ = ["escape_unsafe"]
