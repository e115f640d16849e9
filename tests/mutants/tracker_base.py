"""The base classes of the mutants that repeat bugs of public issue trackers.

Each was written from its tracker thread and the reference codec alone, before anyone looked which case
catches it. So they measure how well the suite catches real bugs that its authors did not look at.
"""

from typing import ClassVar

from tests.mutants.kafka_helpers import KafkaMutant
from tests.mutants.patched import Patched


class FromTracker(Patched):
    """A mutant that repeats a bug of a tracker; in itself no mutant.

    Attributes:
        link: the thread of the tracker.
    """

    link: ClassVar[str] = ""


class KafkaFromTracker(FromTracker, KafkaMutant):
    """The same of a Kafka codec, with the hooks for single entries."""


class IggyFromTracker(FromTracker):
    """The same of an Iggy codec."""

    system = "iggy"


class HekaFromTracker(FromTracker):
    """The same of a Heka codec."""

    system = "heka"
