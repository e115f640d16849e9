#!/usr/bin/env python3
"""Fuzz iggy.poll-request as libFuzzer does: flags and folders of its own on the command line, no supervision.

WIREPROOF_ADAPTER names the codec (reference), WIREPROOF_REVISION the revision (the last),
WIREPROOF_FUZZ the folder of findings (wireproof-fuzz). `wireproof fuzz` supervises the same target.
"""

from wireproof.fuzz.plain import main

if __name__ == "__main__":
    main("iggy.poll-request")
