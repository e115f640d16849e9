"""One adapter with a script of faults, as a real process: `python scripted_adapter.py FAULT`.

It reads numeric Iggy identifiers and speaks JSON lines with code of its own. A fault of `BOOMS` comes with
the greatest number; one of `ALWAYS` with every request; one of `HELLOS` and `GREETINGS` with the hello.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable

Head = dict[str, object]
BOOM = "0104ffffffff"
ESCAPES = "\x1b[31mred\x07\n::error file=x::pwned\n\x9b2J\u202egnp.exe"


def write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def say(head: Head) -> None:
    write(json.dumps(head).encode() + b"\n")


def right(ask: Head) -> Head:
    data = bytes.fromhex(ask["hex"])
    if data[:2] == b"\x01\x04" and len(data) >= 6:
        value = {"kind": "numeric", "value": data[2:6].hex()}
        return {"id": ask["id"], "outcome": "accepted", "value": value, "consumed": 6}
    return {"id": ask["id"], "outcome": "refused", "class": "bad-length" if len(data) > 5 else "truncated"}


def wrong(ask: Head, **more: object) -> None:
    say(right(ask) | more)


def raw(text: str) -> Callable[[Head], None]:
    """Return a line, in which `ID` is replaced by the id."""
    return lambda ask: write(text.replace("ID", ask["id"]).encode("utf-8", "surrogatepass") + b"\n")


def refusal(**more: object) -> Callable[[Head], None]:
    return lambda ask: say({"id": ask["id"], "outcome": "refused"} | more)


def accepted(**more: object) -> Callable[[Head], None]:
    return lambda ask: wrong(ask, **more)


# --- silence ---


def hang(_: Head) -> None:
    time.sleep(3600)


def half_a_line(_: Head) -> None:
    write(b'{"id": "')
    hang({})


def drip(_: Head) -> None:
    while True:
        write(b" ")
        time.sleep(0.02)


def blank_lines(_: Head) -> None:
    while True:
        write(b"\n" * 1000)
        time.sleep(0.001)


def stops_itself(_: Head) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def stops_its_group(_: Head) -> None:
    os.kill(0, signal.SIGSTOP)


def closes_stdin(_: Head) -> None:
    os.close(0)
    hang({})


# --- ends ---


def dies(number: int) -> Callable[[Head], None]:
    return lambda _: os.kill(os.getpid(), number)


def leaves(code: int) -> Callable[[Head], None]:
    return lambda _: os._exit(code)


def last_words(_: Head) -> None:
    os.write(2, ESCAPES.encode())
    os._exit(1)


def closes_stdout(_: Head) -> None:
    os.close(1)
    hang({})


def kills_its_parent(_: Head) -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    hang({})


def child(*, session: bool = False, daemon: bool = False) -> None:
    """Leave a process behind that holds every pipe."""
    if os.fork() == 0:
        if session:
            os.setsid()
        if daemon and os.fork():
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        hang({})


def orphan(ask: Head) -> None:
    child()
    leaves(0)(ask)


def orphan_in_a_session(ask: Head) -> None:
    child(session=True)
    leaves(0)(ask)


def daemon(ask: Head) -> None:
    child(session=True, daemon=True)
    wrong(ask)


def many_children(ask: Head) -> None:
    for _ in range(20):
        child(session=True)
    wrong(ask)


COUNT = iter(range(1 << 30))


def refuses_once(ask: Head) -> None:
    """Refuse the first time, and answer later."""
    (wrong if next(COUNT) else refusal(**{"class": "other"}))(ask)


def hangs_later(ask: Head) -> None:
    """Answer thirty requests, then leave processes behind in every way and hang."""
    if next(COUNT) < 30:
        wrong(ask)
        return
    child()
    child(session=True, daemon=True)
    hang(ask)


# --- noise ---


def garbage_first(ask: Head) -> None:
    write(b"DEBUG got it\n")
    wrong(ask)


def garbage_behind(ask: Head) -> None:
    wrong(ask)
    write(b"DEBUG done\n")


def twice(ask: Head) -> None:
    wrong(ask)
    wrong(ask)


LATE: list[Head] = []


def twice_but_late(ask: Head) -> None:
    wrong(ask)
    LATE.append(ask)


def stderr_flood(ask: Head) -> None:
    os.write(2, ESCAPES.encode())
    for _ in range(64):
        os.write(2, b"E" * (1 << 16))
    wrong(ask)


# --- sizes ---


def many_lists(ask: Head) -> None:
    write(b'{"id":"%s","outcome":"accepted","value":[%s[]]}\n' % (ask["id"].encode(), b"[]," * 6_000_000))


def many_lists_in_bounds(ask: Head) -> None:
    write(b'{"id":"%s","outcome":"accepted","value":[%s[]]}\n' % (ask["id"].encode(), b"[]," * 1_000_000))


def long_text(ask: Head) -> None:
    write(b'{"id":"%s","outcome":"accepted","value":"%s"}\n' % (ask["id"].encode(), b"x" * 40_000_000))


def endless_line(_: Head) -> None:
    while True:
        write(b"x" * (1 << 20))


BOOMS: dict[str, Callable[[Head], None]] = {
    fault.__name__.replace("_", "-"): fault
    for fault in (
        *(hang, half_a_line, drip, blank_lines, stops_itself, stops_its_group, closes_stdin, last_words),
        *(closes_stdout, kills_its_parent, orphan, orphan_in_a_session, daemon, many_children, garbage_first),
        *(garbage_behind, twice, twice_but_late, stderr_flood, many_lists, many_lists_in_bounds, long_text),
        *(endless_line, refuses_once),
    )
}
BOOMS |= {
    "segfault": dies(signal.SIGSEGV),
    "exit-0": leaves(0),
    "garbage": raw("Segmentation of input"),
    "wrong-id": accepted(id="nobody"),
    "int-id": accepted(id=7),
    "no-object": raw("[1]"),
    "not-utf-8": lambda _: write(b'{"id": "\xff"}\n'),
    "surrogate": raw('{"id": "ID", "outcome": "unsupported", "text": "\\ud800"}'),
    "deep": raw('{"id": "ID", "outcome": "accepted", "value": ' + "[" * 100_000 + "]" * 100_000 + "}"),
    "long-number": raw('{"id": "ID", "outcome": "accepted", "value": ' + "9" * 6000 + "}"),
    "long-float": raw('{"id": "ID", "outcome": "accepted", "value": 1.' + "9" * 2_000_000 + "}"),
    "long-class": refusal(**{"class": "x" * 1_000_000}),
    "odd-class": refusal(**{"class": ESCAPES}),
    "far-position": refusal(at=10**40),
    "surplus-field": accepted(**{ESCAPES: 1}),
    "consumed-too-much": accepted(consumed=10**30),
    "bytes-for-a-value": lambda ask: say({"id": ask["id"], "outcome": "accepted", "hex": "00"}),
    "long-path": refusal(path="records[0]." * 200_000),
    "odd-path": refusal(path=ESCAPES, detail=ESCAPES),
    "odd-text": refusal(text=ESCAPES),
    "odd-field": accepted(value={"kind": "numeric", "value": "ffffffff", ESCAPES: "1"}),
    "long-field": accepted(value={"kind": "numeric", "value": "ffffffff", "x" * 2_000_000: "1"}),
    "odd-value": accepted(value={"kind": ESCAPES, "value": "ffffffff"}),
    "odd-remarks": accepted(remarks=[ESCAPES] * 1000),
    "long-digest": lambda ask: say({"id": ask["id"], "outcome": "accepted", "digest": "x" * 1_000_000}),
    "panic": lambda ask: say({"id": ask["id"], "outcome": "crashed", "text": f"panic: {ESCAPES}"}),
    "skips": lambda ask: say({"id": ask["id"], "outcome": "unsupported", "text": ESCAPES}),
    "faulty": lambda ask: say({"id": ask["id"], "outcome": "faulty", "text": ESCAPES}),
}

# --- from the start ---

CLAIM = {"iggy.identifier/0.0.30": {"ops": ["decode"]}}
HELLO: Head = {"protocol": 1, "name": "scripted", "version": "1", "window": 4, "revisions": CLAIM}
HELLOS: dict[str, Head] = {
    "window-10-30": {"window": 10**30},
    "name-escapes": {"name": ESCAPES, "version": ESCAPES},
    "name-long": {"name": "n" * 100_000},
    "name-10-mb": {"name": "n" * 10_000_000},
    "name-empty": {"name": "\n"},
    "name-dots": {"name": ".."},
    "claims-long": {"revisions": {"kafka.batch/v2": {"features": ["x" * 1000] * 1000}}},
    "claims-escapes": {"revisions": {ESCAPES: {"opps": []}}},
    "hello-surplus": {ESCAPES: 1},
    "protocol-9": {"protocol": 9},
}
ALWAYS = {
    "hangs-later": hangs_later,
    "hangs-always": hang,
    "falls-always": dies(signal.SIGSEGV),
    "prints-always": garbage_behind,
}


def greet(fault: str) -> None:
    """The hello, or what comes in its place."""
    if fault == "hello-hangs":
        child()
        child(session=True, daemon=True)
        hang({})
    if fault == "hello-dies":
        sys.exit(ESCAPES)
    if fault == "hello-noise":
        write(b"Welcome!\n")
    if fault == "hello-error":
        say({"hello": {"error": ESCAPES * 500}})
    if fault == "hello-endless":
        endless_line({})
    say({"hello": HELLO | HELLOS.get(fault, {})})


def main(fault: str) -> None:
    sys.stdin.readline()
    greet(fault)
    for line in sys.stdin:
        ask = json.loads(line)
        if LATE:
            wrong(LATE.pop())
        act = ALWAYS.get(fault) or (BOOMS.get(fault) if ask["hex"] == BOOM else None)
        (act or wrong)(ask)
    if fault == "stays":
        hang({})


if __name__ == "__main__":
    main(sys.argv[1])
