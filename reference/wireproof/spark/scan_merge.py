"""Merge the results of all spans of a scan into its tables."""

from collections.abc import Iterator
from typing import Any

from wireproof import __version__
from wireproof.spark import damages, job_files, spanwise, tables, vectors
from wireproof.spark.scan_plan import ScanPlan


def merge_scan(plan: ScanPlan) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write the tables from the spans, which must all be committed; return `signatures` and `files`."""
    spanwise.tidy(plan.out)
    parts = [job_files.load_json(plan.commit_file(number)) for number in range(len(plan.spans))]
    signatures, files = tables.signatures(parts), list(tables.files(_files(plan, parts)))
    job_files.write_table(plan.out / "signatures.parquet", signatures, tables.SIGNATURES)
    job_files.write_table(plan.out / "samples.parquet", tables.samples(parts, plan.most), tables.SAMPLES)
    job_files.write_table(plan.out / "matrix.parquet", vectors.matrix(parts), vectors.MATRIX)
    job_files.write_table(plan.out / "positions.parquet", _positions(plan, parts), vectors.POSITIONS)
    job_files.write_table(plan.out / "damage.parquet", _damage(plan, parts), damages.DAMAGE)
    skipped = [{"path": each.display_name, "size": each.size, "why": each.reason} for each in plan.skipped]
    job_files.write_table(plan.out / "skipped.parquet", skipped, tables.SKIPPED)
    job_files.write_table(plan.out / "files.parquet", files, tables.FILES)
    job_files.write_table(plan.out / "run.parquet", [_manifest(plan)], tables.RUN)
    return signatures, files


def _names(plan: ScanPlan) -> list[str]:
    return [span.place.display_name for span in plan.spans]


def _positions(plan: ScanPlan, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return vectors.positions(list(zip(_names(plan), parts, strict=True)))


def _damage(plan: ScanPlan, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return damages.rows(zip(_names(plan), (part["damages"] for part in parts), strict=True))


def _files(plan: ScanPlan, parts: list[dict[str, Any]]) -> Iterator[tuple[str, int, bool, dict[str, Any]]]:
    for span, part in zip(plan.spans, parts, strict=True):
        yield span.place.display_name, span.place.size, span.place.compression is not None, part


def _manifest(plan: ScanPlan) -> dict[str, Any]:
    options = {key: text for key, text in plan.options.items() if key not in {"keys", "path", "paths"}}
    return {
        "version": __version__,
        "source": plan.name,
        "options": sorted(f"{key}={text}" for key, text in options.items()),
        "adapters": list(plan.adapters),
        "spans": len(plan.spans),
        "objects": len({span.place for span in plan.spans}),
        "bytes": sum(span.end - span.start for span in plan.spans),
    }
