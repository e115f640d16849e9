"""See design.md; filled below."""
