"""Record which independent implementations were run on the golden cases and agree.

Run: `python -m tests.authoring.record_witnesses kafka-clients iggy-py protobuf-upb protobuf-python`. A case gets a
witness only by a verdict that says the implementation did what the case expects; one that departs from
it, or that does not do such a thing at all, is none.
"""

import json
import sys

from wireproof.cases.fixtures import load
from wireproof.runner.engine import Engine
from wireproof.runner.run import Selection, run

AGREES = ("pass", "pass-unclassified")


def witnessed(spec: str) -> tuple[dict[str, str], set[str]]:
    """Who it is, and the ids of the cases that it agrees with."""
    suite = load()
    with Engine(spec) as engine:
        plan = Selection.of(engine.hello, suite.cases, suite, families=False)
        events = list(run(engine, plan))
        who = {"name": spec, "version": engine.hello.version}
    return who, {event.id for event in events if event.verdict in AGREES}


def main(specs: list[str]) -> None:
    suite = load()
    found = [witnessed(spec) for spec in specs]
    for path in sorted(set(suite.files.values())):
        page = json.loads(path.read_text(encoding="utf-8"))
        for case in page["cases"]:
            others = [one for one in case["source"].get("witnesses", []) if one["name"] not in specs]
            agreeing = [who for who, ids in found if case["id"] in ids]
            witnesses = sorted([*others, *agreeing], key=lambda one: str(one["name"]))
            case["source"].pop("witnesses", None)
            if witnesses:
                case["source"]["witnesses"] = witnesses
        path.write_text(json.dumps(page, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for who, ids in found:
        print(who["name"], who["version"], len(ids), "cases")


if __name__ == "__main__":
    main(sys.argv[1:])
