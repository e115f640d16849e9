"""The content of a page of a matrix, read without a browser: its words, its data, its bytes."""

import base64
import gzip
import json
import re
from typing import Any


def data(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="data" type="application/(\w+)">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    text = found[2] if found[1] == "json" else gzip.decompress(base64.b64decode(found[2])).decode()
    tree: dict[str, Any] = json.loads(text)
    return tree


def shown(page: str) -> str:
    """Its text: that of its elements, every word of its data, its bytes in hex."""
    tree = data(page)
    bare = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL)
    dumps = [base64.b64decode(case.get("bytes", "")).hex(" ") for case in tree["cases"].values()]
    return "\n".join([re.sub(r"<[^>]+>", " ", bare), *words(tree), *dumps])


def words(tree: Any) -> list[str]:
    if isinstance(tree, str):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [word for part in parts for word in words(part)]


def rows(page: str) -> list[tuple[list[str], list[str]]]:
    """The rows in order: their ids, and the labels of the first of them."""
    tree = data(page)
    return [
        (
            [member["id"] for member in row["members"]],
            [tree["answers"][n]["label"] if n >= 0 else "" for n in row["members"][0]["answers"]],
        )
        for row in tree["rows"]
    ]
