"""Codecs that do something terrible once they read the byte 0x2a; else they are the reference."""

import hashlib
import os
import signal
import time
from pathlib import Path
from typing import Any

from wireproof.adapters.contract import Claim, Request
from wireproof.adapters.reference import Reference


class Troubled(Reference):
    name = "troubled"
    version = "1"

    @property
    def revisions(self) -> dict[str, Claim]:
        return {"iggy.identifier/0.0.30": Claim(("decode",))}

    def decode(self, request: Request) -> Any:
        if b"\x2a" in request.data:
            self.trouble()
        return super().decode(request)

    def trouble(self) -> None:
        raise NotImplementedError  # each codec below has a trouble of its own


class Segfault(Troubled):
    def trouble(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


class Loop(Troubled):
    def trouble(self) -> None:
        while True:
            pass


class SwallowingLoop(Troubled):
    """The exception that ends it is swallowed, as by a bare `except`."""

    def trouble(self) -> None:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                while time.monotonic() < until:
                    pass
            except BaseException:  # noqa: BLE001 - the fault itself
                return


class Sleep(Troubled):
    """It uses no processor time, so that only the clock on the wall notices."""

    def trouble(self) -> None:
        time.sleep(3600)


class LoopInC(Troubled):
    """No signal is seen by Python before it comes back from here, which takes minutes."""

    def trouble(self) -> None:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 1_000_000_000)


class Memory(Troubled):
    def trouble(self) -> None:
        kept = []
        while True:
            kept.append(bytes(256 * 1024 * 1024))


class KillsAnExecutor(Reference):
    """The first one kills the executor of Spark that asks it; `$KILLED` is a file that it makes then."""

    above_java = 0

    def decode(self, request: Request) -> Any:
        if (mark := os.environ.get("KILLED")) and not Path(mark).exists():
            line = [os.getppid()]
            while Path(f"/proc/{line[-1]}/comm").read_text() != "java\n":
                stat = Path(f"/proc/{line[-1]}/stat").read_text()
                line.append(int(stat.rpartition(")")[2].split()[1]))
            Path(mark).touch()
            os.kill(line[-1 - self.above_java], signal.SIGKILL)
        return super().decode(request)


class KillsAWorker(KillsAnExecutor):
    """The same of the Python worker: Java starts a process that starts these."""

    above_java = 2
