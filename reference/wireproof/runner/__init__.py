"""The runner: the engine sends cases to an adapter, the judge decides, and events report the verdicts."""
