"""The generators of large requests, replies and segments: messages without user headers, in every revision.

Message n has the id n + 1, the offset n, and the payload of its number. A binary send goes to the stream 1
and the topic `sample`; the stream and the topic of one over HTTP are in the path of its request.
"""

from typing import Any, Final

from attrs import evolve

from wireproof.cases.generated_bytes import Recipe, joined, value_pieces
from wireproof.derive.mutate.encodings import generator_by_codec
from wireproof.derive.mutate.values_of_type import filled
from wireproof.formats import FORMATS
from wireproof.iggy.destination import Identifier, Partitioning
from wireproof.wire.json_values import from_json

TIME: Final = 1_745_000_000_000_000
"""The timestamp of all messages, in microseconds."""


def value(recipe: Recipe) -> Any:  # noqa: ANN401 - of the format of the recipe
    """Return the value of a recipe. The fields of all formats have their names from iggy.md."""
    row = FORMATS[recipe.kind]
    times = {"timestamp": TIME, "origin_timestamp": TIME, "base_timestamp": TIME, "max_timestamp": TIME}
    messages = [
        {
            **times,
            "id": number + 1,
            "offset": number,
            "offset_delta": number,
            "state": "available",
            "payload": joined(value_pieces(recipe.fill, recipe.value, number)),
        }
        for number in range(recipe.records)
    ]
    batch = {
        **times,
        "last_offset_delta": recipe.records - 1,
        "message_count": recipe.records,
        "messages": messages,
    }
    batched = row.revision.startswith("0.11")  # those store batches in partition 0, others messages in 1
    chosen = Partitioning("partition_id", bytes((7 if row.is_json else 0, 0, 0, 0)))
    return filled(
        row.value,
        {
            "stream": Identifier("numeric", bytes((1, 0, 0, 0))),
            "topic": Identifier("string", b"sample"),
            "partitioning": chosen if row.is_json or batched else Partitioning("balanced", b""),
            "partition_id": int(not batched),
            "current_offset": recipe.records - 1,
            "batches": [batch],
            "messages": messages,
        },
    )


def polled_value(recipe: Recipe) -> Any:  # noqa: ANN401 - as above
    """Return the value of a poll over HTTP: its checksums are those of the binary messages."""
    revision = recipe.kind.rpartition("/")[2]
    binary = f"iggy.poll/{'0.9' if revision == '0.10' else revision}"
    tree = GENERATORS[binary].value(evolve(recipe, kind=binary))
    return from_json(FORMATS[recipe.kind].value, tree)


GENERATORS: Final = {
    **{
        f"{name}/{revision}": generator_by_codec(value)
        for name, revisions in {
            "iggy.send": ("0.0.30", "0.7", "0.8", "0.9", "0.11"),
            "iggy.poll": ("0.0.30", "0.0.40", "0.0.60", "0.7", "0.8", "0.9", "0.11"),
            "iggy.json.send": ("0.0.30", "0.7", "0.8", "0.9", "0.10"),
            "iggy.log": ("0.0.30", "0.0.40", "0.2.7", "0.7", "0.8", "0.9", "0.11", "0.11.1-edge"),
        }.items()
        for revision in revisions
    },
    **{
        f"iggy.json.poll/{revision}": generator_by_codec(polled_value)
        for revision in ("0.0.30", "0.0.40", "0.0.60", "0.7", "0.9", "0.10")
    },
}
"""The generator of each kind."""
