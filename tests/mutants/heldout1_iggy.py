"""Iggy mutants of the first held-out sample, chosen from the specification alone.

They were written and counted before anyone looked which case would catch them. So they measure the suite
where nobody had tuned it. Cases that were missing were written afterwards.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Final

from tests.mutants.base import ReferenceCodec, given_up, walk
from tests.mutants.iggy_helpers import IggyMutant, messages_of
from tests.mutants.patched import Patched
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.formats import Format
from wireproof.iggy import headers, json_common, json_send, limits, send
from wireproof.iggy.header_kinds import is_utf8
from wireproof.iggy.headers import TlvRules
from wireproof.iggy.limits import RevisionLimits
from wireproof.iggy.message import SentMessage
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.scan_items import Item
from wireproof.wire.writer import Writer


class PatchedIggy(Patched):
    """An Iggy codec with other parts; in itself no mutant."""

    system = "iggy"


# --- limits: iggy.md, sections 3.1 and 9 ---


def _each_read(
    reader: Reader, messages: Sequence[SentMessage], start: int, rows: RevisionLimits, tlv: TlvRules
) -> None:
    for one in [messages[at : at + 1] for at in range(len(messages))] or [messages]:
        limits.check_read(reader, one, start, rows, tlv)


def _each_written(
    writer: Writer, messages: Sequence[SentMessage], rows: RevisionLimits, tlv: TlvRules
) -> None:
    for one in [messages[at : at + 1] for at in range(len(messages))] or [messages]:
        limits.check_written(writer, one, rows, tlv)


class LimitPerMessage(PatchedIggy):
    """Holds each message of a send to the limits, and not all of them together, as 0.7.0 came to do."""

    name = "iggy-limit-per-message"
    patches = tuple(
        (module, name, part)
        for module in (send, json_send)
        for name, part in (("check_read", _each_read), ("check_written", _each_written))
    )


class Length255Refused(PatchedIggy):
    """Refuses keys and values of 255 bytes, the longest there are."""

    name = "iggy-length-255-refused"
    patches = tuple((module, "SIZES", range(1, 255)) for module in (headers, json_common))


# --- numbers and texts: iggy.md, sections 2.2, 3.3 and 8 ---


class SignedReader(Reader):
    """Reads 64 bits with a sign, as a language without unsigned numbers does."""

    __slots__ = ()

    def uint64le(self, name: str) -> int:
        """Eight bytes."""
        return int.from_bytes(self.take(name, 8), "little", signed=True)


class SixtyFourSigned(IggyMutant):
    """Reads offsets and timestamps with a sign."""

    name = "iggy-u64-signed"
    reader = SignedReader


PAIR: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
"""A character above U+FFFF, escaped as JSON escapes it."""


class SurrogatesApart(IggyMutant):
    """Takes the two halves of an escaped character of JSON for two, neither of which is any."""

    name = "iggy-json-surrogates-apart"

    def patch_input(self, data: bytes, request: Request) -> bytes:
        """Two U+FFFD are as long."""
        return PAIR.sub(rb"\\ufffd\\ufffd", data) if request.format.startswith("iggy.json") else data


class PartitioningKeyAsText(IggyMutant):
    """Refuses a messages key that is no UTF-8, though it is but bytes."""

    name = "iggy-partitioning-key-as-text"

    def patch_answer(self, outcome: Accepted, request: Request) -> Outcome:
        """Look for the key in any partitioning."""
        del request
        keys = [part["value"] for part in walk(outcome.value) if part.get("kind") == "messages_key"]
        if all(is_utf8(bytes.fromhex(key)) for key in keys):
            return outcome
        return Refused("bad-utf8")


# --- streams and writers: iggy.md, sections 3.3 and 7 ---


class ScanStopsAtGarbage(IggyMutant):
    """Gives up a segment file at its first damaged record."""

    name = "iggy-scan-stops-at-garbage"

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        """Replace everything from the first damaged record on by garbage."""
        return given_up(list(super().items(row, chunks, options)))


class WritesStateAvailable(IggyMutant):
    """Writes every message as an available one."""

    name = "iggy-writes-state-available"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Change the states of a copy: the value given is the caller's."""
        del request
        copy = deepcopy(value)
        for message in messages_of(copy):
            if "state" in message:
                message["state"] = "available"
        return copy


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        LimitPerMessage,
        Length255Refused,
        SixtyFourSigned,
        SurrogatesApart,
        PartitioningKeyAsText,
        ScanStopsAtGarbage,
        WritesStateAvailable,
    )
}
"""Name to class."""
