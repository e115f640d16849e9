"""A campaign as Spark runs it: in one task and in three, to the same tables."""

import hashlib
from pathlib import Path

import pytest

from tests.mutants.registry import spec_of
from wireproof.cases.seeded_examples import SeededCases
from wireproof.spark import campaign_job
from wireproof.spark.campaign_job import CampaignPlan

pytestmark = pytest.mark.spark


def planned(out: Path) -> CampaignPlan:
    numbered = SeededCases(("kafka.batch/v2",), ("decode",), 1)
    return campaign_job.plan_campaign(numbered, [spec_of("mutant:crc-skip")], 90, out, grain=30)


def digests(out: Path) -> dict[str, str]:
    files = [path for path in out.rglob("*") if path.is_file()]
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.usefixtures("spark")
def test_a_campaign_in_three_tasks_gives_the_bytes_of_one_and_goes_on_where_it_was(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    one = campaign_job.run_campaign(planned(tmp_path / "1"), None, lambda *now: told.append(now[:2]), tasks=1)
    planned(tmp_path / "3").run_span(1)
    three = campaign_job.run_campaign(planned(tmp_path / "3"), None, lambda *_: None, tasks=3)
    assert (one.cases, three.cases) == (90, 60)
    assert told[-1] == (90, 90)
    assert "fail:wrong-accept" in {row["kind"] for row in one.signatures}
    assert (one.signatures, one.samples) == (three.signatures, three.samples)
    assert digests(tmp_path / "1") == digests(tmp_path / "3")
    assert campaign_job.run_campaign(planned(tmp_path / "1"), None, lambda *_: None).cases == 0, (
        "nothing is left to do"
    )
