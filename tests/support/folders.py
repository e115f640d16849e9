"""Folders of the checkout, for tests and helpers that read its files or start its programs."""

from pathlib import Path
from typing import Final

SUPPORT: Final = Path(__file__).resolve().parent
"""The helpers of the tests, with programs that they start and data that they read."""

TESTS: Final = SUPPORT.parent
TOP: Final = TESTS.parent
