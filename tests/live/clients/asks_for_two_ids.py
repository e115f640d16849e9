"""A producer that asks for a producer id twice: `python -m tests.live.clients.asks_for_two_ids produce …`."""

import sys

from kafka.protocol.producer import InitProducerIdRequest

from tests.live.clients.plain_producer import INIT_VERSION, NOBODY, TIMEOUT_MS, PlainProducer


class AsksForTwoIds(PlainProducer):
    """Asks for an id without a transactional id first, and uses the second one."""

    def identify(self) -> tuple[int, int]:
        if self.transactional_id is not None:
            self.client.send(
                InitProducerIdRequest[INIT_VERSION](
                    transactional_id=None,
                    transaction_timeout_ms=TIMEOUT_MS,
                    producer_id=NOBODY[0],
                    producer_epoch=NOBODY[1],
                )
            )
        return super().identify()


if __name__ == "__main__":
    AsksForTwoIds(*sys.argv[2:]).run()
