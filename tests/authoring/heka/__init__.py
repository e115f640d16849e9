"""Writes the golden cases of Heka. Run: `python tests/authoring/heka.py`.

Bytes come from the tables of heka.md (`heka_rulebook`) or from named parts (`heka_parts`); protobuf is run
on every plain message and named where it agrees (`heka_witness`).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import heka_brink
import heka_bugs
import heka_corners
import heka_encode
import heka_message
import heka_scan
import heka_signed
import heka_stream
from book import Book
from heka_parts import witness

if __name__ == "__main__":
    book = Book()
    for chapter in (
        heka_message,
        heka_stream,
        heka_signed,
        heka_scan,
        heka_encode,
        heka_brink,
        heka_corners,
        heka_bugs,
    ):
        chapter.write(book)
    counts = witness(book)
    book.write()
    sys.stdout.write(f"{len(book.cases)} cases; {counts}\n")
