"""An in-toto statement about a file of runs: its digest, the head of each chain, and the result.

Statement layer: https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
Predicate: https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md

The subject is the file, by its SHA-256, which tools for signatures look up. `configuration` has an entry for
each run: its digest is the head of the chain, which does not depend on times. The statement has no signature;
whoever publishes it signs it, for example with cosign or with the attestations of a forge.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from wireproof.files import read_limited_text
from wireproof.runner.conclusion import conclusion_sentence, exit_code
from wireproof.runner.event_files import EventStream
from wireproof.runner.exit_codes import Exit
from wireproof.runner.verdicts import PASSING
from wireproof.runner.verify_run import chain_digest
from wireproof.safe_parsing import parse_json

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://in-toto.io/attestation/test-result/v0.1"

CHAIN: Final = "wireproofChain"
"""The name of the algorithm of the head of a chain: architecture.md#events."""

FIXTURES: Final = "wireproofFixtures"
"""The name of the algorithm of the digest of all fixture files."""

MAX_SIZE: Final = 16 << 20
"""Maximum bytes of a statement; it names every case that failed."""

_NO_FINDING: Final = (*PASSING, "unsupported", "not-run")


class StatementError(ValueError):
    """A file is no statement of this kind; the message is one line."""


def statement(path: Path, streams: Sequence[EventStream]) -> dict[str, Any]:
    """Return the statement about a file of runs; raises OSError."""
    passed = all(exit_code(stream) == Exit.CONFORMS for stream in streams)
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": path.name, "digest": {"sha256": _file_digest(path)}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": "PASSED" if passed else "FAILED",
            "configuration": [*_suite(streams), *map(_run, streams)],
            "failedTests": [name for stream in streams for name in _failed(stream)],
        },
    }


def statement_text(tree: Mapping[str, Any]) -> str:
    """Return the text of a statement."""
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def _file_digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _suite(streams: Sequence[EventStream]) -> Iterator[dict[str, Any]]:
    """Yield an entry for each suite that the runs used."""
    for version, fixtures in sorted({(stream.run.suite, stream.run.fixtures) for stream in streams}):
        yield {"name": f"wireproof {version}", "digest": {FIXTURES: fixtures}}


def _run(stream: EventStream) -> dict[str, Any]:
    run = stream.run
    facts = {
        "level": run.level,
        "seed": str(run.seed),
        "requirements": run.requirements.id if run.requirements else "",
        "filters": " ".join(run.filters),
        "shard": run.shard,
        "conclusion": conclusion_sentence(stream),
    }
    name = f"{run.adapter} {run.version}".strip()
    annotations = {key: text for key, text in facts.items() if text}
    return {"name": name, "digest": {CHAIN: chain_digest(stream)}, "annotations": annotations}


def _failed(stream: EventStream) -> Iterator[str]:
    for event in stream.cases:
        if event.verdict not in _NO_FINDING:
            yield f"{stream.run.adapter}: {event.id}"


# --- reading ---


def read_statement(path: Path) -> Mapping[str, Any]:
    """Return the statement in a file; raises `StatementError` or OSError."""
    try:
        tree: Mapping[str, Any] = parse_json(read_limited_text(path, MAX_SIZE))
    except ValueError as error:
        raise StatementError(f"{path}: {error}") from None
    kinds = {"_type": STATEMENT_TYPE, "predicateType": PREDICATE_TYPE}
    for key, wanted in kinds.items():
        if not isinstance(tree, dict) or tree.get(key) != wanted:
            raise StatementError(f"{path}: no in-toto statement about a run: {key} must be {wanted}")
    return tree


def contradictions(said: Mapping[str, Any], path: Path, streams: Sequence[EventStream]) -> Iterator[str]:
    """Yield a line for each part of a statement that is not true of a file of runs."""
    true = statement(path, streams)
    for name, part in _PARTS.items():
        want, found = _part(part, said), part(true)
        if want != found:
            yield f"the statement has {name} {_shown(want)}, the run has {_shown(found)}"


def _part(part: Callable[[Any], object], tree: Mapping[str, Any]) -> object:
    try:
        return part(tree)
    except (KeyError, IndexError, TypeError, AttributeError):
        return None


def _shown(part: object) -> str:
    text = json.dumps(part, ensure_ascii=False)
    return text if len(text) <= 100 else text[:99] + "…"


_PARTS: Final[Mapping[str, Callable[[Any], object]]] = {
    "the digest": lambda tree: [one["digest"]["sha256"] for one in tree["subject"]],
    "the heads": lambda tree: [one["digest"] for one in tree["predicate"]["configuration"]],
    "the runs": lambda tree: [
        [one["name"], one.get("annotations")] for one in tree["predicate"]["configuration"]
    ],
    "the result": lambda tree: tree["predicate"]["result"],
    "the failures": lambda tree: tree["predicate"]["failedTests"],
}
"""The parts of a statement that are compared; the name of the file may be another one."""
