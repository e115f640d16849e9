"""One format of Heka cases: scans and encodes beside decodes."""

# fmt: off

from typing import Any

from tests.authoring.case_builder import CaseBuilder

Json = Any


class HekaCaseBuilder(CaseBuilder):
    """Cases of one Heka format."""

    def scan(self, name: str, title: str, chunks: list[bytes], items: list[Json], *, doc: str, why: str, rules: tuple[str, ...], **more: Any) -> str:
        remarks = more.pop("remarks", ())
        accept: dict[str, Any] = {"value": {"items": items}, "consumed": sum(map(len, chunks))}
        accept |= {"remarks": sorted(remarks)} if remarks else {}
        return self.other(name, title, "scan", {"chunks": [chunk.hex() for chunk in chunks]}, {"accept": accept}, doc=doc, why=why, rules=rules, **more)

    def encode(self, name: str, title: str, given: Json, data: bytes | None, *, doc: str, why: str, rules: tuple[str, ...], back: Json = None, **more: Any) -> str:
        accept: dict[str, Any] = {"value": back or given}
        accept |= {} if data is None else {"bytes": [data.hex()]}
        return self.other(name, title, "encode", {"value": given}, {"accept": accept}, doc=doc, why=why, rules=rules, **more)

    def unfit(self, name: str, title: str, given: Json, twin: str, *, doc: str, why: str, rules: tuple[str, ...], **more: Any) -> str:
        reject = {"class": "invalid-value", "also": ["bad-length", "limit-exceeded", "type-mismatch", "auth-failed"]}
        return self.other(name, title, "encode", {"value": given}, {"reject": reject}, doc=doc, why=why, rules=rules, twin=self.prefix + twin, **more)

    def other(self, name: str, title: str, op: str, given: Json, expect: Json, *, doc: str, why: str, rules: tuple[str, ...], **more: Any) -> str:
        level, origin = more.pop("level", "must"), more.pop("origin", "builder")
        case = {"id": self.prefix + name, "title": title, "why": why, "op": op, "level": level, "rules": list(rules), "input": given, "expect": expect,
                "source": {"origin": origin, "document": doc}, **more}
        return self.writer.add(case)
