"""Six clients that carry out a plan (`plan.TOPICS`) on a broker, for `data_directory.py`."""

import json
import subprocess
import sys
import time
from pathlib import Path

import ground
import plan

HERE = Path(__file__).parent
CLIENT_SECONDS = 1800


def command(client: str, bootstrap: str, path: str) -> list[str]:
    """The functions that carry out a plan with a client."""
    match client:
        case "kafka-clients":
            return ground.java("wireproof.broker.Produce", bootstrap, path)
        case "franz-go":
            return [str(ground.built("broker", ground.GO) / "produce"), bootstrap, path]
        case "kafkajs":
            return ["node", str(ground.built("broker", ground.NODE) / "produce.js"), bootstrap, path]
        case _:
            return [sys.executable, str(HERE / "clients.py"), client, bootstrap, path]


CLIENTS = ("kafka-clients", "librdkafka", "kafka-python", "aiokafka", "franz-go", "kafkajs")


def produced(client: str, bootstrap: str, folder: Path) -> str:
    """Carry out the plan with a client; return the version that the client reports."""
    path = folder / f"{client}.json"
    path.write_text(json.dumps({"steps": plan.steps(client, int(time.time() * 1000))}))
    began = time.monotonic()
    done = subprocess.run(
        command(client, bootstrap, str(path)), stdout=subprocess.PIPE, timeout=CLIENT_SECONDS, check=True
    )
    version = done.stdout.decode().split()[-1]
    sys.stdout.write(f"{client} {version}: {time.monotonic() - began:.1f} s\n")
    sys.stdout.flush()
    return version
