"""live-servers.md follows a case with steps by hand: it prints what `show` prints, and what is sent."""

import re

from documentation import text_of
from goldens import load

from wireproof.cases.case import Steps
from wireproof.kafka.family.live_broker.requests import ProducerIds
from wireproof.kafka.family.live_broker.step_requests import produce_request
from wireproof.kafka.family.live_broker.topics import Partition
from wireproof.report.case_view import step_lines

SECTION = text_of("live-servers.md").partition("### One case followed by hand")[2].partition("\n## ")[0]
CASE = load().by_id["kafka.log/mixed/transaction/abort"]


def block(number: int) -> str:
    return re.findall(r"```\n(.*?)```", SECTION, re.DOTALL)[number]


def test_the_steps_are_those_that_show_prints() -> None:
    assert block(0).splitlines() == list(step_lines(CASE))


def test_the_bytes_are_those_of_the_fixture_and_of_the_request() -> None:
    assert isinstance(CASE.input, Steps)
    data = CASE.input.steps[2].data
    assert data is not None
    assert block(1).strip() == data.hex()
    ids = ProducerIds()
    ids.learn(7001, 21)
    partition = Partition("wireproof-5c1f-2", None, 0, 1, 0)
    request = produce_request(partition, ids.in_bytes(data), "wireproof-5c1f-1-a")
    request.API_VERSION = 11
    request.with_header(correlation_id=7, client_id="wireproof")
    lines = [re.split(r"  +", line.strip())[0] for line in block(2).splitlines()]
    assert bytes.fromhex("".join(lines)) == request.encode(header=True, framed=True)
