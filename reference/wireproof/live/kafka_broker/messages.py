"""Messages of Kafka's protocol from plain values: in kafka-python each part is an object of its own class."""

from collections.abc import Mapping
from typing import Any


def message(kind: Any, version: int | None = None, **fields: Any) -> Any:  # noqa: ANN401 - a class of kafka-python
    """Return a request or a response.

    A field that is left out has the default of Kafka's message definition; one that the version does not have
    is not sent.

    Args:
        kind: a class of kafka-python, which is generated from Kafka's own message definitions.
        version: of the message; without one it is set when the message is sent.
        fields: by their names; parts are mappings, or lists of mappings.

    Raises:
        KeyError: a field is not one of the message.
    """
    return kind(version=version, **_parts(kind, fields))


def _parts(kind: Any, fields: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - as above
    return {name: _part(kind.fields[name], value) for name, value in fields.items()}


def _part(field: Any, value: Any) -> Any:  # noqa: ANN401 - as above
    if value is None or not field.is_struct_array():
        return value
    return [field.data_class(**_parts(field.data_class, one)) for one in value]
