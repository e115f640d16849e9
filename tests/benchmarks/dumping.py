"""Kafka's own look at segments, `DumpLogSegments`: fetched with Maven once, into the user's cache."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from wireproof.files import cache_folder

POM = Path(__file__).with_name("kafka-tools") / "pom.xml"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
TOOL = "org.apache.kafka.tools.DumpLogSegments"
VERSION = "4.3.0"
"""As the pom has it."""


def jars() -> Path:
    """The folder that holds the tool and all it needs."""
    folder = cache_folder() / f"kafka-tools-{VERSION}"
    ready = folder / ".ready"
    if not ready.exists():
        command = ["mvn", "-q", "-B", "-f", str(POM), COPY, f"-DoutputDirectory={folder}"]
        subprocess.run(command, check=True)
        ready.touch()
    return folder


def dump(segments: Sequence[Path]) -> None:
    """Every record of the segments, printed to nowhere; raises `CalledProcessError` if the tool fails."""
    files = ",".join(map(str, segments))
    command = ["java", "-cp", f"{jars()}/*", TOOL, "--deep-iteration", "--files", files]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def records(segment: Path) -> int:
    """How many records it prints of a segment: what shows that it read all of it."""
    command = ["java", "-cp", f"{jars()}/*", TOOL, "--deep-iteration", "--files", str(segment)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return sum(line.startswith(b"| offset: ") for line in done.stdout.splitlines())
