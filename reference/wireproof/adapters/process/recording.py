"""Records of the conversation with adapters, for their authors: `check --trace` and `check --keep-stderr`.

A trace has one JSON object on each line, in the order in which wireproof sent requests and read answers. Each
file has a limit, so that no adapter can fill the disk.
"""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, Final

from attrs import evolve, field, frozen

from wireproof.adapters.message_framing import Lines, Packet
from wireproof.adapters.process.controller import MIB, Program
from wireproof.files import naming, replace_file

MAX_FILE: Final = 64 * MIB
"""Most bytes of the file of one adapter."""

MAX_LINE: Final = MIB
"""Most bytes of a message in a trace; of a longer one the line has the id and the size."""


class LimitedFile:
    """A file for bytes up to a limit; a last line says that bytes are missing."""

    def __init__(self, file: IO[bytes], limit: int, last: bytes, path: Path) -> None:
        """Write to `file` at most `limit` bytes, then `last`; errors name `path`."""
        self._file = file
        self._path = path
        self._left = limit
        self._last = last

    def write(self, data: bytes, *, whole: bool = False) -> None:
        """Write as much of `data` as the limit allows; with `whole`, all of it or nothing."""
        if self._left < 0:
            return
        fits = len(data) <= self._left
        with naming(self._path):
            self._file.write(data if fits else b"" if whole else data[: self._left])
            self._left = self._left - len(data) if fits else -1
            if not fits:
                self._file.write(self._last)
            self._file.flush()


@frozen
class Recorder:
    """Records the conversation with one adapter, through all its starts, in the files that there are."""

    spec: str
    trace: LimitedFile | None
    stderr: LimitedFile | None
    starts: list[str] = field(factory=list)

    def recorded(self, program: Program) -> Program:
        """Return the program with records of its messages and of its stderr; note its start."""
        self.starts.append(program.name)
        number = len(self.starts)
        if self.trace:
            self._write({"adapter": self.spec, "start": number})
            program = evolve(program, note=self._note)
        if self.stderr:
            if number > 1:
                self.stderr.write(f"\n--- wireproof: start {number} of the adapter ---\n".encode())
            program = evolve(program, stderr=self.stderr.write)
        return program

    def _note(self, kind: str, packet: Packet) -> None:
        message = json.loads(Lines().pack(packet))
        line = {"adapter": self.spec, kind: message}
        if len(json.dumps(message)) > MAX_LINE:
            shown = {"id": packet.head.get("id"), "bytes": len(json.dumps(message))}
            line = {"adapter": self.spec, kind: shown, "left_out": True}
        self._write(line)

    def _write(self, line: dict[str, Any]) -> None:
        assert self.trace is not None, "only a trace is written"
        self.trace.write(json.dumps(line, separators=(",", ":")).encode() + b"\n", whole=True)


@frozen
class Recording:
    """The records that a run makes: the file of all messages, and the folder of the files with stderr."""

    trace: Path | None = None
    stderr: Path | None = None

    @contextmanager
    def recorder(self, number: int, spec: str) -> Iterator[Recorder | None]:
        """Open the files of the adapter of a number; raises `OSError`."""
        with ExitStack() as stack:

            def opened(path: Path, last: bytes) -> LimitedFile:
                path.parent.mkdir(parents=True, exist_ok=True)
                stack.enter_context(naming(path))  # closing it writes what is left
                return LimitedFile(stack.enter_context(path.open("wb")), MAX_FILE, last, path)

            cut = {"adapter": spec, "left_out": True, "text": f"the rest, after {MAX_FILE // MIB} MiB"}
            last = json.dumps(cut, separators=(",", ":")).encode() + b"\n"
            trace = opened(_part(self.trace, number), last) if self.trace else None
            text = f"\n--- wireproof: the rest is left out, after {MAX_FILE // MIB} MiB ---\n".encode()
            name = re.sub(r"[^\w.-]+", "_", spec)[:100]
            path = self.stderr / f"{number + 1}-{name}.txt" if self.stderr else None
            stderr = opened(path, text) if path else None
            yield Recorder(spec, trace, stderr) if trace or stderr else None

    def join(self, count: int) -> None:
        """Make the trace of the parts of so many adapters, in their order; raises `OSError`."""
        if self.trace is None:
            return
        parts = [path for number in range(count) if (path := _part(self.trace, number)).exists()]

        def concatenate(draft: Path) -> None:
            with draft.open("wb") as out:
                for path in parts:
                    with path.open("rb") as part:
                        copyfileobj(part, out)

        replace_file(self.trace, concatenate)
        for path in parts:
            path.unlink()


def _part(trace: Path, number: int) -> Path:
    return trace.with_name(f"{trace.name}.{number + 1}.part")
