"""Merge the results of all spans of a scan into its tables."""

from collections.abc import Iterator
from typing import Any

from wireproof import __version__
from wireproof.spark import checkpointed_job, damage_places, job_files, scan_tables, verdict_matrix
from wireproof.spark.scan_plan import ScanPlan


def merge_scan(plan: ScanPlan) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write the tables from the spans, which must all be committed; return `signatures` and `files`."""
    checkpointed_job.remove_partial_files(plan.out)
    parts = [job_files.load_json(plan.commit_file(number)) for number in plan.spans]
    signatures, files = (
        scan_tables.merge_signatures(parts),
        list(scan_tables.merge_files(_files(plan, parts))),
    )
    job_files.write_table(plan.out / "signatures.parquet", signatures, scan_tables.SIGNATURES)
    job_files.write_table(
        plan.out / "samples.parquet", scan_tables.merge_samples(parts, plan.most), scan_tables.SAMPLES
    )
    job_files.write_table(
        plan.out / "matrix.parquet", verdict_matrix.matrix_rows(parts), verdict_matrix.MATRIX
    )
    job_files.write_table(plan.out / "positions.parquet", _positions(plan, parts), verdict_matrix.POSITIONS)
    job_files.write_table(plan.out / "damage.parquet", _damage(plan, parts), damage_places.DAMAGE)
    skipped = [{"path": each.display_name, "size": each.size, "reason": each.reason} for each in plan.skipped]
    job_files.write_table(plan.out / "skipped.parquet", skipped, scan_tables.SKIPPED)
    job_files.write_table(plan.out / "files.parquet", files, scan_tables.FILES)
    job_files.write_table(plan.out / "run.parquet", [_manifest(plan)], scan_tables.RUN)
    return signatures, files


def _names(plan: ScanPlan) -> list[str]:
    return [span.place.display_name for span in plan.spans.values()]


def _positions(plan: ScanPlan, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return verdict_matrix.position_rows(list(zip(_names(plan), parts, strict=True)))


def _damage(plan: ScanPlan, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return damage_places.damage_rows(zip(_names(plan), (part["damages"] for part in parts), strict=True))


def _files(plan: ScanPlan, parts: list[dict[str, Any]]) -> Iterator[tuple[str, int, bool, dict[str, Any]]]:
    for span, part in zip(plan.spans.values(), parts, strict=True):
        yield span.place.display_name, span.place.size, span.place.compression is not None, part


def _manifest(plan: ScanPlan) -> dict[str, Any]:
    options = {key: text for key, text in plan.options.items() if key not in {"keys", "path", "paths"}}
    return {
        "version": __version__,
        "source": plan.name,
        "options": sorted(f"{key}={text}" for key, text in options.items()),
        "adapters": list(plan.adapters),
        "spans": len(plan.spans),
        "objects": len(plan.places),
        "bytes": sum(span.end - span.start for span in plan.spans.values()),
    }
