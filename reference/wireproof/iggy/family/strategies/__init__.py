"""Hypothesis strategies for Iggy values, with many boundary values of iggy.md §2, §3 and §9.

All values are valid: their checksums are correct and their headers are sorted by key, so that a round trip
can be compared for equality. Hypothesis is an optional dependency.
"""

from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.iggy.family.strategies.batches import batched_polls, batched_polls_111, batches, batches_111
from wireproof.iggy.family.strategies.binary_bodies import (
    batched_sends,
    batched_sends_111,
    logs_since_0_7,
    polls,
    polls_since_0_7,
    retained_batches,
    sends,
    sends_since_0_7,
)
from wireproof.iggy.family.strategies.destinations import identifiers, partitionings
from wireproof.iggy.family.strategies.headers import header_maps, header_maps_v2
from wireproof.iggy.family.strategies.json_bodies import (
    json_polls_since_0_7,
    json_sends,
    json_sends_since_0_7,
)
from wireproof.iggy.family.strategies.messages import stored_lists
from wireproof.iggy.family.strategies.replies_and_waits import (
    deferred_polls,
    fetch_requests,
    fetches,
    json_errors,
)
from wireproof.iggy.family.strategies.requests import (
    COMMAND_CODES,
    STATUSES,
    frame_bodies,
    poll_requests,
    send_replies,
    vsr_frames,
    vsr_frames_111,
)
from wireproof.iggy.frame import ClassicFrame
from wireproof.iggy.headers import HeaderBlock, HeaderBlock90
from wireproof.iggy.json_poll import (
    JsonPoll70,
    JsonPoll90,
    JsonPoll100,
    JsonPoll111,
    JsonPolledMessage70,
    JsonPolledMessage90,
    JsonPolledMessage100,
)
from wireproof.iggy.json_reply import JsonError, JsonError40
from wireproof.iggy.json_send import (
    JsonSend,
    JsonSend70,
    JsonSend90,
    JsonSend100,
    JsonSend111,
    JsonSentMessage70,
    JsonSentMessage90,
    JsonSentMessage100,
)
from wireproof.iggy.log import Log27, Log30, Log40, Log70, Log90, Log110, Log111
from wireproof.iggy.message import (
    POLLED_RULES_70,
    POLLED_RULES_80,
    POLLED_RULES_90,
    PolledMessage40,
    SentMessage,
    SentMessage70,
    SentMessage90,
    StoredMessage30,
)
from wireproof.iggy.poll import Poll70, Poll90
from wireproof.iggy.reply import ClassicReply
from wireproof.iggy.send import Send70, Send90
from wireproof.wire.options import DEFAULT_OPTIONS, Options

VALUES: Final[dict[str, Callable[[], SearchStrategy[Any]]]] = {
    "iggy.poll-request/0.0.30": lambda: poll_requests("0.0.30"),
    "iggy.poll-request/0.0.92": lambda: poll_requests("0.0.92"),
    "iggy.poll-request/0.8": lambda: poll_requests("0.8", 0),
    "iggy.poll-request/0.10": lambda: poll_requests("0.10", 0),
    "iggy.frame/0.0.30": lambda: st.builds(ClassicFrame, code=COMMAND_CODES, body=frame_bodies()),
    "iggy.frame/0.11": vsr_frames,
    "iggy.reply/0.0.30": lambda: st.builds(ClassicReply, status=STATUSES, body=frame_bodies()),
    "iggy.reply/0.11": send_replies,
    "iggy.identifier/0.0.30": identifiers,
    "iggy.identifier/0.8": lambda: identifiers(0),
    "iggy.partitioning/0.0.30": partitionings,
    "iggy.partitioning/0.9": partitionings,
    "iggy.headers/0.0.30": lambda: header_maps().map(HeaderBlock),
    "iggy.headers/0.9": lambda: header_maps_v2().map(HeaderBlock90),
    "iggy.headers/0.10": lambda: header_maps_v2().map(HeaderBlock90),
    "iggy.send/0.0.30": sends,
    "iggy.send/0.7": lambda: sends_since_0_7(Send70, SentMessage70, 1),
    "iggy.send/0.8": lambda: sends_since_0_7(Send70, SentMessage70, 0),
    "iggy.send/0.9": lambda: sends_since_0_7(Send90, SentMessage90, 0),
    "iggy.json.send/0.0.30": json_sends,
    "iggy.json.send/0.7": lambda: json_sends_since_0_7(JsonSend70, JsonSentMessage70, 64),
    "iggy.json.send/0.8": lambda: json_sends_since_0_7(JsonSend, SentMessage),
    "iggy.json.send/0.9": lambda: json_sends_since_0_7(JsonSend90, JsonSentMessage90),
    "iggy.json.send/0.10": lambda: json_sends_since_0_7(JsonSend100, JsonSentMessage100),
    "iggy.json.poll/0.7": lambda: json_polls_since_0_7(JsonPoll70, JsonPolledMessage70),
    "iggy.json.poll/0.9": lambda: json_polls_since_0_7(JsonPoll90, JsonPolledMessage90),
    "iggy.json.poll/0.10": lambda: json_polls_since_0_7(JsonPoll100, JsonPolledMessage100),
    "iggy.json.send/0.11.1-edge": lambda: json_sends_since_0_7(JsonSend111, JsonSentMessage100, context=True),
    "iggy.json.poll/0.11.1-edge": lambda: json_polls_since_0_7(
        JsonPoll111, JsonPolledMessage100, context=True
    ),
    "iggy.poll/0.0.30": lambda: polls("0.0.30"),
    "iggy.poll/0.0.40": lambda: polls("0.0.40"),
    "iggy.poll/0.0.60": lambda: polls("0.0.60"),
    "iggy.send/0.11": batched_sends,
    "iggy.poll/0.11": batched_polls,
    "iggy.poll/0.7": lambda: polls_since_0_7(Poll70, POLLED_RULES_70),
    "iggy.poll/0.8": lambda: polls_since_0_7(Poll70, POLLED_RULES_80),
    "iggy.poll/0.9": lambda: polls_since_0_7(Poll90, POLLED_RULES_90),
    "iggy.json.poll/0.0.30": lambda: polls("0.0.30"),
    "iggy.json.poll/0.0.40": lambda: polls("0.0.40"),
    "iggy.json.poll/0.0.60": lambda: polls("0.0.60"),
    "iggy.log/0.0.30": lambda: st.builds(Log30, messages=stored_lists(StoredMessage30)),
    "iggy.log/0.0.40": lambda: st.builds(Log40, messages=stored_lists(PolledMessage40)),
    "iggy.log/0.2.7": lambda: st.builds(Log27, batches=st.lists(retained_batches(), max_size=3).map(tuple)),
    "iggy.log/0.7": lambda: logs_since_0_7(Log70, POLLED_RULES_70),
    "iggy.log/0.8": lambda: logs_since_0_7(Log70, POLLED_RULES_80),
    "iggy.log/0.9": lambda: logs_since_0_7(Log90, POLLED_RULES_90),
    "iggy.log/0.11": lambda: st.builds(Log110, batches=st.lists(batches(), max_size=3).map(tuple)),
    "iggy.poll-request/0.11.1-edge": lambda: poll_requests("0.11.1-edge", 0),
    "iggy.deferred-poll-request/0.11.1-edge": deferred_polls,
    "iggy.fetch-request/0.11.1-edge": fetch_requests,
    "iggy.fetch/0.11.1-edge": fetches,
    "iggy.json.reply/0.11": send_replies,
    "iggy.json.error/0.0.30": lambda: json_errors(JsonError),
    "iggy.json.error/0.0.40": lambda: json_errors(JsonError40),
    "iggy.frame/0.11.1-edge": vsr_frames_111,
    "iggy.send/0.11.1-edge": batched_sends_111,
    "iggy.poll/0.11.1-edge": batched_polls_111,
    "iggy.log/0.11.1-edge": lambda: st.builds(Log111, batches=st.lists(batches_111(), max_size=3).map(tuple)),
}
"""Format id to the strategy for its values."""


def _produce_options(_value: object) -> SearchStrategy[Options]:
    """Return a strategy for options: now and then the profile of a producer."""
    return st.sampled_from([*[DEFAULT_OPTIONS] * 5, Options(profile="produce")])


OPTIONS: Final[dict[str, Callable[[Any], SearchStrategy[Options]]]] = {"iggy.send": _produce_options}
"""Name of a format to the strategy for the options of a value."""
