"""What a server returns to polls, and the offsets that it stores for consumers: `iggy.poll/*/polling`, iggy.md §3.4.

The cases of each revision differ in the bytes of a send, and in the number of the first partition.
"""

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.levels import level_of
from tests.authoring.iggy.message_bytes_from_0_7 import REVISIONS, Edition, send

Step = dict[str, Any]
Answer = dict[str, Any]

LIMITS = {"ms": 20_000}
COUNT, OFFSET, TIMESTAMP = "iggy.polling.count", "iggy.polling.offset", "iggy.polling.timestamp"
FIRST, LAST, LAST_SEVERAL = "iggy.polling.first", "iggy.polling.last", "iggy.polling.last.several"
NEXT, NOTHING_STORED, COMMIT = "iggy.polling.next", "iggy.polling.next.none", "iggy.polling.auto-commit"
CONSUMERS, GROUP, CURRENT = "iggy.polling.consumers", "iggy.polling.group", "iggy.polling.current"
STORE, STORE_BOUND, DELETE = "iggy.offsets.store", "iggy.offsets.bound", "iggy.offsets.delete"
PLACE = "iggy.polling.place"

DUPLICATES = "A consumer would get these messages a second time, or never."


@frozen
class Server:
    """The parts of steps in one revision; `first` is the number of the first partition."""

    edition: Edition
    first: int

    def send(self, *values: str, partition: int = 0) -> Step:
        number = (partition + self.first).to_bytes(4, "little")
        sent = [self.edition.sent(at, value.encode()) for at, value in enumerate(values, 1)]
        return {
            "op": "send",
            "hex": send(*sent, partitioning=b"\x02\x04" + number).hex(),
            "expect": {"sent": True},
        }

    def place(self, partition: int = 0) -> dict[str, str]:
        return {"partition": str(partition + self.first)}

    def messages(self, last: int, values: str, begin: int, partition: int = 0) -> Answer:
        """The letters of `values` from offset `begin` on; the last offset of the partition is `last`."""
        found = {str(begin + at): value.encode().hex() for at, value in enumerate(values)}
        return {**self.place(partition), "currentOffset": str(last), "messages": found}

    def poll(
        self, strategy: str, last: int, values: str = "", begin: int = 0, *, partition: int = 0, **fields: Any
    ) -> Step:
        return self.asked(
            strategy, self.messages(last, values, begin, partition), partition=partition, **fields
        )

    def asked(self, strategy: str, expect: Answer, *, partition: int = 0, **fields: Any) -> Step:
        fields = {key: part if isinstance(part, bool) else str(part) for key, part in fields.items()}
        return {"op": "poll", "strategy": strategy, **self.place(partition), **fields, "expect": expect}

    def store(self, offset: int, expect: Answer | None = None, *, partition: int = 0, **fields: Any) -> Step:
        return {
            "op": "store-offset",
            "offset": str(offset),
            **self.place(partition),
            **fields,
            "expect": expect or {"stored": True},
        }

    def stored(self, offset: int | None, last: int = 0, *, partition: int = 0, **fields: Any) -> Step:
        known = {**self.place(partition), "currentOffset": str(last), "offset": str(offset)}
        return {
            "op": "get-offset",
            **self.place(partition),
            **fields,
            "expect": {"offset": None} if offset is None else known,
        }

    def delete(self, error: str = "", **fields: Any) -> Step:
        return {
            "op": "delete-offset",
            **self.place(),
            **fields,
            "expect": {"error": error} if error else {"deleted": True},
        }


def join(name: str) -> Step:
    return {"op": "join-group", "consumer": name, "expect": {"joined": True}}


Add = Callable[..., None]


def write(writer: FixtureWriter) -> None:
    for edition in REVISIONS:
        server = Server(edition, 1 if edition.revision == "0.7" else 0)
        add = _adder(writer, f"iggy.poll/{edition.revision}/polling/")
        for part in (
            _by_offset,
            _by_count,
            _ends,
            _by_timestamp,
            _next,
            _committed,
            _of_consumers,
            _of_groups,
            _offsets,
        ):
            part(server, add)


def _adder(writer: FixtureWriter, prefix: str) -> Add:
    def add(name: str, title: str, why: str, rules: Sequence[str], *steps: Step, twin: str = "") -> None:
        writer.add({
            "id": prefix + name, "title": title, "why": why, "op": "sequence", "profile": "produce",
            "level": level_of(rules, "decode"), "rules": list(rules), "steps": list(steps),
            "twin": prefix + twin if twin else None,
            "source": {"origin": "builder", "document": "iggy.md §3.4"}, "limits": LIMITS,
        })  # fmt: skip

    return add


def _by_offset(s: Server, add: Add) -> None:
    five = s.send(*"abcde")
    add(
        "offset", "from the beginning, from the middle, and the last message",
        "A consumer that tracks its own position goes on where it was.", [OFFSET, CURRENT],
        five, s.poll("offset", 4, "abcde", 0, value=0), s.poll("offset", 4, "cde", 2, value=2), s.poll("offset", 4, "e", 4, value=4),
    )  # fmt: skip
    add(
        "offset-between-sends", "messages of several sends have consecutive offsets, and a poll goes across them",
        "A batch of the server is no unit that a consumer sees.", [OFFSET, CURRENT],
        s.send("a", "b"), s.send("c"), s.send("d", "e"), s.poll("offset", 4, "bcd", 1, value=1, count=3), s.poll("offset", 4, "de", 3, value=3),
    )  # fmt: skip
    add(
        "offset-past-end", "from the offset after the last one: nothing, and no error",
        "A consumer that has read all waits there.", [OFFSET, CURRENT],
        five, s.poll("offset", 4, value=5), s.poll("offset", 4, value=(1 << 64) - 1), s.poll("offset", 4, "e", 4, value=4),
    )  # fmt: skip
    add(
        "after-more", "what is sent between two polls is returned by the second",
        "A server that keeps an answer would hide new messages.", [OFFSET, CURRENT],
        s.send("a"), s.poll("offset", 0, "a", 0, value=0), s.send("b", "c"), s.poll("offset", 2, "bc", 1, value=1),
    )  # fmt: skip
    add(
        "partitions", "each partition has offsets of its own", "The order of one partition is not that of another.", [OFFSET, CURRENT],
        s.send("a", "b"), s.send("c", partition=1), s.poll("offset", 1, "ab", 0, value=0), s.poll("offset", 0, "c", 0, partition=1, value=0),
    )  # fmt: skip
    add(
        "unknown-partition", "from a partition that the topic does not have", "Nothing must be made up for it.", [PLACE],
        s.send("a"), s.asked("offset", {"error": "PartitionNotFound"}, partition=8, value=0), s.poll("offset", 0, "a", 0, value=0),
        twin="after-more",
    )  # fmt: skip


def _by_count(s: Server, add: Add) -> None:
    five = s.send(*"abcde")
    add(
        "count", "of five messages: one, two from the middle, more than there are", "A consumer bounds its memory by the count.", [COUNT, OFFSET],
        five, s.poll("offset", 4, "a", 0, value=0, count=1), s.poll("offset", 4, "cd", 2, value=2, count=2),
        s.poll("offset", 4, "abcde", 0, value=0, count=6),
    )  # fmt: skip
    add(
        "count-largest", "the largest count of 32 bits, from an offset in the middle", "The sum of an offset and a count has more than 32 bits.", [COUNT, OFFSET],
        five, s.poll("offset", 4, "de", 3, value=3, count=(1 << 32) - 1),
    )  # fmt: skip
    nothing = {"nothing": s.messages(4, "", 0), "refused": {"error": "InvalidMessagesCount"}}
    add(
        "count-0", "a count of 0: nothing, or an error", "Servers to 0.5 refuse it, later ones answer without messages.", [COUNT, OFFSET],
        five, s.asked("offset", {"either": nothing}, value=0, count=0), s.poll("offset", 4, "a", 0, value=0, count=1),
    )  # fmt: skip


def _ends(s: Server, add: Add) -> None:
    five = s.send(*"abcde")
    add(
        "first",
        "the first messages, whatever the value",
        "A new consumer begins there.",
        [FIRST],
        five,
        s.poll("first", 4, "ab", 0, count=2),
        s.poll("first", 4, "ab", 0, value=3, count=2),
    )
    add(
        "last",
        "the last message, whatever the value",
        "A monitor looks at the newest message.",
        [LAST],
        five,
        s.poll("last", 4, "e", 4, count=1),
        s.poll("last", 4, "e", 4, value=1, count=1),
    )
    add(
        "last-several", "the last three messages come in their order; all, if there are fewer", "A reader of the tail sees what led to the newest message.",
        [LAST_SEVERAL], five, s.poll("last", 4, "cde", 2, count=3), s.poll("last", 4, "abcde", 0, count=9),
    )  # fmt: skip
    add(
        "last-after-more",
        "the last message is that of the last send",
        "The end moves with each send.",
        [LAST],
        s.send("a", "b"),
        s.poll("last", 1, "b", 1, count=1),
        s.send("c"),
        s.poll("last", 2, "c", 2, count=1),
    )


def _by_timestamp(s: Server, add: Add) -> None:
    sends = (s.send("a"), s.send("b"), s.send("c", "d"))
    title = "from the time of a message: this one and those after it"
    add(
        "timestamp", title, "A consumer that was down begins at the time at which it stopped.", [TIMESTAMP],
        *sends, s.poll("timestamp", 3, "bcd", 1, timestampOf=1), s.poll("timestamp", 3, "abcd", 0, timestampOf=0), s.poll("timestamp", 3, "b", 1, timestampOf=1, count=1),
    )  # fmt: skip
    add(
        "timestamp-between", "from a microsecond after a message: the next one", "A time between two messages belongs to the later one.", [TIMESTAMP],
        *sends, s.poll("timestamp", 3, "bcd", 1, timestampOf=0, later=1),
    )  # fmt: skip
    add(
        "timestamp-0",
        "from the year 1970: all messages",
        "Time 0 is before every message.",
        [TIMESTAMP],
        *sends,
        s.poll("timestamp", 3, "abcd", 0, value=0),
    )
    add(
        "timestamp-later",
        "from a time after the last message: nothing",
        "There is no message at or after it.",
        [TIMESTAMP],
        *sends,
        s.poll("timestamp", 3, timestampOf=3, later=3_600_000_000),
    )


def _next(s: Server, add: Add) -> None:
    five = s.send(*"abcde")
    add(
        "next",
        "after a stored offset: the messages from the next one on",
        DUPLICATES,
        [NEXT],
        five,
        s.store(1),
        s.poll("next", 4, "cd", 2, count=2),
        s.poll("next", 4, "cde", 2, value=9),
    )
    add(
        "next-of-0",
        "after stored offset 0: the second message",
        "Offset 0 is stored, and is not the same as none.",
        [NEXT],
        five,
        s.store(0),
        s.poll("next", 4, "bcde", 1),
    )
    add(
        "next-at-end",
        "after the last offset: nothing, and then what is sent",
        DUPLICATES,
        [NEXT],
        five,
        s.store(4),
        s.poll("next", 4),
        s.send("f"),
        s.poll("next", 5, "f", 5),
    )
    add(
        "next-nothing-stored",
        "without a stored offset: the first messages, again and again",
        "Nothing is committed by a poll alone.",
        [NOTHING_STORED],
        five,
        s.poll("next", 4, "ab", 0, count=2),
        s.poll("next", 4, "ab", 0, count=2),
        s.stored(None),
    )


def _committed(s: Server, add: Add) -> None:
    five = s.send(*"abcde")
    add(
        "auto-commit", "each poll goes on after the one before it, to the end", DUPLICATES, [COMMIT, NEXT, NOTHING_STORED],
        five, s.poll("next", 4, "ab", 0, count=2, autoCommit=True), s.poll("next", 4, "cd", 2, count=2, autoCommit=True),
        s.poll("next", 4, "e", 4, count=2, autoCommit=True), s.poll("next", 4, count=2, autoCommit=True),
    )  # fmt: skip
    add(
        "auto-commit-stores",
        "the offset of the last message of a poll is stored",
        DUPLICATES,
        [COMMIT, STORE],
        five,
        s.poll("first", 4, "abc", 0, count=3, autoCommit=True),
        s.stored(2, 4),
    )
    add(
        "auto-commit-by-offset",
        "a poll by offset commits too",
        DUPLICATES,
        [COMMIT, NEXT],
        five,
        s.poll("offset", 4, "cd", 2, value=2, count=2, autoCommit=True),
        s.poll("next", 4, "e", 4),
    )
    add(
        "auto-commit-false",
        "a poll that does not commit changes no stored offset",
        "A message that was not processed would be lost.",
        [COMMIT, NEXT],
        five,
        s.store(1),
        s.poll("offset", 4, "e", 4, value=4),
        s.stored(1, 4),
        s.poll("next", 4, "cde", 2),
    )
    add(
        "auto-commit-back",
        "a poll of earlier messages commits an earlier offset",
        "A consumer that reads again goes on from there.",
        [COMMIT, NEXT],
        five,
        s.store(4),
        s.poll("offset", 4, "b", 1, value=1, count=1, autoCommit=True),
        s.poll("next", 4, "cde", 2),
    )
    add(
        "auto-commit-nothing",
        "a poll without messages stores nothing",
        "No message was delivered that could be committed.",
        [COMMIT, NEXT],
        five,
        s.store(2),
        s.poll("offset", 4, value=5, autoCommit=True),
        s.stored(2, 4),
        s.poll("next", 4, "de", 3),
    )


def _of_consumers(s: Server, add: Add) -> None:
    five = s.send(*"abcde")
    one, two = {"consumer": "1"}, {"consumer": "2"}
    why = "One consumer would take the messages of another."
    add(
        "consumers",
        "two consumers have offsets of their own",
        why,
        [CONSUMERS, NEXT],
        five,
        s.store(3, **one),
        s.store(0, **two),
        s.poll("next", 4, "e", 4, **one),
        s.poll("next", 4, "bcde", 1, **two),
    )
    add(
        "consumers-by-name",
        "consumers with names have offsets of their own",
        why,
        [CONSUMERS, NEXT],
        five,
        s.store(3, consumer="reports"),
        s.store(1, consumer="alerts"),
        s.poll("next", 4, "e", 4, consumer="reports"),
        s.poll("next", 4, "cde", 2, consumer="alerts"),
    )
    add(
        "consumer-largest",
        "the largest number of a consumer",
        "A number of 32 bits must not be cut.",
        [CONSUMERS, NEXT],
        five,
        s.store(2, consumer=str((1 << 32) - 1)),
        s.poll("next", 4, "de", 3, consumer=str((1 << 32) - 1)),
    )
    add(
        "offsets-of-partitions", "a consumer has an offset for each partition", why, [CONSUMERS, NEXT],
        s.send("a", "b"), s.send("c", "d", partition=1), s.store(1), s.store(0, partition=1), s.poll("next", 1), s.poll("next", 1, "d", 1, partition=1),
    )  # fmt: skip


def _of_groups(s: Server, add: Add) -> None:
    group = {"consumer": "g", "group": True}
    five = s.send(*"abcde")

    def member(step: Step) -> Step:
        """Leave the partition out: the server assigns it."""
        return {key: part for key, part in step.items() if key != "partition"}

    add(
        "group",
        "a member reads the partition that the server gives it",
        "A member does not know its partitions.",
        [GROUP, COMMIT, NEXT],
        five,
        join("g"),
        member(s.poll("next", 4, "ab", 0, count=2, autoCommit=True, **group)),
        member(s.poll("next", 4, "cde", 2, autoCommit=True, **group)),
        member(s.poll("next", 4, **group)),
    )
    add(
        "group-and-consumer",
        "a group and a consumer with its name have offsets of their own",
        "A consumer of the same name would take the messages of the group.",
        [GROUP, CONSUMERS, NEXT],
        five,
        join("g"),
        s.store(3, **group),
        s.store(0, consumer="g"),
        s.poll("next", 4, "e", 4, **group),
        s.poll("next", 4, "bcde", 1, consumer="g"),
    )
    add(
        "group-stored",
        "the stored offset of a group",
        "Tools show the lag of a group by it.",
        [GROUP, STORE],
        five,
        join("g"),
        s.store(3, **group),
        s.stored(3, 4, **group),
    )
    unknown = {
        "either": {
            "by-name": {"error": "ConsumerGroupNameNotFound"},
            "by-id": {"error": "ConsumerGroupIdNotFound"},
        }
    }
    add(
        "group-unknown", "a group that was not created", "Its messages would be read by somebody who is no member.", [GROUP, PLACE],
        five, s.asked("next", unknown, consumer="g", group=True), s.poll("next", 4, "abcde", 0), twin="group-and-consumer",
    )  # fmt: skip


def _offsets(s: Server, add: Add) -> None:
    five = s.send(*"abcde")
    add(
        "store",
        "a stored offset is returned, and replaced by the next one, also by an earlier one",
        DUPLICATES,
        [STORE],
        five,
        s.stored(None),
        s.store(2),
        s.stored(2, 4),
        s.store(4),
        s.stored(4, 4),
        s.store(1),
        s.stored(1, 4),
    )
    either = {"either": {"refused": {"error": "InvalidOffset"}, "stored": {"stored": True}}}
    add(
        "store-past-end",
        "an offset after the last one: an error, or stored",
        "Servers to 0.5 refuse it, later ones store it.",
        [STORE, STORE_BOUND],
        five,
        s.store(5, either),
        s.poll("offset", 4, "e", 4, value=4),
    )
    add(
        "delete",
        "a deleted offset is none: a poll begins at the first message",
        DUPLICATES,
        [DELETE, NOTHING_STORED],
        five,
        s.store(2),
        s.delete(),
        s.stored(None),
        s.poll("next", 4, "abcde", 0),
    )
    add(
        "delete-of-others",
        "a deletion is of one consumer",
        "Another consumer would read everything again.",
        [DELETE, CONSUMERS, NEXT],
        five,
        s.store(2),
        s.store(3, consumer="2"),
        s.delete(),
        s.poll("next", 4, "e", 4, consumer="2"),
    )
    add(
        "delete-nothing",
        "an offset that is not stored",
        "The caller has a wrong name.",
        [DELETE],
        five,
        s.delete("ConsumerOffsetNotFound"),
        s.poll("next", 4, "abcde", 0),
        twin="delete",
    )
