"""Figures about names and words: `python -m tests.support.naming_figures` prints them.

They answer whether the package can be read by somebody who does not know it: the number of its modules, how
many docstrings of functions begin with a verb, which class names have two meanings, and which citations lead
nowhere. `test_naming_figures.py` fixes those that must not grow.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

SUPPORT: Final = Path(__file__).parent
ROOT: Final = SUPPORT.parents[1]
PACKAGE: Final = ROOT / "reference" / "wireproof"

Function = ast.FunctionDef | ast.AsyncFunctionDef

_WORDS: Final = """
Accept Account Add Advance Allow Answer Append Apply Arrange Ask Attribute Begin Block Break Bring Build
Call Change Check Choose Close Collect Combine Compare Compile Compress Compute Connect Continue Convert
Copy Count Create Cut Damage Decode Decompress Delete Derive Describe Discard Distribute Divide Do Draw Drop
Edit Encode End Enlarge Enter Escape Exclude Exit Expand Expect Explain Fail Fetch Fill Find Fix Flip Follow
Forget Format Fuzz Generate Give Group Hide Ignore Import Inflate Instrument Invoke Join Judge Keep Kill Leave
Lend Let Limit List Listen Load Lock Log Look Make Mark Measure Merge Minimise Move Mutate Name Normalise Note
Open Overwrite Parse Pass Poll Post Prepare Print Produce Queue Raise Read Reap Record Refuse Reject Remark
Remove Render Renumber Repeat Replace Report Require Reset Resolve Return Rewrite Run Save Scan Search See
Send Serve Set Show Shrink Sign Skip Sort Spell Split Start Stop Store Survey Swap Take Test Truncate Trust
Turn Unmap Use Verify Wait Watch Work Wrap Write Yield
"""

VERBS: Final = frozenset(_WORDS.split())
"""The verbs with which docstrings of functions begin. Add a verb here when a docstring needs a new one."""


@cache
def modules() -> Mapping[str, ast.Module]:
    """Return the syntax tree of each module of the package, by its path."""
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def line_count() -> int:
    """Return the number of lines of all modules."""
    return sum(path.read_bytes().count(b"\n") for path in PACKAGE.rglob("*.py"))


def first_words() -> Counter[str]:
    """Return the first words of the docstrings of functions and properties."""
    texts = map(ast.get_docstring, _functions())
    return Counter(re.split(r"[ ,:;.\n]", text, maxsplit=1)[0] for text in texts if text)


def without_verb() -> list[str]:
    """Return place and first line of each docstring of a function that does not begin with a verb."""
    return [
        f"{path}:{node.lineno} {text.splitlines()[0]}"
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, Function) and (text := ast.get_docstring(node))
        if re.split(r"[ ,:;.\n]", text, maxsplit=1)[0] not in VERBS
    ]


def _functions() -> Iterator[Function]:
    for tree in modules().values():
        yield from (node for node in ast.walk(tree) if isinstance(node, Function))


def repeated_class_names() -> dict[str, list[str]]:
    """Return each class name that several modules define, with these modules."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)
    return {name: paths for name, paths in sorted(places.items()) if len(paths) > 1}


def figures() -> Iterator[str]:
    """Yield the lines of the report."""
    from citations import citation_count, unresolved  # noqa: PLC0415 - `main` makes it importable

    words = first_words()
    verbs = sum(count for word, count in words.items() if word in VERBS)
    yield f"package: {len(modules())} modules, {line_count():,} lines"
    yield f"docstrings of functions: {verbs:,} of {words.total():,} begin with a verb"
    yield from (f"  {line}" for line in without_verb())
    repeated = repeated_class_names()
    yield f"class names with several definitions: {len(repeated)}"
    yield from (f"  {name}: {', '.join(paths)}" for name, paths in repeated.items())
    broken = unresolved()
    yield f"citations: {citation_count():,}, of which {len(broken)} lead nowhere"
    yield from (f"  {line}" for line in broken)


def main() -> None:
    """Print all figures."""
    sys.path.insert(0, str(SUPPORT))
    sys.stdout.writelines(f"{line}\n" for line in figures())


if __name__ == "__main__":
    main()
