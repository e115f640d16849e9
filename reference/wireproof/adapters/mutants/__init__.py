"""Codecs with one planted fault each: what the suite must catch. Design, section 7."""
