"""A client that asks again for damage, for more and more, before it reports it: `COUNT FACTOR consume …`.

librdkafka asks eleven times, each time for twice as much.
"""

import sys

from tests.live.clients.plain_client import PlainConsumer
from wireproof.wire.rejection import Rejected


class LateError(PlainConsumer):
    """Reports damage at its Fetch number `count`; each Fetch before it asks for `factor` times as much."""

    count, factor, limit = 1, 1, 1

    def refuse(self, data: bytes, rejected: Rejected) -> None:
        self.count -= 1
        self.limit *= self.factor
        if self.count <= 0:
            super().refuse(data, rejected)


if __name__ == "__main__":
    LateError.count, LateError.factor = map(int, sys.argv[1:3])
    LateError(*sys.argv[4:]).run()
