"""Take the picture of the page that the README shows, from the page of a real run.

    wireproof check kafka-python aiokafka kio --no-families --html page.html
    PYTHONPATH=tests/support .venv/bin/python tests/browser/picture.py page.html reference/docs/page.webp

It is the page down to the end of the table of uses, in a window of 1200 pixels.
"""

import base64
import sys
import tempfile
from pathlib import Path

from chromium import Chromium

WIDTH = 1200
MARGIN = 16
READY = "document.documentElement?.dataset.ready"
END = "document.querySelector('#uses').getBoundingClientRect().bottom + scrollY"


def take(page: Path, picture: Path) -> None:
    with tempfile.TemporaryDirectory() as room, Chromium(Path(room)) as browser:
        browser.look(WIDTH, WIDTH)
        browser.open(page.absolute(), READY)
        browser.look(WIDTH, int(browser.run(END)) + MARGIN)
        # WebP of the highest quality has no loss, and takes two thirds of a PNG.
        taken = browser.ask("Page.captureScreenshot", format="webp", quality=100)
        picture.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    take(*map(Path, sys.argv[1:]))
