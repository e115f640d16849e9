"""One format and revision of Iggy cases: encodes and scans beside decodes."""

from typing import Any

from tests.authoring.case_builder import CaseBuilder as DecodeBuilder
from tests.authoring.iggy.levels import level_of


def needed(value: Any) -> list[str]:
    """What a client must let its caller say, for the value of a send."""
    if "partitioning" not in value:
        return []
    messages = value["messages"]
    kind = value["partitioning"]["kind"]
    capabilities = [] if kind == "partition_id" else [f"feature:partitioning-{kind.replace('_', '-')}"]
    capabilities += ["feature:headers"] * any(message["headers"] for message in messages)
    capabilities += ["feature:message-id"] * any(message["id"] != "0" for message in messages)
    return capabilities


class CaseBuilder(DecodeBuilder):
    """Adds cases under `<format>/<revision>/`; without a level, the rules decide it."""

    def writes(
        self,
        name: str,
        title: str,
        value: Any,
        *data: bytes,
        doc: str,
        why: str,
        rules: tuple[str, ...],
        stated: bool = True,
        **more: Any,
    ) -> str:
        """Add an encode that must give one of `data`; the value decodes back from each.

        Without `stated` the fixture has a large value once, as the input.
        """
        back = {"value": value} if stated else {}
        expect = {"accept": {**back, "bytes": [one.hex() for one in data]}}
        return self._encode(name, title, value, expect, doc=doc, why=why, rules=rules, **more)

    def refuses(
        self,
        name: str,
        title: str,
        value: Any,
        *,
        twin: str,
        doc: str,
        why: str,
        rules: tuple[str, ...],
        also: tuple[str, ...] = ("bad-length", "type-mismatch"),
    ) -> str:
        """Add an encode that must be refused."""
        expect = {"reject": {"class": "invalid-value", "also": list(also)}}
        more = {"twin": self.prefix + twin}
        return self._encode(name, title, value, expect, doc=doc, why=why, rules=rules, **more)

    def _add(
        self, name: str, title: str, data: bytes, expect: Any, *, doc: str, why: str, rules: Any, **more: Any
    ) -> str:
        more.setdefault("level", level_of(rules, "decode"))
        return super()._add(name, title, data, expect, doc=doc, why=why, rules=rules, **more)

    def _encode(
        self,
        name: str,
        title: str,
        value: Any,
        expect: Any,
        *,
        doc: str,
        why: str,
        rules: tuple[str, ...],
        **more: Any,
    ) -> str:
        return self.writer.add(
            {
                "id": self.prefix + name,
                "title": title,
                "why": why,
                "op": "encode",
                "level": level_of(rules, "encode"),
                "rules": list(rules),
                "input": {"value": value},
                "expect": expect,
                "source": {"origin": "builder", "document": doc},
                "needs": needed(value),
                **more,
            }
        )

    def scans(
        self,
        name: str,
        title: str,
        chunks: tuple[bytes, ...],
        items: list[Any],
        *,
        doc: str,
        why: str,
        rules: tuple[str, ...],
    ) -> str:
        """Add a scan of `chunks` that must give `items`."""
        return self.writer.add(
            {
                "id": self.prefix + name,
                "title": title,
                "why": why,
                "op": "scan",
                "level": level_of(rules, "scan"),
                "rules": list(rules),
                "input": {"chunks": [chunk.hex() for chunk in chunks]},
                "expect": {"accept": {"value": {"items": items}}},
                "source": {"origin": "builder", "document": doc},
            }
        )
