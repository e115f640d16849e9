"""The command line of the authoring of cases: `python -m tests.authoring add FILE`."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from tests.authoring.new_cases import AddError, add


def main() -> int:
    """Add the cases that a file describes, and print their ids; return 1 if one of them is refused."""
    parser = ArgumentParser(
        prog="python -m tests.authoring", description="write new golden cases and freeze them"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    adding = commands.add_parser("add", help="add the cases that a file of code describes")
    adding.add_argument("file", type=Path, help="has a function `write(cases)`")
    try:
        lines = add(parser.parse_args().file)
    except AddError as error:
        print(error, "nothing was added", sep="\n", file=sys.stderr)
        return 1
    print(*lines, "written and frozen: delete the code that made them", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
