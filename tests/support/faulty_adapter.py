"""Adapters that misbehave on request, as real processes: `python faulty_adapter.py FAULT`.

They speak the frames of `exec:` with code of their own, so that a mistake shared with the suite's
framing shows. Each answers a decode with `{"hex": <the bytes>}` until its fault comes; a fault
comes with the bytes that bear its name.
"""

import json
import os
import signal
import struct
import sys
import time
from contextlib import suppress

Head = dict[str, object]
HELLO = {"protocol": 1, "name": "faulty", "version": "1", "window": 8}


def read_exactly(size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = os.read(0, size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def read() -> tuple[Head, bytes]:
    """One message: header, blob."""
    head = json.loads(read_exactly(struct.unpack(">I", read_exactly(4))[0]))
    sizes = head.get("blobs", [head["blob"]] if "blob" in head else [])
    return head, b"".join(read_exactly(size) for size in sizes)


def frame(head: Head) -> bytes:
    text = json.dumps(head).encode()
    return struct.pack(">I", len(text)) + text


def write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def accepted(head: Head, data: bytes, **more: object) -> Head:
    return {
        "id": head["id"],
        "outcome": "accepted",
        "value": {"hex": data.hex()},
        "consumed": len(data),
    } | more


def answer(head: Head, data: bytes) -> None:
    write(frame(accepted(head, data)))


# --- faults that wait for their bytes: each is called instead of `answer` ---


def hang(_head: Head, _data: bytes) -> None:
    time.sleep(3600)


def half_a_frame(head: Head, data: bytes) -> None:
    write(frame(accepted(head, data))[:20])
    time.sleep(3600)


def segfault(_head: Head, _data: bytes) -> None:
    os.write(2, b"about to fall\n")
    os.kill(os.getpid(), signal.SIGSEGV)


def exit_0(_head: Head, _data: bytes) -> None:
    os._exit(0)


def noise(head: Head, data: bytes) -> None:
    write(b"debug: got %d bytes\n" % len(data))
    answer(head, data)


def noise_after(head: Head, data: bytes) -> None:
    write(frame(accepted(head, data)) + b"Segmentation of input done\n")


def wrong_id(head: Head, data: bytes) -> None:
    answer({**head, "id": "no-such-id"}, data)


def no_id(_head: Head, _data: bytes) -> None:
    write(frame({"outcome": "accepted", "value": None}))


def repeated_id(head: Head, data: bytes) -> None:
    answer(head, data)
    answer(head, data)


def huge_frame(_head: Head, _data: bytes) -> None:
    write(struct.pack(">I", 0x7FFFFFFF) + b"{")
    time.sleep(3600)


def unknown_class(head: Head, _data: bytes) -> None:
    write(frame({"id": head["id"], "outcome": "refused", "class": "crc-mismtach"}))


def float_value(head: Head, data: bytes) -> None:
    write(frame(accepted(head, data, value={"x": 1.5})))


def unknown_outcome(head: Head, _data: bytes) -> None:
    write(frame({"id": head["id"], "outcome": "ok"}))


def eats_memory(_head: Head, _data: bytes) -> None:
    hoard = []
    while True:
        hoard.append(bytearray(b"x" * (1 << 20)))
        time.sleep(0.001)


def child_eats_memory(_head: Head, _data: bytes) -> None:
    if pid := os.fork():
        os.waitpid(pid, 0)
    hoard = bytearray(b"x" * (300 << 20))
    time.sleep(3600)
    del hoard


def needs_memory(head: Head, data: bytes) -> None:
    hoard = bytearray(b"x" * (64 << 20))
    answer(head, data[: len(hoard)])


def floods_stderr(head: Head, data: bytes) -> None:
    os.write(2, b"E" * (8 << 20))
    os.write(2, b"\nthe last line\n")
    answer(head, data)


def split_writes(head: Head, data: bytes) -> None:
    for byte in frame(accepted(head, data)):
        write(bytes([byte]))


def leaves_a_child(_head: Head, _data: bytes) -> None:
    if pid := os.fork():
        os.write(2, b"child %d\n" % pid)
        os._exit(3)
    time.sleep(3600)


def closes_stdout(_head: Head, _data: bytes) -> None:
    os.close(1)
    time.sleep(3600)


ON_BOOM = {
    fault.__name__.replace("_", "-"): fault
    for fault in (
        *(hang, half_a_frame, segfault, exit_0, noise, noise_after, wrong_id, no_id, repeated_id, huge_frame),
        *(unknown_class, float_value, unknown_outcome, eats_memory, child_eats_memory, needs_memory),
        *(floods_stderr, split_writes, leaves_a_child, closes_stdout),
    )
}

# --- faults of their own making ---


def obeys_bytes() -> None:
    """Answers, and does to a case what its bytes say; `count` gives the answers so far in this process."""
    count = 0
    while True:
        head, data = read()
        fault = ON_BOOM.get(data.decode("ascii", "replace"))
        if data == b"count":
            data = str(count).encode()
        (fault or answer)(head, data)
        count += 1


def exits_after_three() -> None:
    for _ in range(3):
        answer(*read())
    sys.exit(0)


def dies_at_hello() -> None:
    sys.exit("cannot find libfoo.so")


def backwards() -> None:
    """Answers a whole window in reverse order, and what follows at once."""
    waiting = []
    window = 8
    while True:
        waiting.append(read())
        if len(waiting) >= window:
            for head, data in reversed(waiting):
                answer(head, data)
            waiting, window = [], 1


def fails_to_start(log: str, *numbers: str) -> None:
    """Dies before its hello at the starts of these numbers, counted from 1 in the file `log`."""
    with open(log, "a+") as file:  # noqa: PTH123 - the shortest way to append and read
        file.write("x")
        file.seek(0)
        if str(len(file.read())) in numbers:
            sys.exit("port in use")


def started_again(log: str) -> bool:
    with open(log, "a+") as file:  # noqa: PTH123 - as above
        file.write("x")
        file.seek(0)
        return len(file.read()) > 1


def answers_late() -> None:
    """Answers its last request once more, half a second after its stdin has ended."""
    last = read()
    try:
        while True:
            answer(*last)
            last = read()
    except EOFError:
        time.sleep(0.5)
        answer(*last)


def deaf() -> None:
    """Never reads again after the hello."""
    time.sleep(3600)


def claims_wrongly() -> None:
    while True:
        head, _ = read()
        write(frame({"id": head["id"], "outcome": "unsupported", "text": "not built in"}))


CLAIM = {"ops": ["decode"], "codecs": ["none", "lz4"], "observes": ["hex"]}
OTHER = {
    "other-name": {"name": "another"},
    "other-version": {"version": "2"},
    "other-claims": {"revisions": {"toy/v1": CLAIM}},
    "other-note": {"notes": ["started at noon"]},
}
"""What changes in a hello when the adapter is started again."""

HELLOS = {
    "claims-wrongly": HELLO | {"revisions": {"toy/v1": CLAIM}},
    "bad-hello": {"name": "faulty"},
    "slow-and-steady": HELLO | {"cost": "slow"},
    "future": HELLO | {"protocol": 2},
}
MAINS = {
    "answers-late": answers_late,
    "exits-after-three": exits_after_three,
    "backwards": backwards,
    "deaf": deaf,
    "claims-wrongly": claims_wrongly,
}


def main(fault: str) -> None:
    if fault == "dies-at-hello":
        dies_at_hello()
    if fault == "fails-to-start":
        fails_to_start(*sys.argv[2:])
    if fault == "slow-hello":
        time.sleep(3600)
    if fault == "noisy-hello":
        write(b"Welcome!\n")
    read()
    again = fault in OTHER and started_again(sys.argv[2])
    write(frame({"hello": HELLOS.get(fault, HELLO) | (OTHER[fault] if again else {})}))
    with suppress(EOFError):
        MAINS.get(fault, obeys_bytes)()


if __name__ == "__main__":
    main(sys.argv[1])
