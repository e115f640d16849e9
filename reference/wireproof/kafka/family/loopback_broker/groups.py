"""Groups of consumers with one member each: the client that is judged. After Kafka's GroupCoordinator."""

from typing import Final

from attrs import Factory, define

MOST: Final = 1000
"""Groups that are remembered; the oldest is forgotten for a new one."""


@define
class Group:
    """A group: how often somebody joined, the member, and the offsets that it committed."""

    generation: int = 0
    member: str = ""
    committed: dict[tuple[str, int], int] = Factory(dict)


@define
class Groups:
    """The groups of a cluster by name."""

    _groups: dict[str, Group] = Factory(dict)

    def of(self, name: str) -> Group:
        """Return a group, which is new if nobody has asked for it."""
        if name not in self._groups and len(self._groups) >= MOST:
            del self._groups[next(iter(self._groups))]
        return self._groups.setdefault(name, Group())

    def join(self, name: str, member: str) -> Group:
        """Make a member the only one of its group, and give it a name if it has none."""
        group = self.of(name)
        group.generation += 1
        group.member = member or f"member-{group.generation}"
        return group
