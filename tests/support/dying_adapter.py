"""An adapter that dies at its first request and does not start again.

`dying_adapter.py FILE`: the presence of FILE means that it was started before.
"""

import json
import sys
from pathlib import Path

MARK = Path(sys.argv[1])
if MARK.exists():
    sys.exit("not a second time")
MARK.touch()
CLAIM = {"ops": ["decode"]}
HELLO = {"protocol": 1, "name": "dying", "version": "1", "revisions": {"iggy.identifier/0.0.30": CLAIM}}
sys.stdin.readline()
sys.stdout.write(json.dumps({"hello": HELLO}) + "\n")
sys.stdout.flush()
sys.stdin.readline()
sys.exit(3)
