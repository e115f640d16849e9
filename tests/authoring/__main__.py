"""Write the golden cases of all systems, or of those that are named."""

import sys

from tests.authoring.heka.witnesses import add_witnesses
from tests.authoring.systems import SYSTEMS, cases_of


def main(systems: list[str]) -> None:
    """Write the fixtures of each system, and print how many cases it has."""
    for system in systems or SYSTEMS:
        writer = cases_of(system)
        witnesses = add_witnesses(writer) if system == "heka" else {}
        writer.write()
        print(
            f"{system}: {len(writer.cases)} cases", *(f"{name} {count}" for name, count in witnesses.items())
        )


if __name__ == "__main__":
    main(sys.argv[1:])
