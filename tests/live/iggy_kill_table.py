"""The case that kills each faulty server of Iggy: the right server passes it."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

SEND: Final = "iggy.send/0.7"
POLLING: Final = "iggy.poll/0.7/polling"


@frozen
class Kill:
    """A case, and its verdict on the faulty server."""

    case: str
    verdict: str


KILLED_BY: Final[Mapping[str, Kill]] = {
    "always-commits": Kill(f"{POLLING}/next-nothing-stored", "fail"),
    "begins-after-offset": Kill(f"{POLLING}/offset", "fail"),
    "begins-after-timestamp": Kill(f"{POLLING}/timestamp", "fail"),
    "begins-before-timestamp": Kill(f"{POLLING}/timestamp-between", "fail"),
    "commits-following": Kill(f"{POLLING}/auto-commit-stores", "fail"),
    "commits-newest": Kill(f"{POLLING}/auto-commit-by-offset", "fail"),
    "commits-nothing-as-0": Kill(f"{POLLING}/auto-commit-nothing", "fail"),
    "deletes-all-offsets": Kill(f"{POLLING}/delete-of-others", "fail"),
    "deletes-no-offset": Kill(f"{POLLING}/delete-nothing", "fail"),
    "first-for-last": Kill(f"{POLLING}/last", "fail"),
    "group-has-no-offset": Kill(f"{POLLING}/group-stored", "fail"),
    "group-is-consumer": Kill(f"{POLLING}/group-and-consumer", "fail"),
    "ignores-count": Kill(f"{POLLING}/count", "fail"),
    "ignores-names": Kill(f"{POLLING}/consumers-by-name", "fail"),
    "keeps-newest": Kill(f"{POLLING}/after-more", "fail"),
    "last-reversed": Kill(f"{POLLING}/last-several", "fail"),
    "never-commits": Kill(f"{POLLING}/auto-commit", "fail"),
    "never-goes-back": Kill(f"{POLLING}/auto-commit-back", "fail"),
    "one-offset-for-all": Kill(f"{POLLING}/consumers", "fail"),
    "repeats-stored": Kill(f"{POLLING}/next", "fail"),
    "short-consumer-numbers": Kill(f"{POLLING}/consumer-largest", "fail"),
    "stored-0-is-none": Kill(f"{POLLING}/next-of-0", "fail"),
    "uses-value-of-first": Kill(f"{POLLING}/first", "fail"),
    "accepts-refused": Kill(f"{SEND}/index/last-one-more", "lenient"),
    "dies-of-cut-packet": Kill(f"{SEND}/torn/payload-missing", "crash"),
    "drops-headers": Kill(f"{SEND}/headers/each", "fail"),
    "leaves-gap": Kill(f"{SEND}/messages/one", "fail"),
    "loses-earlier": Kill(f"{SEND}/messages/two", "fail"),
    "out-of-step": Kill(f"{SEND}/torn/one-byte-more", "undocumented"),
    "overwrites-origin-timestamp": Kill(f"{SEND}/messages/origin-timestamp", "fail"),
    "refuses-large-sends": Kill(f"{SEND}/limits/headers-100000", "fail"),
    "reorders-messages": Kill(f"{SEND}/index/three", "fail"),
    "shortens-ids": Kill(f"{SEND}/messages/id-max", "fail"),
    "stores-nothing": Kill(f"{SEND}/messages/id-bytes", "fail"),
    "stores-other-payload": Kill(f"{SEND}/text/payloads", "fail"),
    "stores-refused": Kill(f"{SEND}/index/zero", "fail"),
    "waits-for-more": Kill(f"{SEND}/torn/in-the-index", "stalled"),
    "wrong-checksum": Kill(f"{SEND}/place/messages-key", "fail"),
}
