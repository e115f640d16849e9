"""Cases that nobody wrote: an input, with the answer of the reference as its expectation.

Properties, fuzzing, exchanges and campaigns differ only in where their bytes come from: libFuzzer, a
strategy, or a seed and a number (`seeded_examples`). `Examples` makes the cases of any bytes; the bytes make
every choice, so they alone replay a case. `examples_of` makes those of a value that a strategy has drawn.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal

from attrs import NOTHING, evolve, fields, frozen, has

from wireproof import formats
from wireproof.cases.case import (
    ORIGIN_REFERENCE,
    PROPERTY,
    Accept,
    Case,
    Chunks,
    Data,
    Input,
    Op,
    Reject,
    Source,
    Value,
)
from wireproof.cases.fixtures import Suite
from wireproof.cases.reference_answers import (
    ReferenceAnswer,
    expectation_of,
    is_left_open,
    open_to_refusal,
    reference_answer,
    reference_expectation,
    with_refusal_level,
)
from wireproof.derive.derived import sample_derived
from wireproof.derive.mutate import mutate
from wireproof.derive.mutate.draws import below, pick
from wireproof.derive.mutate.mutation_rules import Keys
from wireproof.derive.mutate.value_mutations import edit_value
from wireproof.formats import FORMATS, Format, family_of
from wireproof.wire.json_values import to_json
from wireproof.wire.options import DEFAULT_OPTIONS, Options, Profile
from wireproof.wire.rejection import Rejected

if TYPE_CHECKING:
    from wireproof.derive.strategies import Sample


def capabilities_of_case(case: Case) -> tuple[str, ...]:
    """Return the capabilities that a decode needs by its fields; none for another op."""
    if not isinstance(case.input, Data):
        return ()
    return capabilities_of(FORMATS[case.format_id], case.input.data, case.options)


def capabilities_of(row: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> tuple[str, ...]:
    """Return the capabilities of `row` that bytes and options need, in the order of the format."""
    seen = formats.decode_with_trace(row, data, options)
    found = {f"codec:{span.type}" for span in seen.spans}
    if any(".headers[" in span.path for span in seen.spans):
        found.add("feature:headers")
    of_options = {
        "keys": "feature:hmac",
        "resync": f"feature:resync-{options.resync}",
        "fetch_offset": "feature:fetch-offset",
        "isolation": "feature:read-committed",
        "source": "feature:segment-file",
        "compression": f"codec:{options.compression}",
        "content": "feature:opaque-content",
        "topic": "feature:append",
    }
    changed = (name for name in of_options if getattr(options, name) != getattr(DEFAULT_OPTIONS, name))
    found.update(of_options[name] for name in changed)
    found.update(family_of(row).capabilities(seen.spans, options))
    if seen.decoded is not None and seen.decoded.consumed < len(data):
        found.add("feature:partial-tail")
    return tuple(atom for atom in row.capabilities if atom in found)


@frozen
class OptionVariant:
    """The options of a case, and the capabilities that an adapter needs for them."""

    options: Options = DEFAULT_OPTIONS
    needs: tuple[str, ...] = ()
    profile: Profile = "reader"


def option_variants(
    fmt: Format, suite: Suite, op: Literal["decode", "scan"] = "decode"
) -> tuple[OptionVariant, ...]:
    """Return the option variants that the fixtures of `fmt` use for `op`; the default options come first.

    A variant needs the capabilities that all fixtures with the same options need.
    """
    needs: dict[str, tuple[Options, Profile, set[str]]] = {}
    for case in suite.cases:
        if case.format_id == fmt.format_id and case.op == op:
            first = (case.options, case.profile, set(case.needs))
            *_, common = needs.setdefault(repr(first[:2]), first)
            common &= set(case.needs)
    found = [
        OptionVariant(options, tuple(sorted(common)), profile) for options, profile, common in needs.values()
    ]
    default = (DEFAULT_OPTIONS, "reader")
    return (OptionVariant(), *(variant for variant in found if (variant.options, variant.profile) != default))


def with_variant(case: Case, variant: OptionVariant) -> Case:
    return evolve(case, options=variant.options, needs=variant.needs, profile=variant.profile)


def fit_options(fmt: Format, options: Options, data: bytes, drawn: int) -> Options:
    """Return `options` with limits and offsets near those in `data`, where `options` has such values.

    One time in four, and if nothing fits, return `options` unchanged. `drawn` seeds the choice.
    """
    limited, fetches = options.max_message is not None, options.fetch_offset is not None
    committed = options.isolation == "read_committed"
    rng = Random(drawn)  # noqa: S311 - a function of the bytes
    if not (limited or fetches or committed) or not below(rng, 4):
        return options
    numbers: dict[str, list[int]] = {"message_length": [], "offset": [], "producerId": []}
    for span in formats.decode_with_trace(fmt, data).spans:
        name = span.path.rpartition(".")[2]
        name = "offset" if name == "baseOffset" else name
        if name in numbers:
            numbers[name].append(int(span.value))
    offsets, producers = numbers["offset"], numbers["producerId"]
    sizes = [size for size in numbers["message_length"] if 1 < size < 1 << 31]
    if limited and sizes:
        options = evolve(options, max_message=pick(rng, sizes) + pick(rng, (-1, 0, 0, 1)))
    if fetches and offsets:  # the first offset of an entry, or one or two after it
        offset = pick(rng, offsets) + pick(rng, (0, 1, 1, 2))
        options = evolve(options, fetch_offset=max(0, min(offset, (1 << 63) - 1)))
    if committed and offsets and producers:
        pairs = (
            (pick(rng, producers), min(pick(rng, offsets) + pick(rng, (0, 0, 1)), (1 << 63) - 1))
            for _ in range(pick(rng, (1, 2, 2, 3)))
        )
        options = evolve(options, aborted=tuple(pairs))
    return options


NO_EXPECTATION: Final = Accept()
"""The expectation of a case before the reference has answered."""

ENCODE_ONE_IN, SCAN_ONE_IN, RELATED_ONE_IN = 3, 4, 16
"""One input in this many is also encoded, scanned in chunks, or changed in a way whose effect is known."""

SELECTED_REMAINDER: Final = 2
"""The remainder of the division by these numbers that selects an input."""

MAX_EDITED_BYTES: Final = 1 << 14
"""Maximum bytes of an edited example."""

FUZZ: Final = "fuzz"
"""The family of the cases that are made of the bytes of a fuzzer."""


def unanswered(fmt: Format, name: str, given: Input, source: str, **more: Any) -> Case:  # noqa: ANN401 - attributes of any type
    """Return a case without an expectation; `more` are further attributes of it."""
    place = Source(ORIGIN_REFERENCE, source)
    return Case(name, fmt.name, fmt.revision, given, NO_EXPECTATION, source=place, **more)


def with_expectation(case: Case) -> Case:
    """Return the case with the answer of the reference as its expectation, if it has none yet."""
    if case.expect != NO_EXPECTATION:
        return case
    return with_refusal_level(evolve(case, expect=reference_expectation(case)))


class Examples:
    """Makes the cases of one format."""

    def __init__(
        self,
        fmt: Format,
        variants: Sequence[OptionVariant],
        ops: Sequence[Op],
        *,
        scan_variants: Sequence[OptionVariant] = (),
        wrapped: bool = False,
    ) -> None:
        """Make cases for the ops that the adapter claims, a decode with one of `variants`.

        A scan has `scan_variants` too. For an adapter that knows only the stream, cases will be `wrapped`.
        """
        self.fmt = fmt
        self._wrapped = wrapped
        self._variants = tuple(variants) or (OptionVariant(),)
        self._scan_variants = tuple(variant for variant in scan_variants if variant not in self._variants)
        self._ops = frozenset(ops)
        self._answered: tuple[Input | None, ReferenceAnswer | None] = (None, None)

    @property
    def keys(self) -> Keys:
        """Return the signing keys of all variants; if two keys have the same name, the first one."""
        keys: dict[str, bytes] = {}
        for variant in self._variants:
            for name, key in (variant.options.keys or {}).items():
                keys.setdefault(name, key)
        return keys

    def decode_case(self, data: bytes) -> Case:
        """Return the decode of `data`, with the answer of the reference as its expectation.

        A case that will be wrapped as a stream gets its expectation then, as a stream. A second answer here
        would halve the executions per second. Raises what a bug of the reference raises.
        """
        case = self.without_expectation(data)
        if self._wrapped and zlib.crc32(data, 1) % RELATED_ONE_IN != SELECTED_REMAINDER:
            return case
        answer = reference_answer(case)
        self._answered = case.input, answer
        return with_refusal_level(evolve(case, expect=expectation_of(answer)), answer)

    def answer(self, case: Case) -> ReferenceAnswer:
        """Return the answer of the reference to a case; that to the last decode is known."""
        given, answer = self._answered
        same = case.input is given and (case.op, case.format) == ("decode", self.fmt.name)
        return answer if same and answer is not None else reference_answer(case)

    def without_expectation(self, data: bytes) -> Case:
        """Return the decode of `data` without an answer of the reference."""
        drawn = zlib.crc32(data)
        variant = self._variants[0] if drawn & 1 else self._variants[(drawn >> 1) % len(self._variants)]
        sha = hashlib.sha256(data).hexdigest()[:16]
        options = fit_options(self.fmt, variant.options, data, drawn)
        return unanswered(
            self.fmt,
            f"{self.fmt.format_id}/fuzz/n{sha}",
            Data(data),
            "found by fuzzing",
            options=options,
            needs=variant.needs,
            profile=variant.profile,
            family=FUZZ,  # the expectation is computed, so a rejection of any class agrees with it
        )

    def follow_ups(self, case: Case) -> list[Case]:
        """Return further cases of the same bytes: encoded, scanned in chunks, or changed. Mostly none."""
        assert isinstance(case.input, Data)
        drawn = zlib.crc32(case.input.data, 1)
        found: list[Case] = []
        if "scan" in self._ops and drawn % SCAN_ONE_IN == SELECTED_REMAINDER:
            variants, scanned = self._scan_variants, case
            if variants and not drawn >> 4 & 1:  # half of them, if there are any
                scanned = with_variant(case, variants[(drawn >> 5) % len(variants)])
            found.append(_scan_case(scanned, drawn >> 8))
        if not isinstance(case.expect, Accept):
            return found
        if (
            "encode" in self._ops
            and (drawn >> 16) % ENCODE_ONE_IN == SELECTED_REMAINDER
            and (case.options, case.profile) == (DEFAULT_OPTIONS, "reader")
        ):
            found += (_encode_cases if drawn >> 20 & 1 else self._rejected_encodes)(case, case.expect)
        if drawn % RELATED_ONE_IN == SELECTED_REMAINDER and case.expect != NO_EXPECTATION:
            related = (derived for derived in sample_derived(case, drawn >> 8) if derived.op in self._ops)
            found += [evolve(derived, twin=None) for derived in related]
        return found

    def all_follow_ups(self, case: Case) -> list[Case]:
        """Return the scan and the encode of a case that has its expectation."""
        found = [_scan_case(case, 0)] if "scan" in self._ops else []
        if "encode" in self._ops and isinstance(case.expect, Accept) and case.expect != NO_EXPECTATION:
            found += _encode_cases(case, case.expect)
        return found

    def _rejected_encodes(self, case: Case, read: Accept) -> list[Case]:
        """Return the encode of an edited value that no writer may write; none if the value can be written."""
        assert isinstance(case.input, Data)
        data = case.input.data
        if read == NO_EXPECTATION:
            return []
        value = edit_value(formats.decode(self.fmt, data, case.options).value, Random(zlib.crc32(data, 2)))  # noqa: S311 - a function of the bytes
        tree = to_json(value)
        try:
            formats.encode(self.fmt, tree, case.options)
        except Rejected as rejected:
            # A v0 message has no timestamp (kafka.md §2.1); our JSON form refuses one all the same.
            if (self.fmt.revision, rejected.path) != ("v0", "timestamp"):
                encode = evolve(case, id=f"{case.id}-unwritable", op="encode", input=Value(tree))
                return [with_refusal_level(evolve(encode, expect=Reject(rejected.cls)))]
        return []


def _scan_case(case: Case, drawn: int) -> Case:
    """Return the scan of the bytes in two chunks; with one chunk it would be nearly the decode."""
    assert isinstance(case.input, Data)
    data = case.input.data
    at = drawn % (len(data) + 1)
    scan = evolve(case, id=f"{case.id}-scan", op="scan", input=Chunks((data[:at], data[at:])))
    return evolve(scan, expect=reference_expectation(scan))


def _encode_cases(case: Case, read: Accept) -> list[Case]:
    """Return the encode of the decoded value.

    None if the value was accepted with a remark, or if the reference does not write it.
    """
    encode = evolve(case, id=f"{case.id}-encode", op="encode", input=Value(read.value))
    if read.remarks or not isinstance(reference_expectation(encode), Accept):
        return []
    # The value gets the computed fields that it has once it is written. Accepted bytes need not be those that
    # the encoder writes: with the headers of a message in another order its checksum is another one. Whatever
    # else changes stays as it was read, to be found.
    assert isinstance(case.input, Data)
    fmt, value = formats.get(case.format, case.revision), read.value
    decoded = formats.decode(fmt, case.input.data, case.options).value
    with suppress(Rejected):  # for example a signature, which does not hold for other bytes
        again = formats.decode(fmt, formats.encode(fmt, value, case.options), case.options).value
        if without_computed_fields(again) == without_computed_fields(decoded):
            value = to_json(again)
    return [evolve(encode, input=Value(value), expect=Accept(value))]


def without_computed_fields(value: Any) -> Any:  # noqa: ANN401 - any value class, and what it is made of
    """Return a value without its computed fields: only the fields that have no default."""
    if has(type(value)):
        names = (a.name for a in fields(type(value)) if a.default is NOTHING)
        return {name: without_computed_fields(getattr(value, name)) for name in names}
    return [without_computed_fields(part) for part in value] if isinstance(value, tuple) else value


@frozen
class Example:
    """One input: its kind in words, the input, and its options."""

    kind: str
    input: Input
    options: Options


def examples_of(row: Format, op: Op, sample: "Sample") -> Iterator[Example]:
    """Yield the inputs of one op for a sample; fewer than ten."""
    makers: dict[Op, Callable[[Format, Sample, Random], Iterator[Example]]]
    makers = {"decode": _decodes, "encode": _encodes, "scan": _scans}
    return makers[op](row, sample, Random(sample.seed))  # noqa: S311 - examples, not secrets


def example_case(row: Format, op: Op, name: str, example: Example, sample: "Sample", source: str) -> Case:
    """Return the property case of an example; what a reader may refuse or read otherwise is no `must`."""
    # The capabilities that the input needs, and those of the frames from which it was made.
    own = example.input.data if isinstance(example.input, Data) else sample.data
    shown = {*capabilities_of(row, own, example.options), *capabilities_of(row, sample.data, example.options)}
    if isinstance(example.input, Chunks):
        shown.add("feature:partial-tail")
    if isinstance(example.input, Value):
        found = set(family_of(row).value_capabilities(example.input.value))
        shown.update(tuple(atom for atom in row.capabilities if atom in found))
        # an edited value may need more than the sample that it was made from: headers, an id, another kind
        with suppress(Rejected):
            encoded = formats.encode(row, example.input.value, example.options)
            shown.update(capabilities_of(row, encoded, example.options))
    case = unanswered(
        row,
        name,
        example.input,
        source,
        title=f"{op}, {example.kind}",
        op=op,
        profile=example.options.profile,
        options=example.options,
        needs=tuple(atom for atom in row.capabilities if atom in shown),
        parent=f"{name.partition('~')[0]}-{example.kind}",
        family=PROPERTY,
    )
    answer = reference_answer(case)
    case = with_refusal_level(evolve(case, expect=expectation_of(answer)))
    if is_left_open(case):
        return evolve(case, level="may")
    return evolve(case, level="should") if open_to_refusal(case, answer.remarks) else case


def _decodes(row: Format, sample: "Sample", rng: Random) -> Iterator[Example]:
    options = evolve(sample.options, resync=DEFAULT_OPTIONS.resync)
    produced = evolve(options, profile=DEFAULT_OPTIONS.profile)
    data = sample.data
    yield Example("whole", Data(data), options)
    yield Example("damaged", Data(sample.damaged), produced)
    yield Example("edited", Data(mutate(row, data, rng, MAX_EDITED_BYTES)), options)
    yield Example("flipped", Data(_flipped(data, rng)), produced)
    yield Example("cut", Data(data[: rng.randrange(len(data) + 1)]), produced)
    yield Example("edited", Data(mutate(row, data, rng, MAX_EDITED_BYTES, aware=80)), produced)
    yield Example("joined", Data(data + rng.choice((data, sample.damaged, b"\0", b"\xff" * 7))), produced)


def _encodes(_row: Format, sample: "Sample", rng: Random) -> Iterator[Example]:
    """Yield the value, and values with edited parts, of which some cannot be encoded."""
    options = evolve(sample.options, profile=DEFAULT_OPTIONS.profile, resync=DEFAULT_OPTIONS.resync)
    yield Example("whole", Value(to_json(sample.value)), options)
    for _ in range(3):
        value = sample.value
        for _ in range(rng.choice((1, 1, 2))):
            value = edit_value(value, rng)
        yield Example("edited", Value(to_json(value)), options)


def _scans(row: Format, sample: "Sample", rng: Random) -> Iterator[Example]:
    options, data = sample.options, sample.data
    junk = rng.choice(
        (b"\0", b"\x1e", b"\x1e\x02\x08\x05\x1f", b"\xff" * 9, sample.damaged[: len(data) // 2])
    )
    edited = mutate(row, data, rng, MAX_EDITED_BYTES)
    yield Example("whole", Chunks((data,)), options)
    yield Example("pieces", Chunks(_pieces(data, rng)), options)
    yield Example("garbage", Chunks(_pieces(data + junk + data, rng)), options)
    yield Example("damaged", Chunks(_pieces(sample.damaged + data, rng)), options)
    yield Example("edited", Chunks(_pieces(edited, rng)), options)
    yield Example("garbage", Chunks((junk + data + junk,)), options)
    if len(data) <= 256:
        yield Example("bytes", Chunks(tuple(data[at : at + 1] for at in range(len(data)))), options)


def _flipped(data: bytes, rng: Random) -> bytes:
    if not data:
        return b"\xff"
    flipped = bytearray(data)
    flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _pieces(data: bytes, rng: Random) -> tuple[bytes, ...]:
    """Split the bytes into two to four pieces, some of them empty."""
    edges = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(1, 4)))
    return tuple(data[start:end] for start, end in zip((0, *edges), (*edges, len(data)), strict=True))
