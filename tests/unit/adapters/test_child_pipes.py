"""The pipes of a child process: the bytes and the ends that a selector sees."""

import os
import selectors
import subprocess
import sys

import pytest

from wireproof.adapters.process.stats import Pipe

MANY = bytes(range(256)) * 8192  # 2 MiB, more than pipes hold

COPIES = "import shutil, sys; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"


def _exchange(data: bytes) -> bytes:
    """Send data through a process that returns it, both directions at once."""
    command = [sys.executable, "-S", "-c", COPIES]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin is not None
    assert child.stdout is not None
    stdin, stdout = Pipe(child.stdin), Pipe(child.stdout)
    got, rest = bytearray(), memoryview(data)
    with selectors.DefaultSelector() as selector:
        selector.register(stdin, selectors.EVENT_WRITE)
        selector.register(stdout, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select(10):
                if key.fileobj is stdin:
                    rest = rest[stdin.write(bytes(rest)) :]
                    if not rest:
                        selector.unregister(stdin)
                        stdin.close()
                elif piece := stdout.read():
                    got += piece
                else:
                    stdout.close()
                    assert child.wait(10) == 0
                    return bytes(got)


def test_bytes_go_both_ways_and_the_ends_are_seen() -> None:
    assert _exchange(MANY) == MANY


def test_nothing_there_is_no_end() -> None:
    reader, writer = os.pipe()
    pipe = Pipe(os.fdopen(reader, "rb", buffering=0))
    with pytest.raises(BlockingIOError):
        pipe.read()
    os.close(writer)
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        assert selector.select(10)
    assert pipe.read() == b""
    pipe.close()
