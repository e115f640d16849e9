"""Iggy codecs that leave out one check of the reference: what it would refuse is answered.

Each row of `SWALLOWED` names the check by the class of its refusal, and by where it stands.
"""

import re
from typing import ClassVar, Final

from attrs import frozen

from tests.mutants.iggy.helpers import IggyMutant
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, refused_outcome
from wireproof.wire.rejection import Rejected


@frozen
class Check:
    """A row: the mutant's name and fault, and which refusals it does not make.

    Attributes:
        classes: of the refusal; empty takes all.
        formats: a pattern of the format's name.
        path: a pattern of the field.
        op: decode or encode.
        spared: the specification's name of refusals that it does make.
        killed_by: golden cases, each of which kills it.
    """

    name: str
    fault: str
    classes: tuple[str, ...] = ()
    formats: str = ""
    path: str = ""
    op: str = "decode"
    spared: str = ""
    killed_by: tuple[str, ...] = ()

    def leaves_out(self, rejected: Rejected, request: Request) -> bool:
        """Return True if this mutant omits the refusal."""
        return (
            request.op == self.op
            and (not self.classes or rejected.cls in self.classes)
            and re.search(self.formats, request.format) is not None
            and re.search(self.path, rejected.path) is not None
            and not (self.spared and rejected.detail == self.spared)
        )


BINARY: Final = r"^iggy\.(?!json)"
JSON: Final = r"^iggy\.json"
CUT: Final = ("truncated", "length-past-end")

SWALLOWED: Final[tuple[Check, ...]] = (
    Check(
        "iggy-identifier-unchecked",
        "Takes identifiers of any kind, length, text and number.",
        ("bad-kind", "bad-length", "bad-utf8", "invalid-value"),
        path=r"^(stream|topic)\.|^(kind|length|value)$",
        formats=r"^iggy\.(identifier|send)$",
        killed_by=("iggy.identifier/0.0.30/identifier/zero",),
    ),
    Check(
        "iggy-partitioning-unchecked",
        "Takes partitionings of any kind and length.",
        ("bad-kind", "bad-length"),
        path=r"^partitioning\.|^(kind|length)$",
        formats=r"^iggy\.(partitioning|send|json\.send)$",
        killed_by=("iggy.partitioning/0.0.30/partitioning/partition-id-3-bytes",),
    ),
    Check(
        "iggy-cut-accepted",
        "Takes whatever is cut short as if it were whole.",
        CUT,
        BINARY,
        killed_by=("iggy.send/0.0.30/torn/one-byte-more",),
    ),
    Check(
        "iggy-trailing-accepted",
        "Ignores what is left over behind a poll.",
        ("trailing-data",),
        BINARY,
        killed_by=("iggy.poll/0.0.30/torn/one-byte-more",),
    ),
    Check(
        "iggy-state-unchecked",
        "Takes states that do not exist.",
        ("bad-kind", "type-mismatch"),
        path="state$",
        killed_by=("iggy.poll/0.0.40/state/code-2",),
    ),
    Check(
        "iggy-send-of-none",
        "Takes a send without messages.",
        ("count-mismatch",),
        "send$",
        killed_by=("iggy.send/0.0.30/messages/none",),
    ),
    Check(
        "iggy-bad-headers-skipped",
        "Skips a header block of a message that it cannot read.",
        ("bad-kind", "bad-length", "bad-utf8", "length-past-end"),
        r"^iggy\.(send|poll|log)$",
        r"\.headers\[",
        killed_by=("iggy.poll/0.0.30/headers/kind-0",),
    ),
    Check(
        "iggy-json-text-lax",
        "Reads text that is no JSON.",
        ("bad-json", "bad-utf8", "trailing-data"),
        JSON,
        spared="base64",
        killed_by=("iggy.json.send/0.0.30/text/nan",),
    ),
    Check(
        "iggy-json-types-coerced",
        "Makes of a JSON value what its field wants.",
        ("type-mismatch",),
        JSON,
        killed_by=("iggy.json.poll/0.0.30/messages/offset-text",),
    ),
    Check(
        "iggy-json-wide-numbers",
        "Cuts numbers to the width of their field.",
        ("invalid-value",),
        JSON,
        killed_by=("iggy.json.send/0.0.30/id/2-128",),
    ),
    Check(
        "iggy-json-fields-defaulted",
        "Puts a default in the place of a missing field.",
        ("missing-field",),
        JSON,
        killed_by=("iggy.json.poll/0.0.30/messages/offset-missing",),
    ),
    Check(
        "iggy-json-kinds-unchecked",
        "Takes kinds and states that do not exist.",
        ("bad-kind",),
        JSON,
        killed_by=("iggy.json.send/0.0.30/headers/kind-str",),
    ),
    Check(
        "iggy-json-base64-skipped",
        "Takes a text that is no base64 as it stands.",
        ("bad-json",),
        JSON,
        "payload$",
        killed_by=("iggy.json.send/0.0.30/base64/no-base64",),
    ),
    Check(
        "iggy-writes-unchecked",
        "Writes what no reader takes.",
        op="encode",
        killed_by=("iggy.headers/0.0.30/encode/key-empty",),
    ),
    Check(
        "iggy-index-unchecked",
        "Believes its own lengths and not the index of a send.",
        ("length-mismatch",),
        r"^iggy\.send$",
        r"^index",
        killed_by=("iggy.send/0.7/index/last-one-more",),
    ),
    Check(
        "iggy-index-set",
        "Takes offsets and timestamps in an index.",
        ("reserved-nonzero",),
        r"^iggy\.send$",
        r"^index",
        killed_by=("iggy.send/0.8/index/offset-1",),
    ),
    Check(
        "iggy-metadata-length-unchecked",
        "Steps over the length of the metadata.",
        ("length-mismatch",),
        r"^iggy\.send$",
        "^metadata_length",
        killed_by=("iggy.send/0.9/metadata/length-one-less",),
    ),
    Check(
        "iggy-key-kind-unchecked",
        "Takes kinds of keys that do not exist, as the wire validator of 0.10.0 does.",
        ("bad-kind",),
        r"^iggy\.headers$",
        "key_kind$",
        killed_by=("iggy.headers/0.10/kinds/key-kind-0",),
    ),
    Check(
        "iggy-size-unchecked",
        "Takes numbers of the wrong size, as Java does.",
        ("bad-length",),
        r"^iggy\.headers$",
        "val_len$",
        killed_by=("iggy.headers/0.10/bounds/value-256",),
    ),
    Check(
        "iggy-batch-checksum-unchecked",
        "Does not compare the checksum of a batch.",
        ("crc-mismatch",),
        BINARY,
        "batch_checksum$",
        killed_by=("iggy.send/0.11/checksum/batch",),
    ),
    Check(
        "iggy-batch-count-unchecked",
        "Does not hold the count of a batch against its frames.",
        ("count-mismatch",),
        BINARY,
        "message_count$",
        killed_by=("iggy.send/0.11/count/batch-1",),
    ),
    Check(
        "iggy-frame-size-unchecked",
        "Takes a frame that is shorter than its own header.",
        ("bad-length",),
        r"^iggy\.frame$",
        killed_by=("iggy.frame/0.11/frame/size-255",),
    ),
    Check(
        "iggy-frame-unbounded",
        "Takes frames of any size.",
        ("limit-exceeded",),
        r"^iggy\.frame$",
        killed_by=("iggy.frame/0.11/frame/size-67108865",),
    ),
    Check(
        "iggy-frame-any-operation",
        "Takes frames of any operation.",
        ("bad-kind",),
        r"^iggy\.frame$",
        r"operation$",
        killed_by=("iggy.frame/0.11/frame/operation-255",),
    ),
    Check(
        "iggy-eviction-any-reason",
        "Takes evictions for any reason.",
        ("bad-kind",),
        r"^iggy\.frame$",
        r"reason$",
        killed_by=("iggy.frame/0.11/frame/eviction-reason-16",),
    ),
    Check(
        "iggy-strategy-unchecked",
        "Takes strategies and consumers of any kind.",
        ("bad-kind",),
        r"^iggy\.poll-request$",
        r"^(strategy|consumer)\.kind$",
        killed_by=("iggy.poll-request/0.8/request/strategy-kind-6",),
    ),
    Check(
        "iggy-poll-of-none",
        "Takes a request of no messages.",
        ("invalid-value",),
        r"^iggy\.poll-request$",
        killed_by=("iggy.poll-request/0.0.30/request/count-0",),
    ),
    Check(
        "iggy-wait-unlimited",
        "Takes a request that waits with any numbers.",
        ("invalid-value", "limit-exceeded"),
        r"^iggy\.(deferred-poll|fetch)-request$",
        killed_by=("iggy.fetch-request/0.11.1-edge/request/partition-twice",),
    ),
    Check(
        "iggy-fetch-error-with-records",
        "Takes records in a section of an error.",
        ("invalid-value",),
        r"^iggy\.fetch$",
        r"records_len$",
        killed_by=("iggy.fetch/0.11.1-edge/reply/failed-with-batches",),
    ),
    Check(
        "iggy-fetch-sections-unlimited",
        "Reads as many sections as the reply counts.",
        ("limit-exceeded",),
        r"^iggy\.fetch$",
        killed_by=("iggy.fetch/0.11.1-edge/reply/1001-sections",),
    ),
    Check(
        "iggy-retained-length-unchecked",
        "Believes no length of a message in a batch of 0.2.7.",
        ("length-past-end",),
        r"^iggy\.log$",
        killed_by=("iggy.log/0.2.7/records/length-40",),
    ),
    Check(
        "iggy-json-object-accepted",
        "Takes the headers of an older revision for none, as Rust 0.11.0 does in a poll.",
        ("type-mismatch",),
        r"^iggy\.json\.poll$",
        r"headers$",
        killed_by=("iggy.json.poll/0.10/headers/object",),
    ),
    Check(
        "iggy-json-id-zeroed",
        "Takes an id of more than 64 bits for 0.",
        ("invalid-value",),
        r"^iggy\.json\.send$",
        r"id$",
        killed_by=("iggy.json.send/0.8/id/65-bits",),
    ),
    Check(
        "iggy-json-count-unchecked",
        "Takes any count of a poll, as the serde type of the pre-release does without its client.",
        ("count-mismatch",),
        r"^iggy\.json\.poll$",
        r"^count$",
        killed_by=("iggy.json.poll/0.11.1-edge/messages/count-0",),
    ),
    Check(
        "iggy-json-context-defaulted",
        "Reads the poll of a release, which has no context.",
        ("missing-field",),
        r"^iggy\.json\.poll$",
        r"^context$",
        killed_by=("iggy.json.poll/0.11.1-edge/editions/0-11",),
    ),
)


class Swallows(IggyMutant):
    """Leaves out the check of its row."""

    missing_rule = True
    check: ClassVar[Check]

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        outcome = refused_outcome(rejected)
        if not self.check.leaves_out(rejected, request):
            return outcome
        return Accepted(data=b"") if request.op == "encode" else Accepted(outcome.before, len(request.data))


def _made(check: Check) -> type[Swallows]:
    parts = {"name": check.name, "check": check, "killed_by": check.killed_by, "__doc__": check.fault}
    return type(check.name, (Swallows,), {**parts, "__qualname__": f"CHECKS[{check.name}]"})


CHECKS: Final = {check.name: _made(check) for check in SWALLOWED}
"""A mutant for each row."""
