"""Fixtures of the tests of the command line."""

from pathlib import Path

import pytest


@pytest.fixture
def own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run find no earlier one that another test, or the user, has stored."""
    monkeypatch.setenv("WIREPROOF_CACHE", str(tmp_path / "cache"))
