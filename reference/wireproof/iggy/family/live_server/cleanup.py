"""Remove the streams of a run: `python -m wireproof.iggy.family.live_server.cleanup SPEC TOKEN`.

It runs after the process of the adapter, however that ended, and prints one line if a stream is left.
"""

import sys

from wireproof.adapters.errors import AdapterError
from wireproof.iggy.family.live_server.cases import server_at
from wireproof.iggy.family.live_server.entry import address_of
from wireproof.iggy.family.live_server.server import PREFIX, RefusedError, read_properties
from wireproof.wire.safe_text import one_line


def main(arguments: list[str]) -> int:
    """Remove the streams; return 0 if none is left."""
    spec, token = arguments
    try:
        address = address_of(spec)
        left = server_at(address, read_properties(address.properties)).delete_streams(token)
    except (AdapterError, RefusedError, OSError) as error:
        return _report(f"streams named {PREFIX}{token}-… may be left: {one_line(str(error), 200)}")
    if not left:
        return 0
    return _report("streams left: " + ", ".join(f"{name} ({reason})" for name, reason in left.items()))


def _report(text: str) -> int:
    sys.stderr.write(f"{text}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
