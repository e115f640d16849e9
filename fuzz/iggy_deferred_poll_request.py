#!/usr/bin/env python3
"""Fuzz iggy.deferred-poll-request with libFuzzer's own flags, without a supervisor; see README.md."""

from wireproof.fuzz.standalone import main

if __name__ == "__main__":
    main("iggy.deferred-poll-request")
