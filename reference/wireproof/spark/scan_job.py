"""Run a scan: archives in, tables of verdicts out.

A task reads, checks and writes its spans itself; only one row for each span goes through Spark. The output of
a span depends only on the span, so a scan that was interrupted continues and gives the same tables.
"""

import time
from functools import partial
from typing import Any

from attrs import frozen

from wireproof.spark import checkpointed_job
from wireproof.spark.cluster_env import ClusterEnv
from wireproof.spark.scan_merge import merge_scan
from wireproof.spark.scan_plan import ScanPlan
from wireproof.spark.scan_span import scan_span


@frozen
class ScanSummary:
    """The result of a scan: its tables `signatures` and `files` in memory, and what this run did.

    Attributes:
        signatures, files: the rows of the tables.
        seconds: the duration of this run.
        spans: the spans that this run scanned.
    """

    signatures: list[dict[str, Any]]
    files: list[dict[str, Any]]
    seconds: float
    spans: int


def run_scan(
    plan: ScanPlan, cluster: ClusterEnv | str | None, progress: checkpointed_job.Progress
) -> ScanSummary:
    """Scan the remaining spans, then merge the tables.

    Args:
        plan: from `plan_scan`.
        cluster: where the scan runs; a string is the master of Spark, None is all cores of this machine.
        progress: receives the bytes done and the total bytes, a few times a second.

    Raises:
        SourceError: an object changed, or Java was not found.
    """
    start, remaining = time.monotonic(), plan.remaining
    if remaining:
        checkpointed_job.run_on_spark(plan, partial(scan_span, plan), cluster, progress)
    checkpointed_job.report_progress(plan, progress, checkpointed_job.TaskCounts(phase="joining the tables"))
    signatures, files = merge_scan(plan)
    return ScanSummary(signatures, files, time.monotonic() - start, len(remaining))
