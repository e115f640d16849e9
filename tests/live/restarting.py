"""Commands that start a server of this process again: each connects to a port, and ends when that is done."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server, socket
from threading import Thread

from tests.broker import ground
from tests.broker.ground import Release

CONNECT = "import socket, sys; sys.exit(socket.create_connection(('127.0.0.1', {})).recv(2) != b'ok')"


@contextmanager
def command_of(restart: Callable[[], None]) -> Iterator[str]:
    """Yield a command that calls a function of this process."""
    with create_server(("127.0.0.1", 0)) as server:
        Thread(target=_serve, args=(server, restart), daemon=True).start()
        port = server.getsockname()[1]
        yield shlex.join([sys.executable, "-c", CONNECT.format(port)])


def _serve(server: socket, restart: Callable[[], None]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            restart()
            connection.sendall(b"ok")


@contextmanager
def restarted_kafka(folder: Path, release: Release, port: int = 0) -> Iterator[tuple[str, str]]:
    """Start Kafka; yield its address, and the command that stops it and starts it again."""
    port, log = port or ground.free_port(), folder / "broker.out"
    command = ground.formatted(folder, release, port)
    brokers = [ground.started(command, port, log)]

    def restart() -> None:
        ground.stop(brokers.pop())
        brokers.append(ground.started(command, port, log))

    try:
        with command_of(restart) as text:
            yield f"127.0.0.1:{port}", text
    finally:
        for broker in brokers:
            ground.stop(broker)
