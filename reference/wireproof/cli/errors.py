"""The table of the exit code of each error, so that no error that a user can cause is a traceback.

It contains the names of the classes and imports none of them: every verb needs the table, and the imports
would load every package.
"""

from typing import Final

from wireproof.runner.exit_codes import Exit

TABLE: Final[dict[str, Exit]] = {
    "wireproof.adapters.errors:UnknownAdapter": Exit.USAGE,
    "wireproof.adapters.errors:AdapterFileError": Exit.SUITE,
    "wireproof.adapters.errors:MessageError": Exit.ADAPTER,
    "wireproof.adapters.errors:AdapterError": Exit.ADAPTER,
    "wireproof.adapters.templates:TemplateError": Exit.USAGE,
    "wireproof.cases.fixtures:FixtureError": Exit.SUITE,
    "wireproof.cases.id_patterns:PatternError": Exit.USAGE,
    "wireproof.cases.requirements:RequirementError": Exit.USAGE,
    "wireproof.cases.redact:RedactionError": Exit.USAGE,
    "wireproof.cases.token:TokenError": Exit.USAGE,
    "wireproof.formats:UnknownFormat": Exit.USAGE,
    "wireproof.fuzz.findings:FindingError": Exit.USAGE,
    "wireproof.fuzz.promote:PromotionError": Exit.USAGE,
    "wireproof.fuzz.shrink:NothingToShrinkError": Exit.USAGE,
    "wireproof.report.export_diff:ExportDiffError": Exit.USAGE,
    "wireproof.spark.errors:JavaEndedError": Exit.ADAPTER,
    "wireproof.spark.errors:SourceError": Exit.USAGE,
    "wireproof.runner.known_failures:BaselineError": Exit.USAGE,
    "wireproof.segment_files:IndexFileError": Exit.USAGE,
    "wireproof.runner.events:EventError": Exit.USAGE,
    "wireproof.cases.seeded_examples:PropertyError": Exit.USAGE,
    "builtins:OSError": Exit.USAGE,
}
"""Exit codes by module and class: a missing file is a usage error, a broken fixture a fault of the suite."""


def exit_of(error: Exception) -> Exit | None:
    """Return the exit code of an error's nearest class; None for a bug of the suite (print a traceback)."""
    names = (f"{kind.__module__}:{kind.__qualname__}" for kind in type(error).__mro__)
    return next((TABLE[name] for name in names if name in TABLE), None)
