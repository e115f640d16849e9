"""What is read does not depend on what was read before: streams in pieces, a consumer, an adapter."""

from typing import ClassVar

import iggy_segments
import kafka_bytes
import logs
import property_profile  # noqa: F401 - to load the profile
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from subjects import entries
from test_one_walk import check_salvage, check_scan, each_byte_once, parts_of

from wireproof import formats
from wireproof.derive.examples import Examples, with_expectation
from wireproof.judge.judge import judge
from wireproof.run.engine import Engine
from wireproof.wire.options import Options

# --- a stream that grows, sound and damaged, piece by piece ---


class Stream(RuleBasedStateMachine):
    """A stream of entries, each a piece, with damage and noise between them."""

    fmt: ClassVar = formats.get("kafka.log", "mixed")
    sound: ClassVar = tuple(logs.batch(bytes([65 + number]) * number, number) for number in range(1, 6))

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []

    @rule(number=st.integers(0, 4))
    def add_entry(self, number: int) -> None:
        self.pieces.append(self.sound[number])

    @rule(noise=st.binary(min_size=1, max_size=40) | st.integers(1, 99).map(bytes))
    def add_noise(self, noise: bytes) -> None:
        self.pieces.append(noise)

    @precondition(lambda self: self.pieces)
    @rule(at=st.integers(0, 200), bit=st.integers(0, 7))
    def flip_a_bit(self, at: int, bit: int) -> None:
        piece = bytearray(self.pieces[-1])
        piece[at % len(piece)] ^= 1 << bit
        self.pieces[-1] = bytes(piece)

    @precondition(lambda self: self.pieces)
    @rule(at=st.integers(0, 200))
    def break_a_piece(self, at: int) -> None:
        """The same bytes in two pieces, of which the second may be lost with the next damage."""
        piece = self.pieces.pop()
        cut = at % len(piece)
        self.pieces += filter(None, (piece[:cut], piece[cut:]))

    @precondition(lambda self: self.pieces)
    @rule()
    def lose_a_piece(self) -> None:
        self.pieces.pop()

    @rule()
    def read(self) -> None:
        data = b"".join(self.pieces)
        assert list(formats.scan(self.fmt, self.pieces)) == list(formats.scan(self.fmt, [data]))
        parts = parts_of(self.fmt, data)
        each_byte_once([(one.at, one.end) for one in parts], len(data))
        check_scan(self.fmt, data, parts)
        check_salvage(self.fmt, data, parts)


class HekaStream(Stream):
    fmt = formats.get("heka.stream", "0.10")
    sound = tuple(logs.heka_frame(bytes([number]) * (3 + 7 * number)) for number in range(5))


class IggyStream(Stream):
    fmt = formats.get("iggy.log", "0.11")
    sound = tuple(iggy_segments.segment("0.11", number) for number in range(1, 6))


@pytest.mark.sweeps
@pytest.mark.parametrize("stream", [Stream, HekaStream, IggyStream])
def test_a_damaged_stream_in_pieces_is_the_same_stream(stream: type[Stream]) -> None:
    run_state_machine_as_test(stream, settings=settings(stateful_step_count=20))  # type: ignore[no-untyped-call]


# --- a consumer of a log with transactions: kafka.md §1.9 ---

LOG = formats.get("kafka.log", "mixed")


def records(count: int) -> bytes:
    return b"".join(kafka_bytes.record(f"0000{2 * delta:02x}026b027600") for delta in range(count))


def marker(commit: bool) -> bytes:
    return kafka_bytes.record(f"00000008{int(commit):08x}0c00000000000000")


class Consumer(RuleBasedStateMachine):
    """A log of a broker, and what a consumer with any position and isolation gets of it."""

    def __init__(self) -> None:
        super().__init__()
        self.end = 0
        self.batches: list[tuple[int, int, bytes]] = []  # the first and the last offset, and the bytes
        self.open: dict[int, list[int]] = {}  # the offsets of the transaction of each producer
        self.aborted: list[tuple[int, int, int]] = []  # producer, first offset, offset of the marker
        self.hidden: set[int] = set()  # the offsets of aborted records
        self.delivered: set[int] = set()  # the offsets of all records but those of markers

    def append(self, body: bytes, count: int, producer: int, attributes: int) -> list[int]:
        first = self.end
        self.end += count
        data = kafka_bytes.batch(
            body,
            count,
            base=first,
            attributes=attributes,
            producer=producer,
            epoch=0 if producer >= 0 else -1,
        )
        self.batches.append((first, self.end - 1, data))
        return [*range(first, self.end)]

    @rule(count=st.integers(1, 3))
    def add_plain_records(self, count: int) -> None:
        self.delivered.update(self.append(records(count), count, -1, 0))

    @rule(producer=st.integers(1, 3), count=st.integers(1, 3))
    def add_to_a_transaction(self, producer: int, count: int) -> None:
        offsets = self.append(records(count), count, producer, 0x10)
        self.open.setdefault(producer, []).extend(offsets)
        self.delivered.update(offsets)

    @precondition(lambda self: self.open)
    @rule(number=st.integers(0, 2), commit=st.booleans())
    def end_a_transaction(self, number: int, commit: bool) -> None:
        producer = sorted(self.open)[number % len(self.open)]
        offsets = self.open.pop(producer)
        (at,) = self.append(marker(commit), 1, producer, 0x30)
        if not commit:
            self.hidden.update(offsets)
            self.aborted.append((producer, offsets[0], at))

    @rule(fetch=st.integers(0, 99), committed=st.booleans())
    def read(self, fetch: int, committed: bool) -> None:
        """Read all at once and batch by batch; the records are those of the model, each once."""
        fetch %= self.end + 1
        stop = min((offsets[0] for offsets in self.open.values() if committed), default=self.end)
        log = [(first, last, data) for first, last, data in self.batches if last >= fetch and first < stop]
        hidden = self.hidden if committed else set()
        expected = [at for at in sorted(self.delivered - hidden) if fetch <= at < stop]
        assert self.offsets(log, fetch, committed=committed) == expected
        position, found = fetch, []
        for one in log:
            found += self.offsets([one], position, committed=committed)
            position = one[1] + 1
        assert found == expected
        assert position == max(stop, fetch) or not log

    def offsets(self, log: list[tuple[int, int, bytes]], fetch: int, *, committed: bool) -> list[int]:
        """Return the delivered offsets; a broker names the aborted transactions that a fetch touches."""
        begin, end = (log[0][0], log[-1][1]) if log else (0, -1)
        aborted = tuple((who, first) for who, first, at in self.aborted if at >= begin and first <= end)
        isolation = Options(fetch_offset=fetch, isolation="read_committed", aborted=aborted)
        options = isolation if committed else Options(fetch_offset=fetch)
        value = formats.decode(LOG, b"".join(data for _, _, data in log), options).value
        return [record.offset for batch in entries(LOG, value) for record in batch.records]


def test_a_consumer_gets_each_committed_record_once_from_any_position() -> None:
    run_state_machine_as_test(Consumer)  # type: ignore[no-untyped-call]


# --- an adapter that dies now and then ---

IDENTIFIER = formats.get("iggy.identifier", "0.0.30")
EXAMPLES = Examples(IDENTIFIER, (), ("decode",))
HARMLESS = st.sampled_from([b"\1\4", b"\2\3", b"\2\0", b"\7"]).flatmap(
    lambda head: st.binary(max_size=6).map(lambda rest: head + rest.replace(b"*", b"+"))
)


class Adapter(RuleBasedStateMachine):
    """An adapter in a process of its own, which the byte 0x2a ends."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = Engine("py:crashing_codecs:Segfault").__enter__()
        self.asked = 0

    def teardown(self) -> None:
        self.engine.__exit__(None, None, None)

    def verdicts(self, inputs: list[bytes]) -> list[str]:
        self.asked += 1
        self.engine.begin(f"part {self.asked}")
        cases = [with_expectation(EXAMPLES.decode_case(data)) for data in inputs]
        ran = list(self.engine.run(cases))
        assert [one.case.id for one in ran] == [case.id for case in cases]
        return [judge(one.case, one.outcome, hello=self.engine.hello).name for one in ran]

    @rule(inputs=st.lists(HARMLESS, min_size=1, max_size=4, unique=True))
    def ask(self, inputs: list[bytes]) -> None:
        assert {*self.verdicts(inputs)} <= {"pass", "pass-unclassified"}

    @rule(before=st.lists(HARMLESS, max_size=2, unique=True), number=st.integers(0, 0xFFFFFF))
    def ask_for_trouble(self, before: list[bytes], number: int) -> None:
        deadly = b"\1\4*" + number.to_bytes(3, "little")
        *others, last = self.verdicts([*before, deadly])
        assert {*others} <= {"pass", "pass-unclassified"}
        assert last == "crash"


@pytest.mark.sweeps
def test_an_adapter_answers_alike_whatever_it_was_asked_before() -> None:
    few = settings(max_examples=3, stateful_step_count=6)
    run_state_machine_as_test(Adapter, settings=few)  # type: ignore[no-untyped-call]
