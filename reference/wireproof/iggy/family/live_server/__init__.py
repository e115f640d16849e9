"""Adapter of a running Iggy server: sends the bytes of cases to streams of our own and polls them."""
