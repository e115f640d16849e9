"""The golden cases of Kafka, a module for each topic.

Each case names the vector of kafka.md §7 that it builds. Where §6 prints the bytes of that vector, they are compared
with the printed ones (`WORKED`), so that the builder itself is checked against the document.
"""
