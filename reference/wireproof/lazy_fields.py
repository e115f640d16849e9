"""Objects some of whose fields are read from a file when they are first asked for."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self


class LazyFields:
    """A base of frozen classes of attrs.

    An object is made as usual, or by `unread`; it then reads its missing fields once, and is equal to one
    that was made with all of them. A copy, such as one of `evolve`, has all fields.
    """

    __slots__ = ("_read_field",)

    @classmethod
    def unread(cls, known: Mapping[str, Any], read: Callable[[Any, str], Mapping[str, Any]]) -> Self:
        """Return an object with some fields.

        `read` gets it and the name of a missing field, and returns that field, or all that are missing.
        """
        made = object.__new__(cls)
        for name, value in known.items():
            object.__setattr__(made, name, value)
        object.__setattr__(made, "_read_field", read)
        return made

    if not TYPE_CHECKING:  # a type checker would allow every name

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the value of any field
            """Read a field that the object does not have yet."""
            if name == "_read_field" or name not in type(self).__slots__:
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            read = self._read_field(self, name)
            for found, value in read.items():
                object.__setattr__(self, found, value)
            if len(read) > 1:  # nothing is missing any more
                object.__delattr__(self, "_read_field")
            return object.__getattribute__(self, name)
