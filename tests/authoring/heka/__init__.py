"""The golden cases of Heka, a module for each topic.

Bytes come from the tables of heka.md (`documented_bytes`) or from named parts (`frame_bytes`).
"""
