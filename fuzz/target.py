#!/usr/bin/env python3
"""Fuzz a codec with libFuzzer's own flags and folders, without a campaign; see README.md."""

from wireproof.fuzz.standalone import main

if __name__ == "__main__":
    main()
