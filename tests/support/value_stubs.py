"""The stubs of the value classes that descriptions make: `python -m tests.support.value_stubs` writes them.

A class is made when its revision is used, so that a type checker knows nothing of its attributes.
`values.pyi` of a family has each class once, under the name of its structure. If revisions have different
classes, it has the attributes that all of them have, each with the types of all.
"""

from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from attrs import NOTHING, fields

import wireproof
from wireproof.family import Family
from wireproof.formats import FAMILIES
from wireproof.schema.layout import all_layouts
from wireproof.schema.struct import StructLayout

FAMILIES_OF_STRUCTURES: Final = ("heka", "iggy")

HEAD: Final = "# The value classes, for type checkers: python -m tests.support.value_stubs writes them.\n"


def stub_path(name: str) -> Path:
    return Path(wireproof.__file__).parent / name / "values.pyi"


def stub_of(family: Family) -> str:
    classes = dict(sorted(value_classes(family).items()))
    names = {cls: name for name, found in classes.items() for cls in found}
    body = [line for name, found in classes.items() for line in _class(name, found, names)]
    others = {cls for found in classes.values() for one in found for cls in _classes_in(one)} - names.keys()
    imports = [
        f"from {cls.__module__} import {cls.__name__}" for cls in others if cls.__module__ != "builtins"
    ]
    head = ["from typing import Literal", "", "from attrs import frozen", "", *sorted(imports)]
    return "\n".join((HEAD, *head, *body, ""))


def value_classes(family: Family) -> dict[str, list[type]]:
    """Return the classes that the descriptions of the formats of a family make, by the structure's name."""
    found: dict[str, dict[type, None]] = {}
    for fmt in family.formats:
        for layout in all_layouts(fmt.layout) if fmt.layout is not None else ():
            if isinstance(layout, StructLayout) and layout.type.__module__ == StructLayout.__module__:
                found.setdefault(layout.name, {})[layout.type] = None
    return {name: [*classes] for name, classes in found.items()}


def _class(name: str, classes: list[type], names: dict[type, str]) -> Iterator[str]:
    rows = [{one.name: one for one in fields(cls)} for cls in classes]
    defaults = any(one.default is not NOTHING for row in rows for one in row.values())
    yield from ("", "@frozen(kw_only=True)" if defaults else "@frozen", f"class {name}:")
    shared = [one for one in rows[0] if all(one in row for row in rows)]
    yield from () if shared else ("    ...",)
    for attribute in shared:
        parts = dict.fromkeys(text for row in rows for text in _texts(row[attribute].type, names))
        none = parts.pop("None", "") is None
        default = "" if rows[0][attribute].default is NOTHING else " = ..."
        yield f"    {attribute}: {' | '.join((*parts, *(['None'] * none)))}{default}"


def _texts(kind: Any, names: dict[type, str]) -> Iterator[str]:
    """Yield the alternatives of a type as text."""
    match get_origin(kind):
        case origin if origin is UnionType or origin is Union:
            for one in get_args(kind):
                yield from _texts(one, names)
        case origin if origin is Literal:
            yield f"Literal[{', '.join(map(repr, get_args(kind)))}]"
        case origin if origin is not None:
            inner = ("..." if one is ... else " | ".join(_texts(one, names)) for one in get_args(kind))
            yield f"{origin.__name__}[{', '.join(inner)}]"
        case _:
            yield "None" if kind is NoneType else names.get(kind, kind.__name__)


def _classes_in(kind: Any) -> Iterator[type]:
    """Yield the classes that the attributes of a class are of."""
    parts = (one.type for one in fields(kind)) if hasattr(kind, "__attrs_attrs__") else get_args(kind)
    for part in parts:
        if isinstance(part, type) and get_origin(part) is None:
            yield part
        else:
            yield from _classes_in(part)


if __name__ == "__main__":
    for name in FAMILIES_OF_STRUCTURES:
        stub_path(name).write_text(stub_of(FAMILIES[name]), encoding="utf-8")
