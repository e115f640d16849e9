"""Compressed regions whole, by the libraries' own speed, where they are as Kafka's writers make them.

kafka.md §3. Each function takes the plainest shape of its codec and answers None for every other one,
which then goes through the reference's own frame reader (`wireproof.wire.compress`): it says whether the
region is sound, and what it leaves open.
"""

from wireproof.wire.compress import decompress_prefix
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejected import Rejected


def inflate(region: bytes, codec: int, most: int, *, kip57: bool = False) -> bytes | None:
    """What `region` unpacks to, `most` bytes at most; None if it is unsound, open to readings, or larger.

    Args:
        region: the bytes under the attributes' codec, all of them.
        codec: 1 to 4.
        most: bytes that may come out.
        kip57: the region is the value of a v0 message (§2.3).
    """
    reader = Reader(region, budget=Budget(most))
    try:
        inner, torn = decompress_prefix(reader, "records", codec, kip57=kip57)
    except Rejected:
        return None
    return None if torn is not None or reader.remarks else inner.data
