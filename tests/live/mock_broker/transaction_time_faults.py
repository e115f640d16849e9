"""Faults where transactions and append time meet."""

from attrs import evolve

from wireproof.kafka.attribute_bits import LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.live.loopback_broker import append_rules
from wireproof.live.loopback_broker.append_rules import Arrival, Form
from wireproof.live.loopback_broker.partition import ServedPartition


class TransactionsKeepTimes(ServedPartition):
    """Leaves the times of a producer in batches of transactions, also with append time."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Keep times and type."""
        form, batch = super().form(arrival, now), arrival.batch
        if not batch.attributes & TRANSACTIONAL:
            return form
        header = evolve(
            form.header,
            attributes=form.header.attributes & ~LOG_APPEND_TIME,
            max_timestamp=batch.max_timestamp,
        )
        return evolve(form, header=header)


class AppendTimeClearsTransaction(ServedPartition):
    """Loses the bit of a transaction when it writes the append time."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Clear the bit."""
        form = super().form(arrival, now)
        if not form.header.attributes & LOG_APPEND_TIME:
            return form
        return evolve(form, header=evolve(form.header, attributes=form.header.attributes & ~TRANSACTIONAL))


class MarkersKeepTimes(ServedPartition):
    """Writes markers with create time into a topic with append time."""

    def marker(self, producer: int, epoch: int, *, commit: bool, now: int) -> Form:
        """Keep the type."""
        return append_rules.marker(producer, epoch, commit=commit, offset=self.end, now=now)
