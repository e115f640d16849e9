"""Bugs of released Kafka clients, repeated: 38 of a public list, drawn at random and not by the cases.

The draw took one bug of each project and then others. Bugs that no entry and no log can show were left out.
"""

from typing import Final

from tests.mutants.history_kafka_compression import COMPRESSION
from tests.mutants.history_kafka_logs import LOGS
from tests.mutants.history_kafka_reading import READING, KafkaBug
from tests.mutants.history_kafka_writing import WRITING

MUTANTS: Final[dict[str, type[KafkaBug]]] = {
    cls.name: cls for cls in (*READING, *LOGS, *COMPRESSION, *WRITING)
}
