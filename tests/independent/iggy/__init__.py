"""Readers of Iggy's binary formats, by tables of their fields, and of its JSON texts."""
