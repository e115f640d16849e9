"""A target as libFuzzer itself knows one: its flags and folders on the command line, no supervision.

Merging, minimising and single inputs (`-set_cover_merge=1`, `-runs=0`, a file) are run so; so are the
scripts of the top-level folder `fuzz/`. What is fuzzed comes from the environment, which the processes that
libFuzzer starts inherit: WIREPROOF_ADAPTER (`reference`), WIREPROOF_FUZZ (the directory, `wireproof-fuzz`),
or WIREPROOF_LANE, a whole lane in JSON. libFuzzer starts itself again by its first argument when it
merges, so that must be a file that can be run: WIREPROOF_SELF, or the script.
"""

import json
import os
import sys

import cattrs

from wireproof.adapters.errors import AdapterError
from wireproof.formats import FORMATS
from wireproof.fuzz.child import FLAGS, native
from wireproof.fuzz.lane import Bench, Lane, Stand
from wireproof.fuzz.mutator import Mutator
from wireproof.fuzz.target import Target


def main(name: str = "") -> None:
    """Run libFuzzer on the format `name`, revision WIREPROOF_REVISION or its last; does not return."""
    lane = _lane(name)
    try:
        import atheris  # noqa: PLC0415 - an extra

        stand = Stand(Bench(lane), lane.rows[0])
        desk = stand.desk()
    except ImportError:
        sys.exit("fuzzing needs a further package: pip install 'wireproof[fuzz]'")
    except AdapterError as error:
        sys.exit(str(error))
    desk.clock.start()
    target, mutator = Target(desk), Mutator(stand.row, native, stand.inputs.keys)
    atheris.Setup(
        [os.environ.get("WIREPROOF_SELF", sys.argv[0]), *FLAGS, f"-dict={stand.words}", *sys.argv[1:]],
        target,
        custom_mutator=mutator.mutate,
        custom_crossover=mutator.cross,
    )
    atheris.Fuzz()


def _lane(name: str) -> Lane:
    told = os.environ.get("WIREPROOF_LANE")
    if told:
        return cattrs.structure(json.loads(told), Lane)
    revisions = [row.revision for row in FORMATS.values() if row.name == name]
    revision = os.environ.get("WIREPROOF_REVISION", revisions[-1])
    adapter = os.environ.get("WIREPROOF_ADAPTER", "reference")
    root = os.environ.get("WIREPROOF_FUZZ", "wireproof-fuzz")
    return Lane(adapter, (f"{name}/{revision}",), root, f"plain-{os.getpid()}", 0.0)


if __name__ == "__main__":
    main()
