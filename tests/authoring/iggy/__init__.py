"""The golden cases of Iggy, a module for each topic.

Where iggy.md §13 prints the bytes of a worked example, the case has the printed bytes, and a test compares the
parts that build the other cases with them (`worked_examples`).
"""
