"""`wireproof serve`: serve an adapter on stdin and stdout, or a server on the loopback to try a check on."""

import shlex
import sys
import time
from typing import TYPE_CHECKING, cast

import click

from wireproof.adapters.serve import serve
from wireproof.family import TrialServer, object_at
from wireproof.formats import FAMILIES
from wireproof.install_hint import install_command
from wireproof.suggestions import closest

if TYPE_CHECKING:
    from wireproof.adapters.registry.registered import Wire


@click.command("serve")
@click.argument("name", metavar="ADAPTER|broker")
@click.argument("fault", required=False, default="")
@click.option(
    "--wire", type=click.Choice(["exec", "jsonl"]), default="exec", help="frames, or JSON lines with hex"
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="of the server; 0 is any free one")
def command(name: str, fault: str, wire: str, port: int) -> None:
    """Serve ADAPTER until stdin ends: `wireproof serve reference --wire jsonl`.

    `wireproof serve broker [FAULT]` starts a Kafka broker on 127.0.0.1 to try a check on, sound or with a
    fault, and prints the command that checks it; Ctrl-C ends it. A wrong FAULT lists the names. It needs the
    extra broker.
    """
    places = {word: place for family in FAMILIES.values() for word, place in family.trial_servers.items()}
    if name in places:
        try:
            server: TrialServer = object_at(places[name])
        except ModuleNotFoundError as error:  # the extra of its name has what it needs
            raise click.UsageError(f"serve {name} needs {error.name}: {install_command(name)}") from None
        _serve_trial(name, server, fault, port)
    elif fault:
        raise click.UsageError(f"{name} has no faults to choose: only {', '.join(places)} has")
    else:
        serve(name, cast("Wire", wire), sys.stdin.buffer, sys.stdout.buffer)


def _serve_trial(name: str, server: TrialServer, fault: str, port: int) -> None:
    """Run a server until Ctrl-C; print what it does, its address and the command that checks it."""
    if fault and fault not in server.faults:
        near = closest(fault, server.faults)
        advice = f"did you mean {near}? " if near else ""
        raise click.UsageError(f"{name} has no fault {fault}: {advice}faults: {', '.join(server.faults)}")
    does = server.faults[fault] if fault else f"It is sound; faults to name: {', '.join(server.faults)}."
    try:
        with server.running(fault, port) as address:
            click.echo(f"{name} on {address}; Ctrl-C ends it. {does} Check it in another terminal:")
            click.echo(f"wireproof check {server.adapter}:{address} --run {shlex.quote(server.cases)}")
            sys.stdout.flush()
            while True:
                time.sleep(0.5)  # and see Ctrl-C
    except KeyboardInterrupt:
        return
    except OSError as error:
        raise click.UsageError(f"port {port} of 127.0.0.1 cannot be used: {error.strerror}") from None
