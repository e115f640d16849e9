"""The sources as a whole: citations, names of systems, one walk, frozen ids; tools around the suite."""

import ast
import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from each import each
from folders import TESTS, TOP
from machine import leave_out, need

import wireproof
from tests.support.proof.compare import compare, compare_part
from tests.support.proof.record import NOT_DONE
from tests.support.verdict_changes import Changes, changes, lines_of, rows_of, verdicts
from wireproof import formats
from wireproof.cases.outcome import Accepted
from wireproof.cases.reference_answers import decode_answer
from wireproof.installed_families import OWN
from wireproof.wire.options import DEFAULT_OPTIONS

sys.path.insert(0, str(TESTS / "broker"))
import compare_explain
import dump
import explain_lines
import plan

DOCS: Final = TOP / "reference" / "docs"

# --- citations of the specifications, and links ---
#
# A citation names the document and then sections of it: `kafka.md §1.7`, `iggy.md §3.3, §11.1`, `heka.md,
# sections 2 and 3`. In a document, section 1.2 is a heading `### 1.2 …` below the anchor `s1-2`.

SYSTEMS: Final = ("kafka", "iggy", "heka")
CITING: Final = (
    *("fixtures/**/*.toml", "fixtures/**/*.json"),
    *("fuzz/**/*.py", "reference/**/*.py", "tests/**/*.py"),
)

NUMBER: Final = r"\d+(?:\.\d+)*"
LIST: Final = rf"((?:(?:§§?|sections? )?(?!0\.){NUMBER}\b(?:, | and |,? and )?)+)"
SECTION: Final = re.compile(r'\b(kafka|iggy|heka)\.md(?:"\nsection = "|`)?[ ,]*' + LIST)
SLUG: Final = re.compile(r"[^\w\- ]")


class Document(NamedTuple):
    """The sections that have a heading, and all anchors."""

    sections: frozenset[str]
    anchors: frozenset[str]


@cache
def read_document(path: Path) -> Document:
    """Return the sections and anchors of a page."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    numbers = (re.match(NUMBER, heading) for heading in headings)
    slugs = {SLUG.sub("", heading.lower()).replace(" ", "-") for heading in headings}
    return Document(
        frozenset(number[0] for number in numbers if number),
        frozenset(re.findall(r'<a id="([^"]+)"></a>', text)) | slugs,
    )


def test_every_citation_leads_to_a_section_of_its_document() -> None:
    broken = []
    for path in (path for pattern in CITING for path in sorted(TOP.glob(pattern))):
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in SECTION.finditer(text):
            known = read_document(DOCS / f"{match[1]}.md").sections
            if missing := {*re.findall(NUMBER, match[2])} - known:
                line = text.count("\n", 0, match.start()) + 1
                broken.append(f"{path.relative_to(TOP)}:{line} {match[1]}.md has no {sorted(missing)}")
    assert not broken, "\n".join(broken)


@each("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_every_relative_link_of_a_page_leads_to_a_file_and_an_anchor(page: Path) -> None:
    broken, text = [], page.read_text(encoding="utf-8")
    for match in re.finditer(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        target = page.parent / match[1] if match[1] else page
        if not target.exists() or (match[2] and match[2] not in read_document(target).anchors):
            broken.append(f"line {text.count(chr(10), 0, match.start()) + 1}: {match[0][1:]}")
    assert not broken, "\n".join(broken)


def test_every_section_that_the_code_refers_to_exists() -> None:
    known = {page.stem: read_document(page).anchors for page in DOCS.glob("*.md")}
    missing = [
        f"{path.relative_to(TOP)}: {match[0]}"
        for folder in ("reference", "tests", "fuzz")
        for path in (TOP / folder).rglob("*.py")
        for match in re.finditer(
            r"\b([a-z]+(?:-[a-z]+)*)\.md#([\w-]+)", path.read_text("utf-8", errors="replace")
        )
        if match[1] in known and match[2] not in known[match[1]]
    ]
    assert missing == []


@pytest.mark.documents
def test_the_site_of_the_documents_has_no_link_that_leads_nowhere(tmp_path: Path) -> None:
    words = ["build", "--strict", "-f", ".ci/site/mkdocs.yml", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", *words], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 'href="kafka.html"' in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_numbered_heading_has_its_anchor_and_no_anchor_occurs_twice(system: str) -> None:
    text = (DOCS / f"{system}.md").read_text(encoding="utf-8")
    anchors = re.findall(r'<a id="([^"]+)"></a>', text)
    headings = re.findall(r'^<a id="([^"]+)"></a>\n\n?#+ (\d+(?:\.\d+)*)', text, re.MULTILINE)
    assert {number for _, number in headings} == read_document(DOCS / f"{system}.md").sections
    assert all(anchor == "s" + number.replace(".", "-") for anchor, number in headings)
    assert sorted(anchors) == sorted(set(anchors))
    assert all(anchor == anchor.lower() for anchor in anchors)


# --- no module outside of a family names a system ---


PACKAGE = Path(wireproof.__file__).parent

LIVE: Final = "live"

LISTS_THE_FAMILIES: Final = "installed_families.py"
"""The one module with the list of this package's own families."""


def names_of_systems(source: str) -> Iterator[str]:
    """Yield `line: name` for each identifier and each string without blanks that names a system."""
    for node in ast.walk(ast.parse(source)):
        for name in _names(node):
            if any(system in name.lower() for system in OWN):
                yield f"{getattr(node, 'lineno', 0)}: {name}"


def _names(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Constant(value=str(text)) if len(text.split()) == 1:
            return (text,)
        case ast.Constant(value=bytes(octets)):
            return (octets.decode("latin-1"),)
        case (
            ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name))
            | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name)
            | ast.ImportFrom(module=str(name))
        ):  # fmt: skip
            return (name,)
        case ast.alias(name=name, asname=other):
            return (name, other or "")
    return ()


def modules() -> list[Path]:
    """Return the modules of the package that belong to no family, by their paths below it.

    The folders in `live` belong to one each: its servers and clients, and the broker to try them on.
    """
    found = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return sorted(path for path in found if path.parts[0] not in OWN and path.parts[:-2] != (LIVE,))


def test_no_module_outside_of_a_family_names_a_system() -> None:
    found = {
        path.as_posix(): list(names_of_systems((PACKAGE / path).read_text("utf-8"))) for path in modules()
    }
    assert len(found) > 200
    listed = found.pop(LISTS_THE_FAMILIES)
    assert [line.partition(": ")[2] for line in listed] == list(OWN)
    assert {path: names for path, names in found.items() if names} == {}


def test_no_module_outside_of_a_family_is_called_after_a_system() -> None:
    assert [path for path in modules() if any(system in path.as_posix() for system in OWN)] == []


# --- one walk over the entries of a stream ---


STEPS = {
    "damaged_length", "decode_entry", "extent", "peek_size_and_magic", "peek_whole_entry",
    "peek_whole_segment_entry", "quick_parts", "scan_steps", "stride", "walk_entries", "whole_size",
}  # fmt: skip
"""What shows the size of an entry, or reads the next one: a loop that calls it goes over entries."""

WALKS = ("wire/walk.py", "wire/scan_items.py")

OTHERS = {
    "kafka/columnar/": "the fast walker, whose kernel has a loop of its own",
    "iggy/log.py": "tries flipped bits of the lengths of one record",
    "schema/stream.py": "reads the lengths of one record, and lists the candidates of a search",
    "live/loopback_broker/append_rules.py": "takes the one entry of a request",
    "live/loopback_broker/regroup_records.py": "splits a log as a broker does, which reads no record",
}
"""The modules with such a loop that is no walk of its own, each with the reason."""


def loops(module: Path) -> Iterator[int]:
    """Yield the lines of loops that call one of `STEPS`."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        match node:
            case ast.While(test=test, body=body):
                parts = [test, *body]
            case ast.For(iter=over, body=body):
                parts = [over, *body]
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                parts = [node]
            case _:
                continue
        calls = [one.func for part in parts for one in ast.walk(part) if isinstance(one, ast.Call)]
        names = {one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") for one in calls}
        if names & STEPS:
            yield node.lineno


def test_entries_are_walked_in_one_place() -> None:
    found = {path.relative_to(PACKAGE).as_posix(): [*loops(path)] for path in sorted(PACKAGE.rglob("*.py"))}
    found = {name: lines for name, lines in found.items() if lines and name not in WALKS}
    assert [name for name in found if not name.startswith(tuple(OTHERS))] == []


# --- an id never gets other bytes ---


FROZEN = "fixtures/frozen.json"


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


@pytest.fixture(scope="module")
def commits() -> list[str]:
    """Return the commits that changed the file; a shallow clone has some of them."""
    need("git")
    if not (TOP / ".git").exists():
        leave_out("no history: the tests lie outside a git checkout")
    return git("log", "--format=%H", "--", FROZEN).split()


def changed(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """The ids whose input is another one: the first word of an entry is its digest."""
    inputs = {case: text.split()[0] for case, text in old.items()}
    return sorted(case for case, text in new.items() if inputs.get(case, text.split()[0]) != text.split()[0])


def test_no_id_ever_had_another_digest(commits: list[str]) -> None:
    assert commits
    seen = json.loads((TOP / FROZEN).read_bytes())
    for commit in commits:
        then = json.loads(git("show", f"{commit}:{FROZEN}"))
        assert changed(seen, then) == [], f"since {commit}"
        seen |= then


# --- the scripts around a real broker ---


W01 = bytes.fromhex(
    "00000000000000000000003a0000000002e99b8dd80000000000000000018bcf"
    "e568000000018bcfe56800ffffffffffffffffffffffffffff00000001100000"
    "00026b027600"
)
"""kafka.md §6 E01: one record, k to v."""

PRINTED = """\
Dumping /logs/x-0/00000000000000000000.log
Log starting offset: 0
baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 \
partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty \
position: 0 CreateTime: 1700000000000 size: 70 magic: 2 compresscodec: none crc: 3919285720 isvalid: true
| offset: 0 CreateTime: 1700000000000 keySize: 1 valueSize: 1 sequence: -1 headerKeys: [] key: k payload: v
"""
"""The same batch, as `DumpLogSegments --deep-iteration --print-data-log` prints one."""


def test_each_client_sends_more_than_fifty_batches_in_each_codec_and_mode() -> None:
    kept = [step for step in plan.steps("x") if step["topic"] == "x-kept"]
    assert sum(len(step["batches"]) for step in kept) == 55
    assert {(step["codec"], step["mode"]) for step in kept} == {
        (codec, mode) for codec in plan.CODECS for mode, _ in plan.MODES
    }


def test_the_lines_of_the_tool_and_of_the_reference_are_the_same() -> None:
    outcome = decode_answer(formats.get("kafka.log", "mixed"), W01, DEFAULT_OPTIONS).outcome
    assert isinstance(outcome, Accepted)
    assert dump.expected(W01, outcome.value) == dump.parsed(PRINTED)["x-0/00000000000000000000.log"]


def test_explain_prints_the_lines_of_the_tool(tmp_path: Path) -> None:
    path = tmp_path / "x-0" / "00000000000000000000.log"
    path.parent.mkdir()
    path.write_bytes(W01)
    (trees,) = explain_lines.explained([path])
    lines = [line for _, line in explain_lines.lines(trees)]
    assert lines == dump.parsed(PRINTED)["x-0/00000000000000000000.log"]
    assert list(compare_explain.tool_lines(PRINTED.splitlines()[1:])) == lines


# --- the proof that a change loses nothing ---


def write(folder: Path, part: str, **rows: str) -> None:
    folder.mkdir(exist_ok=True)
    text = "".join(f"{key}\t{value}\n" for key, value in rows.items())
    (folder / f"{part}.tsv.gz").write_bytes(gzip.compress(text.encode()))


def test_what_is_changed_or_gone_is_a_fault_and_what_is_new_is_none(tmp_path: Path) -> None:
    write(tmp_path / "a", "cases", same="1", other="2", gone="3")
    write(tmp_path / "b", "cases", same="1", other="4", new="5")
    (found,) = compare(tmp_path / "a", tmp_path / "b", ["cases"])
    assert (found.same, found.changed, found.gone, found.new) == (
        1,
        (("other", "2", "4"),),
        (("gone", "3"),),
        (("new", "5"),),
    )
    assert found.is_fault
    assert not compare_part("cases", {}, {"new": "5"}).is_fault
    assert next(found.lines()) == "cases: 1 same, 1 changed, 1 gone, 1 new"


def test_what_could_not_be_measured_is_not_the_same_as_itself() -> None:
    row = {"test": f"{NOT_DONE}FAILED"}
    found = compare_part("peers", row, row)
    assert (found.same, found.is_fault) == (0, True)
    assert list(found.lines())[:2] == [
        "peers: 0 same, 0 changed, 0 gone, 0 new, 1 not measured",
        "  unproven test",
    ]


# --- verdicts that a change of the fixtures changes ---


PLACE = "iggy.identifier/0.0.30"
ONE, SAME, NEW = (f"{PLACE}/identifier/{name}" for name in ("string-empty", "string", "string-one"))
ADAPTERS = ("reference", "py:tests.mutants.every_format:RejectEverything")


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """Return the fixtures of one format: one expectation is another, one case is new."""
    folder = tmp_path / "fixtures"
    shutil.copytree(TOP / "fixtures/iggy.identifier", folder / "iggy.identifier")
    for path in (TOP / "fixtures").glob("*.*"):
        if path.is_file():
            shutil.copy(path, folder)
    file = folder / PLACE / "identifier.json"
    page = json.loads(file.read_text())
    cases = {case["id"]: case for case in page["cases"]}
    cases[ONE]["expect"] = {"accept": {"value": {"kind": "string", "value": ""}, "consumed": 2}}
    answer = {"accept": {"value": {"kind": "string", "value": "61"}, "consumed": 3}}
    new = {"id": NEW, "input": {"hex": "020161"}, "expect": answer}
    page["cases"].append({**cases[SAME], **new})
    file.write_text(json.dumps(page))
    return folder


@pytest.mark.sweeps
def test_what_is_new_or_decided_in_another_way_is_judged_on_both_sides(edited: Path) -> None:
    before = {
        name: row for name, row in rows_of(TOP / "fixtures").items() if name.startswith("iggy.identifier/")
    }
    found = changes(before, rows_of(edited))
    assert found == Changes((NEW,), (ONE,))
    now = verdicts(edited, ADAPTERS, (*found.added, *found.changed))
    text = "\n".join(lines_of(found, verdicts(TOP / "fixtures", ADAPTERS, found.changed), now))
    assert f"| `{ONE}` | pass (must) | suite-bug (must) | reference |" in text
    assert f"| `{NEW}` | must | reference | {ADAPTERS[1]} (fail:wrong-reject) |" in text
