"""The command line as tests call it; the fixture is in `conftest`."""

from collections.abc import Callable

from attrs import frozen


@frozen
class Done:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    def one_line(self) -> str:
        (line,) = self.err.splitlines()
        assert line.startswith("wireproof: ")
        assert "Traceback" not in self.out
        return line


Command = Callable[..., Done]
