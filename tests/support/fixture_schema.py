"""The schema of fixture files."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

import wireproof

SCHEMA: dict[str, Any] = json.loads(
    (Path(wireproof.__file__).parent / "schemas" / "fixture.schema.json").read_text(encoding="utf-8")
)


@cache
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(SCHEMA)
    return Draft202012Validator(SCHEMA)
