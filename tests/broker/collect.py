"""Log segments of a real broker, produced by six clients: `python tests/broker/collect.py --out DIR`.

Each client has three topics (`plan.TOPICS`). The broker is stopped once its cleaner has been through
the compacted ones, and what lies on disk is taken: `<topic>/<base offset>.log` with its `.index`,
`.timeindex` and `.txnindex`, and `manifest.json`. `--client NAME` (repeatable) takes only some of them.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ground
import plan
from kafka.admin import KafkaAdminClient, NewTopic

HERE = Path(__file__).parent
CLEAN_SECONDS = 900
CLIENT_SECONDS = 1800
KEPT = (".log", ".index", ".timeindex", ".txnindex")


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


def collect(out: Path, clients: Sequence[str]) -> None:
    """Fill `out`; raises `CalledProcessError` where a client fails."""
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="broker-") as name:
        folder = Path(name)
        with ground.running(folder) as bootstrap:
            _topics(bootstrap, clients)
            with ThreadPoolExecutor() as pool:
                told = pool.map(lambda client: produced(client, bootstrap, folder), clients)
                versions = dict(zip(clients, told, strict=True))
            _await_cleaner(folder / "logs", clients)
        manifest = {"broker": "4.4.0", "clients": versions, "segments": _taken(folder / "logs", out, clients)}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def _topics(bootstrap: str, clients: Sequence[str]) -> None:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics(
        [
            NewTopic(f"{client}-{name}", 1, 1, topic_configs=settings)
            for client in clients
            for name, settings in plan.TOPICS.items()
        ]
    )
    admin.close()


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


def _await_cleaner(logs: Path, clients: Sequence[str]) -> None:
    """Wait until each compacted topic is clean up to its newest segment, of which the cleaner keeps off."""
    checkpoint = logs / "cleaner-offset-checkpoint"
    deadline = time.monotonic() + CLEAN_SECONDS
    while time.monotonic() < deadline:
        lines = checkpoint.read_text().splitlines() if checkpoint.exists() else []
        clean = {line.split()[0]: int(line.split()[2]) for line in lines if line.count(" ") == 2}
        if all(clean.get(f"{client}-compacted", -1) >= _newest(logs, client) for client in clients):
            return
        time.sleep(0.3)
    raise RuntimeError(f"the cleaner did not come through in {CLEAN_SECONDS} s")


def _newest(logs: Path, client: str) -> int:
    return max(int(log.stem) for log in (logs / f"{client}-compacted-0").glob("*.log"))


def _taken(logs: Path, out: Path, clients: Sequence[str]) -> list[dict[str, Any]]:
    taken = []
    for client in clients:
        for topic in plan.TOPICS:
            kept = out / f"{client}-{topic}"
            kept.mkdir(exist_ok=True)
            for log in sorted((logs / f"{client}-{topic}-0").glob("*.log")):
                for suffix in KEPT:
                    if (companion := log.with_suffix(suffix)).exists():
                        shutil.copy(companion, kept)
                name, size = f"{kept.name}/{log.name}", log.stat().st_size
                taken.append({"name": name, "client": client, "topic": topic, "bytes": size})
    return taken


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--client", action="append", choices=CLIENTS)
    arguments = parser.parse_args()
    collect(arguments.out, arguments.client or CLIENTS)


if __name__ == "__main__":
    main()
