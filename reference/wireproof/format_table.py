"""The table of formats, whose families are loaded when one of their formats is asked for."""

from collections.abc import Iterator, Mapping, MutableMapping

from wireproof.family import Family, Format


class FormatTable(MutableMapping[str, Format]):
    """The formats of families by their id, in the order of the families."""

    def __init__(self, families: Mapping[str, Family]) -> None:
        """Begin with families, of which none is loaded yet."""
        self._families = families
        self._rows: dict[str, dict[str, Format]] = {}
        self._changed: dict[str, Format] = {}

    def __getitem__(self, format_id: str) -> Format:
        """Return a format."""
        if (row := self._changed.get(format_id)) is not None:
            return row
        try:
            return self._of(format_id.partition(".")[0])[format_id]
        except KeyError:
            raise KeyError(format_id) from None

    def __setitem__(self, format_id: str, row: Format) -> None:
        """Add or replace a format."""
        self._changed[format_id] = row

    def __delitem__(self, format_id: str) -> None:
        """Remove a format that was added."""
        del self._changed[format_id]

    def __iter__(self) -> Iterator[str]:
        """Yield the ids; a family is loaded when its turn comes."""
        for name in self._families:
            yield from self._of(name)
        yield from [added for added in self._changed if added not in self._of(added.partition(".")[0])]

    def by_family(self) -> Iterator[list[Format]]:
        """Yield the formats of each family; a family is loaded when its turn comes."""
        for name in self._families:
            yield self.of_family(name)
        others = dict.fromkeys(added.partition(".")[0] for added in self._changed)
        yield from [self.of_family(name) for name in others if name not in self._families]

    def of_family(self, name: str) -> list[Format]:
        """Return the formats of a family, in order; no other family is loaded."""
        added = [one for one in self._changed if one.partition(".")[0] == name]
        return [self[format_id] for format_id in dict.fromkeys([*self._of(name), *added])]

    def __len__(self) -> int:
        """Return the number of formats."""
        return sum(1 for _ in self)

    def _of(self, family: str) -> dict[str, Format]:
        """Return the formats of a family; none for an unknown one."""
        if family not in self._rows:
            if family not in self._families:
                return {}
            self._rows[family] = {row.format_id: row for row in self._families[family].formats}
        return self._rows[family]
