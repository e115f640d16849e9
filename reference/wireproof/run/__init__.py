"""Runs: the engine sends cases to an adapter, events report the verdicts, and the run is concluded."""
