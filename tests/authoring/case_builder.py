"""One format and revision of cases: an accepted decode, a rejected one, and one with an open answer."""

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter


class CaseBuilder:
    """Adds cases under `<format>/<revision>/`."""

    def __init__(self, writer: FixtureWriter, form: str, revision: str) -> None:
        self.writer = writer
        self.prefix = f"{form}/{revision}/"

    def accepts(
        self,
        name: str,
        title: str,
        data: bytes,
        value: Any,
        *,
        doc: str,
        why: str,
        rules: tuple[str, ...] = (),
        consumed: int | None = None,
        remarks: tuple[str, ...] = (),
        **more: Any,
    ) -> str:
        accept = {"value": value, "consumed": len(data) if consumed is None else consumed}
        if remarks:
            accept["remarks"] = sorted(remarks)
        return self._add(name, title, data, {"accept": accept}, doc=doc, why=why, rules=rules, **more)

    def rejects(
        self,
        name: str,
        title: str,
        data: bytes,
        cls: str,
        *,
        twin: str,
        doc: str,
        why: str,
        rules: tuple[str, ...] = (),
        also: tuple[str, ...] = (),
        at: int | str | None = None,
        before: Any = None,
        **more: Any,
    ) -> str:
        reject: dict[str, Any] = {"class": cls}
        reject |= {"also": list(also)} if also else {}
        reject |= {} if at is None else {"at": at}
        reject |= {} if before is None else {"before": before}
        whole = twin if twin.count("/") == 3 else self.prefix + twin
        return self._add(
            name, title, data, {"reject": reject}, doc=doc, why=why, rules=rules, twin=whole, **more
        )

    def either(
        self,
        name: str,
        title: str,
        data: bytes,
        behaviours: dict[str, Any],
        *,
        doc: str,
        why: str,
        rules: tuple[str, ...],
        level: str = "should",
        **more: Any,
    ) -> str:
        """A decode whose answer is open among `behaviours`."""
        rows = [{"id": key, **expect} for key, expect in behaviours.items()]
        expect = {"either": {"behaviours": rows}}
        return self._add(name, title, data, expect, doc=doc, why=why, rules=rules, level=level, **more)

    def _add(
        self, name: str, title: str, data: bytes, expect: Any, *, doc: str, why: str, rules: Any, **more: Any
    ) -> str:
        origin = more.pop("origin", "builder")
        case = {
            "id": self.prefix + name,
            "title": title,
            "why": why,
            "op": "decode",
            "level": more.pop("level", "must"),
            "rules": list(rules),
            "input": {"hex": data.hex()},
            "expect": expect,
            "source": {"origin": origin, "document": doc},
            **more,
        }
        return self.writer.add(case)
