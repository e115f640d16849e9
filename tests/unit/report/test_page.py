"""The page in a browser: read, filtered, opened, followed to the marked byte; wide, small, dark, on paper.

`PAGE_PICTURES=DIR` keeps what it looks like.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve
from chromium import Chromium
from goldens import load
from machine import needs
from small_runs import RUN, stream

from wireproof.cases.case import Reject
from wireproof.cases.fixtures import Suite
from wireproof.judge.verdicts import Verdict
from wireproof.report.html import html
from wireproof.report.matrix import Page
from wireproof.report.uses import uses_of
from wireproof.run.baselines.baseline import AppliedBaseline, Overlay
from wireproof.run.case_lookup import CaseLookup
from wireproof.run.events import CaseEvent, case_event

UNFOLD = "document.getElementById('matrix-fold').open = true"
READY = "document.documentElement?.dataset.ready"
NAME = "kafka.batch/v2/crc/ieee"
MIB = 1 << 20
MOST_ELEMENTS = 5000
"""Of a page at any moment; 2,000 rows of 12 columns would be more than 24,000."""

pytestmark = [pytest.mark.browser, needs("chromium")]


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """A browser without a network."""
    with Chromium(tmp_path_factory.mktemp("chromium")) as one:
        one.ask("Network.enable")
        none = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        one.ask("Network.emulateNetworkConditions", offline=True, **none)
        yield one


FAMILIES = ("cut", "flip", "sealed")
COLUMNS = 12
KNOWN = 5
"""The implementation whose baseline expects every failure but one."""


def events(suite: Suite, column: int) -> Iterator[CaseEvent]:
    """A run of every Kafka case and some families: each has a fault of its own in one of the columns."""
    seq = 0
    for number, case in enumerate(one for one in suite.cases if one.format.startswith("kafka.")):
        refused = isinstance(case.expect, Reject)
        at = case.expect.at if isinstance(case.expect, Reject) else None
        for family in (None, *([] if refused else FAMILIES)):
            kind, path = ("wrong-accept" if refused else "wrong-value"), f"f{seq}"
            bad = Verdict("fail", kind, path=path, at=at, want="refuse", got=f"accept, by {column}")
            wrong = number % COLUMNS == column or case.id == NAME
            event = case_event(seq, case, bad if wrong else Verdict("pass", "canonical"))
            yield event if family is None else evolve(event, id=f"{case.id}~{family}:1", twin="")
            seq += 1


@pytest.fixture(scope="module")
def page(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve implementations, each with faults of its own: 2,000 rows, of which none folds."""
    runs = [
        stream(*events(suite, number), run=evolve(RUN, adapter=f"peer-{number}", spec=f"peer-{number}"))
        for number in range(COLUMNS)
    ]
    known: dict[str, Overlay] = {event.id: "expected" for event in runs[KNOWN].cases if event.id != NAME}
    baselines = [AppliedBaseline(known if number == KNOWN else {}) for number in range(COLUMNS)]
    sources, uses = suite.sources, uses_of(suite, ["kafka"])
    made = Page("Twelve", CaseLookup(suite).case, suite.by_id, suite.rules, sources, uses)
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(html(runs, made, baselines), encoding="utf-8")
    return file


def picture(browser: Chromium, name: str) -> None:
    if folder := os.environ.get("PAGE_PICTURES"):
        browser.picture(Path(folder) / f"{name}.png")


def test_a_person_filters_opens_a_case_and_reads_the_marked_byte(browser: Chromium, page: Path) -> None:
    browser.look(1600, 1000)
    browser.open(page, READY)
    picture(browser, "wide")
    assert not browser.run("document.getElementById('matrix-fold').open"), "the answer is above the matrix"
    browser.press("/")
    browser.write(NAME)
    browser.wait("document.querySelectorAll('tr.row').length === 1")
    browser.run("document.querySelector('tr.row button').focus()")
    browser.press("ArrowRight", "ArrowRight", "Enter")
    browser.wait("document.getElementById('case').open")
    picture(browser, "wide-case")
    assert browser.run("document.getElementById('name').textContent") == NAME
    marked = browser.run("[...document.querySelectorAll('.bytes mark')].map((one) => one.textContent)")
    assert marked == ["86", "c4", "3e", "43"]
    assert browser.run("document.querySelector('.tree .here').textContent").split()[:3] == ["17", "4", "crc"]
    text = browser.run("document.getElementById('detail').textContent")
    for part in (
        "The stored CRC equals the CRC-32C",
        "two-records",
        "refuse crc-mismatch at 17",
        "accept, by 3",
    ):
        assert part in text, part
    replayed = browser.run("document.querySelector('.replay code').textContent")
    assert replayed == f"wireproof replay {NAME} peer-1"
    browser.press("Escape")
    browser.wait("!document.getElementById('case').open")


def test_the_verdicts_of_one_implementation_can_be_asked_for(browser: Chromium, page: Path) -> None:
    browser.open(page, READY)
    browser.run(UNFOLD)
    every = browser.run("document.getElementById('shown').textContent")
    browser.run(
        "who.value = '3'; verdict.value = 'fail:wrong-accept'; verdict.dispatchEvent(new Event('input'))"
    )
    assert browser.run("document.getElementById('shown').textContent") != every
    column = "[...document.querySelectorAll('tr.row')].map((row) => row.cells[4].textContent)"
    assert set(browser.run(column)) == {"✗ accept"}
    browser.run(
        "verdict.value = who.value = ''; secure.checked = true; secure.dispatchEvent(new Event('input'))"
    )
    flags = browser.run(
        "[...document.querySelectorAll('tr.row')].map((row) => Boolean(row.querySelector('.flag')))"
    )
    assert len(flags) > 2
    assert all(flags)


def test_a_full_page_is_small_and_usable_at_once(browser: Chromium, page: Path) -> None:
    """12 columns and 2,000 rows are under 10 MB, and what is drawn at a time is a small part of them."""
    assert page.stat().st_size < 10 * MIB
    browser.open(page, READY)
    elements = "document.querySelectorAll('*').length"
    assert browser.run(elements) < MOST_ELEMENTS
    rows = browser.run("document.getElementById('shown').textContent")
    assert int(rows.split()[0]) >= 2000, rows
    browser.run(UNFOLD)
    scroller = "document.querySelector('.matrix')"
    for _ in range(3):
        before = browser.run("document.querySelectorAll('tr.row').length")
        browser.run(f"{scroller}.scrollTop = {scroller}.scrollHeight")
        browser.wait(f"document.querySelectorAll('tr.row').length > {before}")
    browser.run("document.getElementById('filter').value = 'crc'; filter.dispatchEvent(new Event('input'))")
    assert browser.run(elements) < MOST_ELEMENTS


def test_a_phone_and_the_dark_show_the_same(browser: Chromium, page: Path) -> None:
    browser.look(390, 844)
    browser.open(Path(f"{page}"), READY)
    picture(browser, "phone")
    assert browser.run("document.documentElement.scrollWidth") <= 390, "nothing stands out at the right"
    cells = "[...document.querySelectorAll('.results *')]"
    cut = f"{cells}.some((one) => one.getBoundingClientRect().right > innerWidth)"
    assert not browser.run(cut), "a row of the answer is a block, and nothing is cut"
    browser.run(UNFOLD)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    browser.run(f"location.hash = '#{NAME}'")
    browser.wait("document.getElementById('case').open")
    picture(browser, "phone-case")
    assert browser.run("document.getElementById('case').scrollWidth") <= 390
    light = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.look(1600, 1000, dark=True)
    picture(browser, "dark-case")
    assert browser.run("getComputedStyle(document.body).backgroundColor") != light
    browser.run("document.getElementById('case').close()")
    picture(browser, "dark")


def test_the_answer_is_above_everything_else(browser: Chromium, page: Path) -> None:
    browser.look(1400, 900)
    browser.open(page, READY)
    parts = browser.run("[...document.querySelectorAll('section')].map((one) => one.id)")
    assert parts == ["uses", "topics", "findings", "all", "about"]
    boxes = browser.run("[...document.querySelectorAll('#uses .card h4')].map((one) => one.textContent)")
    assert boxes[0] == "Read plain topics"
    for selector, least in (
        ("#uses .chip.fails", 12),
        ("#uses .bar-box i.good", 12),
        ("#uses .answers li", 12),
    ):
        assert browser.run(f"document.querySelectorAll('{selector}').length") >= least, selector
    widths = (
        "[...document.querySelector('.bar-box').children].map((one) => one.getBoundingClientRect().width)"
    )
    assert len(browser.run(widths)) > 1
    assert min(browser.run(widths)) > 0
    assert browser.run("performance.getEntriesByType('resource').length") == 0, "nothing is fetched"
    text = browser.run("document.body.innerText")
    assert "Read plain topics" in text
    assert "is not safe as a Kafka consumer" not in text, "24 sentences are folded"
    browser.run("document.querySelector('#uses details').open = true")
    assert "peer-0 1.2 is not safe as a Kafka consumer: it " in browser.run("document.body.innerText")


def test_a_number_of_the_heat_map_shows_its_cases(browser: Chromium, page: Path) -> None:
    browser.open(page, READY)
    button = "document.querySelector('.heat button[data-who=\"3\"]')"
    browser.run(f"window.words = {button}.dataset.words; window.number = Number({button}.textContent)")
    browser.run(f"{button}.click()")
    topics = browser.run("[...document.querySelectorAll('tr.head th')].map((one) => one.textContent)")
    assert topics == [browser.run("words")]
    cells = browser.run("[...document.querySelectorAll('tr.row')].map((row) => row.cells[4].className)")
    assert len(cells) >= browser.run("number") > 0
    assert set(cells) == {"bad"}


def test_a_finding_and_the_name_of_a_set_lead_to_what_they_name(browser: Chromium, page: Path) -> None:
    browser.open(page, READY)
    browser.run("document.querySelector('.findings .title').click()")
    browser.wait("document.getElementById('case').open")
    row = browser.run("document.querySelector('.findings code').textContent")
    assert browser.run("decodeURI(location.hash)") == f"#{row}"
    browser.press("Escape")
    browser.wait("location.hash === ''")  # the page takes it back once the dialog has closed
    browser.run("document.querySelector('.results thead a').click()")
    browser.wait("document.querySelector('#about details').open")
    assert browser.run("decodeURIComponent(location.hash)") == "#2026.12:kafka-consumer-1"


def test_a_known_failure_is_marked_and_can_be_left_out(browser: Chromium, page: Path) -> None:
    browser.open(page, READY)
    column = KNOWN + 1
    browser.run(f"filter.value = 'kafka.batch/v2/crc/'; who.value = '{KNOWN}'; verdict.value = 'loud'")
    browser.run("verdict.dispatchEvent(new Event('input'))")
    style = f"[...document.querySelectorAll('tr.row')].map((row) => row.cells[{column}].className)"
    assert set(browser.run(style)) == {"bad known", "bad"}
    browser.run("verdict.value = 'new'; verdict.dispatchEvent(new Event('input'))")
    assert set(browser.run(style)) == {"bad"}
    assert browser.run("document.querySelector('tr.row button').textContent") == NAME.rpartition("/")[2]
    assert browser.run("document.querySelectorAll('.heat td.known').length") > 0


def test_what_is_compressed_is_compared_where_it_is_unpacked(browser: Chromium, page: Path) -> None:
    """Of an inner size that is wrong, the size and what depends on it are marked, and not the gzip stream."""
    browser.open(page, READY)
    browser.run("location.hash = '#kafka.batch/v1/wrapper/inner-size-minus-12'")
    browser.wait("document.getElementById('case').open")
    heads = browser.run("[...document.querySelectorAll('.pair h3')].map((one) => one.textContent)")
    assert heads[2].endswith("inner-size-minus-12, unpacked from byte 34")
    differs = "(n) => [...document.querySelectorAll('.bytes')[n].querySelectorAll('.differs')].length"
    assert 0 < browser.run(f"({differs})(0)") < 12
    marked = (
        "[...document.querySelectorAll('.bytes')[2].querySelectorAll('mark')].map((one) => one.textContent)"
    )
    assert browser.run(marked) == ["ff", "ff", "ff", "f4"]


def test_on_paper_the_answer_is_whole_and_what_needs_a_screen_is_not_there(
    browser: Chromium, page: Path
) -> None:
    browser.open(page, READY)
    browser.ask("Emulation.setEmulatedMedia", media="print")
    shown = "(id) => document.getElementById(id).getBoundingClientRect().height > 0"
    seen = {name: browser.run(f"({shown})('{name}')") for name in ("uses", "topics", "findings", "all")}
    browser.ask("Emulation.setEmulatedMedia", media="")
    assert seen == {"uses": True, "topics": True, "findings": True, "all": False}
