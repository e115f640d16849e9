"""The comparison of stored ratios fails where one has become much worse, and only there."""

import json
import subprocess
import sys
from pathlib import Path

from each import each
from folders import TOP


def stored(path: Path, **ratios: float) -> Path:
    rows = [{"name": name, "extra_info": {"ratio": ratio}} for name, ratio in ratios.items()]
    path.write_text(json.dumps({"benchmarks": [*rows, {"name": "a time", "extra_info": {}}]}))
    return path


@each("after, code, said", [
    ({"a": 0.8, "b": 9.0}, 0, "was 1.00  a"), ({"a": 0.7, "b": 2.0}, 1, "worse by more than 25%: a"),
    ({"b": 2.0, "c": 1.0}, 0, "not measured any more: a"), ({"a": 1.0, "b": 2.0, "c": 0.1}, 0, "new  c"),
])  # fmt: skip
def test_a_ratio_that_is_much_worse_fails(
    tmp_path: Path, after: dict[str, float], code: int, said: str
) -> None:
    old, new = stored(tmp_path / "old", a=1.0, b=2.0), stored(tmp_path / "new", **after)
    command = [sys.executable, str(TOP / "tests/benchmarks/compare_ratios.py"), str(old), str(new)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout
