"""Writes the golden cases of Kafka. Run: `python tests/authoring/kafka.py`.

Each case names the vector of kafka.md §7 that it builds; where §6 prints the bytes of that vector, they
are compared with the printed ones (`WORKED`), so that the builder itself is held to the rule book.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import kafka_brink
import kafka_corners
import kafka_delivered
import kafka_edges
import kafka_encode
import kafka_legacy
import kafka_log
import kafka_order
import kafka_packed
import kafka_produce
import kafka_reports
import kafka_v2
import kafka_vectors
import kafka_vectors_old
import kafka_worked
from book import Book

if __name__ == "__main__":
    book = Book()
    for chapter in (
        kafka_v2,
        kafka_packed,
        kafka_legacy,
        kafka_log,
        kafka_worked,
        kafka_encode,
        kafka_edges,
        kafka_brink,
        kafka_corners,
        kafka_vectors,
        kafka_vectors_old,
        kafka_produce,
        kafka_delivered,
        kafka_reports,
        kafka_order,
    ):
        chapter.write(book)
    book.write()
    print(len(book.cases), "cases")
