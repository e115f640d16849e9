"""Fixtures of pytest that several tests share."""

import sys
from typing import Any

import pytest
from commands import Command, Done

from wireproof.cli import main


@pytest.fixture
def wireproof(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The same `main` as the program's, in this process."""

    def run(*words: Any, width: int = 200) -> Done:
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setattr(sys, "argv", ["wireproof", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        printed = capfd.readouterr()
        code = left.value.code
        assert isinstance(code, int)
        return Done(int(code), printed.out, printed.err)

    return run
