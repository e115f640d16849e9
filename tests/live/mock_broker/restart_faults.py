"""Faults in what a broker knows after it was started again. Each class overrides that step of a partition."""

from wireproof.live.loopback_broker.coordinator import Coordinator
from wireproof.live.loopback_broker.partition import ServedPartition


class RestartingPartition(ServedPartition):
    """A partition that knows everything after a restart."""

    def restarted(self) -> None:
        """Change what the restart changes: nothing."""


class RestartLosesLastBatch(RestartingPartition):
    """Loses the last batch, which was not on the disk yet."""

    def restarted(self) -> None:
        """Cut it off."""
        if self.stored:
            self.end = self.stored.pop().base_offset


class RestartForgetsTimes(RestartingPartition):
    """Finds no record by its time any more."""

    def restarted(self) -> None:
        """Forget the greatest time of each batch."""
        self.first_after = lambda _: None  # type: ignore[method-assign] # of this partition


class RestartRestoresDeleted(RestartingPartition):
    """Begins at the first record in its file again."""

    def restarted(self) -> None:
        """Begin at 0."""
        self.start = 0


class RestartForgetsProducers(RestartingPartition):
    """Knows no producer any more."""

    def restarted(self) -> None:
        """Forget them."""
        self._producers.clear()


class RestartForgetsEpochs(RestartingPartition):
    """Knows no epoch of a producer any more."""

    def restarted(self) -> None:
        """Begin with the first epoch."""
        for known in self._producers.values():
            known.epoch = 0


class RestartForgetsOpenTransactions(RestartingPartition):
    """Knows no open transaction any more."""

    def restarted(self) -> None:
        """Forget them."""
        self.open.clear()


class RestartForgetsAborted(RestartingPartition):
    """Names no transaction that was aborted before."""

    def restarted(self) -> None:
        """Forget them."""
        self.aborted.clear()


class ForgetfulCoordinator(Coordinator):
    """Knows no transactional id after a restart."""

    def restarted(self) -> None:
        """Forget them all."""
        self._ids.clear()


class RestartForgetsTransactionalIds(RestartingPartition):
    """A broker whose coordinator knows no transactional id after a restart."""

    coordinator_class = ForgetfulCoordinator
