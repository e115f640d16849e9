"""Faults in what a broker forgets. Each class overrides one step of a partition, or of the coordinator."""

from tests.live.mock_broker.expiry import ForgettingCoordinator, ForgettingPartition


class ForgetsNoProducer(ForgettingPartition):
    """Knows every producer for ever."""

    def forget_idle(self, now: int, age: int) -> None:
        """Forget none."""


class ForgetsAtOnce(ForgettingPartition):
    """Forgets every producer whenever it looks, however young it is."""

    def forget_idle(self, now: int, _: int) -> None:
        """Take any age for old."""
        super().forget_idle(now, 0)


class ForgetsOpenTransaction(ForgettingPartition):
    """Forgets an idle producer also while a transaction of it is open."""

    def forget_idle(self, now: int, age: int) -> None:
        """Look at the age alone."""
        kept, self.open = self.open, {}
        super().forget_idle(now, age)
        self.open = kept


class KeepingCoordinator(ForgettingCoordinator):
    """Knows every transactional id for ever."""

    def forget_idle(self, now: int, age: int) -> None:
        """Forget none."""


class ForgetfulCoordinator(ForgettingCoordinator):
    """Forgets a transactional id also while its transaction is open."""

    def forget_idle(self, now: int, age: int) -> None:
        """Look at the age alone."""
        self._ids = {name: one for name, one in self._ids.items() if now - one.changed < age}


class ForgetsNoTransactionalId(ForgettingPartition):
    """A broker whose coordinator knows every transactional id for ever."""

    coordinator_class = KeepingCoordinator


class ForgetsOpenTransactionalId(ForgettingPartition):
    """A broker whose coordinator forgets a transactional id while its transaction is open."""

    coordinator_class = ForgetfulCoordinator
