"""Writes the golden cases of Iggy. Run: `python tests/authoring/iggy.py`.

Where iggy.md §13 prints the bytes of a worked example, the case holds the printed ones; the parts that
build the other cases are held to them by tests/unit/test_iggy_worked.py.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import iggy_json
import iggy_log
import iggy_poll
import iggy_send
import iggy_small
from book import Book

if __name__ == "__main__":
    book = Book()
    for chapter in (iggy_small, iggy_send, iggy_poll, iggy_log, iggy_json):
        chapter.write(book)
    book.write()
    sys.stdout.write(f"{len(book.cases)} cases\n")
