"""Adapters that are child processes: their pipes, their limits, their end."""
