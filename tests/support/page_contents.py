"""The content of a page of a matrix, read without a browser: its words, its data, its bytes."""

import base64
import gzip
import json
import re
from typing import Any


def data(page: str) -> dict[str, Any]:
    """The data of a page, unpacked."""
    found = re.search(r'<script id="data" type="application/(\w+)">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    text = found[2] if found[1] == "json" else gzip.decompress(base64.b64decode(found[2])).decode()
    tree: dict[str, Any] = json.loads(text)
    return tree


def shown(page: str) -> str:
    """Its text: that of its elements, every word of its data, its bytes in hex."""
    tree = data(page)
    bare = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL)
    dumps = [base64.b64decode(word).hex(" ") for word in tree["bytes"]]
    return "\n".join([re.sub(r"<[^>]+>", " ", bare), *tree["words"], *dumps])


def rows(page: str) -> list[tuple[list[str], list[str]]]:
    """The rows in order: their ids, and the labels of the first of them."""
    tree = data(page)
    words, answers = tree["words"], tree["answers"]
    every = [row for _, some in tree["topics"] for row in some]
    return [
        (
            [words[member[0]] for member in members],
            [words[answers[n][0]] if n >= 0 else "" for n in members[0][3]],
        )
        for _, members in every
    ]
