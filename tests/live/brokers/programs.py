"""Brokers that are programs of other languages: built once from their registries, pinned."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.broker import ground
from wireproof.adapters.registry.driver_build import built
from wireproof.adapters.registry.registered import Build

HERE: Final = Path(__file__).parent

TANSU_VERSION: Final = "0.6.0"
_INSTALL: Final = (
    *("nice", "-n", "19", "cargo", "install", "tansu", "--version", TANSU_VERSION, "--locked", "-j1"),
    *("--no-default-features", "--features", "dynostore"),
    *("--profile", "dev", "--config", "profile.dev.debug=false"),
    *("--root", "{build}", "--target-dir", "{build}/target"),
)

TANSU: Final = Build(HERE / "tansu", (_INSTALL,))
KFAKE: Final = Build(HERE / "kfake", (("go", "build", "-o", "kfake", "."),))

Command = Callable[[int], list[str]]


def tansu_command(port: int) -> list[str]:
    """Return the command of tansu, with its storage in memory."""
    address = f"tcp://127.0.0.1:{port}"
    program = built("tansu", TANSU) / "bin" / "tansu"
    options = ("--listener-url", address, "--advertised-listener-url", address)
    return [str(program), "broker", *options, "--storage-engine", "memory://wireproof/"]


def kfake_command(port: int) -> list[str]:
    """Return the command of kfake: a program of ours around the package of franz-go."""
    return [str(built("kfake", KFAKE) / "kfake"), str(port)]


@contextmanager
def running(command: Command, folder: Path, port: int) -> Iterator[str]:
    """Start a program; yield its address, and stop it at the end."""
    port = port or ground.free_port()
    with ground.listening(command(port), port, folder / "broker.out") as address:
        yield address
