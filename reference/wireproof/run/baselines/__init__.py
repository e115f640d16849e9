"""Baselines: files of known failures, their effect on a run, and how they are written."""
