"""Record lua_sandbox, Hindsight's reader of Heka messages in C, as a witness of the messages that it refuses.

Run: `python -m tests.authoring.heka.lua_sandbox CHECKOUT`, with a clone of github.com/mozilla-services/lua_sandbox and
a C compiler. It is in no registry of packages, so it is no peer. Only refusals are recorded, and only of cases whose
twin it takes: it is asked whether it takes a message, and values are not shown.
"""

import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.authoring.record_witnesses import record_each
from tests.authoring.witness_run import Agreement
from tests.fixture_tables.witness_reasons import count_line
from wireproof.cases.case import Case, Data, Reject
from wireproof.cases.fixtures import load

NAME = "lua_sandbox"
SOURCES = ("heka_message", "input_buffer", "output_buffer", "protobuf", "string", "util")
"""The parts of its folder src/util that the reader needs."""


def build(checkout: Path, folder: Path) -> Path:
    """Compile the reader from a checkout; return the program."""
    (folder / "luasandbox_defines.h").write_text('#define CLOSE_ON_EXEC "e"\n', encoding="ascii")
    (folder / "x").mkdir()  # the sources include ../luasandbox_defines.h, which its own build makes
    program = folder / "reader"
    sources = [str(checkout / "src" / "util" / f"{name}.c") for name in SOURCES]
    own = str(Path(__file__).with_name("lua_sandbox_reader.c"))
    include = [f"-I{checkout / 'include'}", f"-I{folder / 'x'}"]
    command = ["cc", "-std=gnu99", "-D_GNU_SOURCE", "-O1", *include, own, *sources, "-lm", "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def version(checkout: Path) -> str:
    """Return the commit of the checkout, short."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def taken(program: Sequence[str], cases: Sequence[Case]) -> dict[str, bool]:
    """Return for each plain message whether the reader takes it, by the id of its case."""
    plain = {case.id: case.input.data for case in cases if _is_plain(case) and isinstance(case.input, Data)}
    lines = "".join(data.hex() + "\n" for data in plain.values())
    done = subprocess.run(list(program), input=lines, capture_output=True, text=True, check=True)
    return {name: row == "1" for name, row in zip(plain, done.stdout.split(), strict=True)}


def _is_plain(case: Case) -> bool:
    return case.format == "heka.message" and case.op == "decode" and case.options.compression == "none"


def refused_alike(cases: Sequence[Case], taken_by_id: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the cases that must be refused and are, though the reader takes their twin."""
    return tuple(
        case.id
        for case in cases
        if isinstance(case.expect, Reject)
        and taken_by_id.get(case.id) is False
        and case.twin is not None
        and taken_by_id.get(case.twin) is True
    )


def main() -> None:
    """Build the reader, run it on every plain message, record what it agrees with, and print the figures."""
    parser = ArgumentParser(description="record lua_sandbox as a witness of messages that it refuses")
    parser.add_argument("checkout", type=Path)
    checkout = parser.parse_args().checkout.resolve()
    suite = load()
    with TemporaryDirectory() as folder:
        answers = taken([str(build(checkout, Path(folder)))], suite.cases)
    found = Agreement(NAME, version(checkout), refused_alike(suite.cases, answers))
    record_each(suite.files.values(), set(answers), [found])
    sys.stdout.write(f"{NAME} {found.version} agrees with {len(found.ids)} cases\n{count_line(load())}\n")


if __name__ == "__main__":
    main()
