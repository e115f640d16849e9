"""Headless Chromium over its debugging pipe: opens a file, runs a line, presses keys, takes a picture.

The pipe (file descriptors 3 and 4, JSON that ends with a zero byte) needs no port, no driver and no library.
"""

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import cramjam
from folders import TESTS
from machine import CHROMIUM

from wireproof.files import cache_folder

PACKAGE = TESTS / "browser"
SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
SECONDS = 60


def program() -> str:
    """The browser of `CHROMIUM` or of the PATH, or else the one that npm brings."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    return found or str(_fetched())


def _fetched() -> Path:
    """The browser of the locked package, unpacked once into the user's cache; with it what it links to."""
    lock = (PACKAGE / "package-lock.json").read_bytes()
    home = cache_folder() / f"chromium-{hashlib.sha256(lock).hexdigest()[:12]}"
    if not (home / "chrome").exists():
        with tempfile.TemporaryDirectory() as room:
            shutil.copytree(PACKAGE, room, dirs_exist_ok=True)
            subprocess.run(
                ["npm", "ci", "--no-audit", "--no-fund"], cwd=room, check=True, capture_output=True
            )
            _unpack(Path(room) / "node_modules/@sparticuz/chromium/bin", home)
    return home / "chrome"


def _unpack(packed: Path, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    for name in ("al2023", "swiftshader"):
        data = bytes(cramjam.brotli.decompress((packed / f"{name}.tar.br").read_bytes()))
        with tarfile.open(fileobj=io.BytesIO(data)) as files:
            files.extractall(home, filter="data")
    own = home / "chromium"
    own.write_bytes(bytes(cramjam.brotli.decompress((packed / "chromium.br").read_bytes())))
    own.chmod(0o755)
    script = f'#!/bin/sh\nLD_LIBRARY_PATH="{home}/lib:{home}" exec "{own}" "$@"\n'
    new = home / "chrome.new"
    new.write_text(script, encoding="utf-8")
    new.chmod(0o755)
    new.replace(home / "chrome")  # last, and at once: whoever sees it sees all


class Chromium:
    """One browser with one page; a context manager."""

    def __init__(self, room: Path) -> None:
        """Start it with a profile of its own in `room`."""
        path = program()
        told, self._tell = os.pipe()
        self._hear, heard = os.pipe()
        self._number, self._rest = 0, b""

        def placed() -> None:
            ends = os.dup(told), os.dup(heard)  # neither may be in the place of the other
            for place, end in enumerate(ends, 3):
                os.dup2(end, place, inheritable=True)

        self._log = (room / "chromium.log").open("wb")
        self._process = subprocess.Popen(
            [path, *SWITCHES, f"--user-data-dir={room / 'profile'}"],
            preexec_fn=placed,  # noqa: PLW1509 - the two descriptors must be 3 and 4, and no thread runs yet
            close_fds=False, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
        )  # fmt: skip
        os.close(told)
        os.close(heard)
        self._session = ""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._tell)
        os.close(self._hear)
        self._log.close()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command; what happens meanwhile is not looked at."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._tell, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, answer["error"]
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._hear, 1 << 16)
            assert part, f"Chromium ended: {Path(self._log.name).read_text(errors='replace')[-2000:]}"
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found

    def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """The window's size in CSS pixels, and which colours its user likes."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", features=features)

    def open(self, file: Path, until: str) -> None:
        """Open a file and wait until an expression is true."""
        self.ask("Page.navigate", url=file.as_uri())
        self.wait(until)

    def wait(self, until: str) -> None:
        end = time.monotonic() + SECONDS
        while not self.run(until):
            assert time.monotonic() < end, f"not true in {SECONDS} s: {until}"
            time.sleep(0.02)

    def run(self, expression: str) -> Any:
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys, by their names in the DOM: `Enter`, `ArrowDown`, `/`."""
        for key in keys:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            code = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowRight": 39}.get(key, 0)
            more = {"key": key, "windowsVirtualKeyCode": code}
            self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **more)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **more)

    def write(self, text: str) -> None:
        """Text into what has the focus."""
        self.ask("Input.insertText", text=text)

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))
