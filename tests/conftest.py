"""Which tests of a run on several workers go to the same one: those that share what is dear to start.

xdist's own groups are a suffix that it writes into the ids of tests; from pytest 9.2 on an id is made anew
whenever somebody asks for it, and they are lost without a word.
"""

from typing import Final

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

TOGETHER: Final = (
    "tests/spark/",  # a session: two of them would be two virtual machines on the same cores
    "tests/unit/test_page.py",  # a page in a browser
    "tests/unit/test_kits.py::test_a_kit_conforms_and_a_fault_in_it_is_found",  # compilers
)


class Together(LoadScopeScheduling):
    """One test after the other goes to whoever is free, and these to one worker."""

    def _split_scope(self, nodeid: str) -> str:
        return next((begin for begin in TOGETHER if nodeid.startswith(begin)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together | None:
    """Where nobody asked for another way to spread tests."""
    return Together(config, log) if config.getvalue("dist") == "load" else None
