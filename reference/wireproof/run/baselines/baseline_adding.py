"""New entries of a baseline: the failures of runs that it does not expect, folded into as few as possible."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import takewhile
from types import MappingProxyType

from attrs import evolve, field, frozen

from wireproof.judge.verdicts import FLAKY
from wireproof.run.baselines.baseline import EntryLookup
from wireproof.run.baselines.baseline_writing import (
    LINE,
    BaselineFile,
    check_runs,
    chosen,
    quoted,
    table_text,
    way,
)
from wireproof.run.baselines.known_failures import (
    SHARED,
    BaselineError,
    CaseNames,
    KnownFailure,
    failure_of,
    parse_baseline,
)
from wireproof.run.events import CaseEvent, EventStream, fails_run


@frozen
class Added:
    """A baseline with new entries, and what the runs say about those that it had.

    Of the chosen failures, `known` are expected; by id, `changed` has the kind of an entry and the present
    one; `expired` entries are past their day. `left` failures are new and not chosen.
    """

    text: str
    added: tuple[KnownFailure, ...]
    failures: int
    known: int
    left: int
    changed: Mapping[str, tuple[str, str]]
    expired: tuple[KnownFailure, ...]


@frozen
class _Compared:
    """What the entries of a baseline say about the failures of runs.

    Attributes:
        new: the failures that no entry covers, or only one of their family that fails in another way; each
            golden case once, and each derived one and example once for each way in which it fails.
        known: ids of those that fail as their entry says.
        changed, expired: by id, the entry and the failure.
        in_family: those of `new` whose family has an entry.
    """

    new: dict[tuple[str, ...], CaseEvent] = field(factory=dict)
    known: set[str] = field(factory=set)
    changed: dict[str, tuple[KnownFailure, CaseEvent]] = field(factory=dict)
    expired: dict[str, KnownFailure] = field(factory=dict)
    in_family: set[str] = field(factory=set)

    @classmethod
    def of(cls, failures: Sequence[CaseEvent], entries: Sequence[KnownFailure], today: date) -> "_Compared":
        """Compare failures with the entries; one has changed if no run has the failure that it says."""
        found = cls()
        lookup = EntryLookup(entries)
        for event in failures:
            entry = lookup.entry_of(event)
            if entry is None:
                found.new[_case_and_way(event)] = event
            elif not entry.fails_as_recorded(event) and entry.prefix:
                found.new[_case_and_way(event)] = event
                found.in_family.add(event.id)
            elif not entry.fails_as_recorded(event):
                found.changed[event.id] = entry, event
            elif entry.expires < today:
                found.expired[event.id] = entry
            else:
                found.known.add(event.id)
        for name in found.known:
            found.changed.pop(name, None)
        return found


def _case_and_way(event: CaseEvent) -> tuple[str, ...]:
    """Return what counts as one failure; a golden case has one entry, so that its last way counts."""
    return (event.id, *_failure(event)) if "~" in event.id else (event.id,)


def _failure(event: CaseEvent) -> tuple[str, ...]:
    """Return in which way a case fails, as entries are compared with it: a runaway codec has one way."""
    return (*failure_of(event.label, event.cls, exact=False), event.signature_path)


def add(  # noqa: PLR0913 - a file, runs, and what is chosen of them
    text: str,
    streams: Sequence[EventStream],
    names: CaseNames,
    model: KnownFailure,
    words: Sequence[str] = (),
    *,
    today: date,
    name: str = "baseline",
    origins: Mapping[str, str] = MappingProxyType({}),
) -> Added:
    """Add entries for the failures that would fail the runs, and that no entry expects, to the end of a file.

    All that it has stays as it is. A table has the failures of a format with one verdict, class and path; its
    comment names their rules. The user improves the reasons.

    Args:
        text: the file; empty for a new one, which gets what its entries share above them.
        streams: runs of one version of an implementation, each perhaps of a part of the cases.
        names: the cases that there are.
        model: reason, issue, day and owner of the new entries; without an owner it is that of the file.
        words: ids, patterns of ids, kinds or origins of the failures that are to be added; all without any.
        today: the day with which those of the entries are compared.
        name: the name of the file, for messages.
        origins: by id, why a failure is new: a word of `OriginKind`.

    Raises:
        BaselineError: nothing was added.
    """
    file = BaselineFile.of(text, name)
    check_runs(streams, file)
    shared = file.shared
    model = _with_owner(model, shared.get("owner"), name)
    names.check(file.entries, name)
    failures = [event for stream in streams for event in stream.cases if fails_run(event, stream.run)]
    kinds = {(event.id, kind) for event in failures for kind in (event.label, origins.get(event.id)) if kind}
    nothing = "is no file, and no failure of the runs has this id or kind"
    wanted = {one for one, _ in chosen(words, kinds, nothing)}
    found = _Compared.of(failures, file.entries, today)
    more = ""
    if not (file.tables or shared):
        shared = {part: getattr(model, part) for part in SHARED}
        day = model.expires.isoformat()
        more = f"owner = {quoted(model.owner)}\nexpires = {day}\nreason = {quoted(model.reason)}\n"
    tables, added = _written(_new_tables(failures, found, file.entries, wanted), model, shared)
    more += tables
    _check_cases(added, names)
    between = file.end if more and text and not text.endswith("\n") else ""
    longer = text + between + more.replace("\n", file.end)
    parse_baseline(longer, name)
    return Added(
        longer,
        tuple(added),
        sum(event.id in wanted for event in found.new.values()),
        len(found.known & wanted),
        sum(event.id not in wanted for event in found.new.values()),
        {one: (entry.kind, event.label) for one, (entry, event) in found.changed.items() if one in wanted},
        tuple(dict.fromkeys(entry for one, entry in found.expired.items() if one in wanted)),
    )


def _check_cases(added: Iterable[KnownFailure], names: CaseNames) -> None:
    """Check that the suite has the cases of new entries; raise `BaselineError` for one that it has not."""
    for entry in added:
        if not names.has(entry):
            raise BaselineError(
                f"{entry.id}: the runs have this case, and the suite has not: use the same --fixtures; "
                "nothing was changed"
            )


def _with_owner(model: KnownFailure, of_file: object, name: str) -> KnownFailure:
    """Return the model with the owner of its file if it has none; raise `BaselineError` if nobody has one."""
    model = evolve(model, owner=model.owner or (of_file if isinstance(of_file, str) else ""))
    if not (model.owner and model.reason):
        missing = "a reason: --reason TEXT" if model.owner else "an owner of the new entries: --owner NAME"
        raise BaselineError(f"{name}: needs {missing}; nothing was changed")
    return model


def _written(
    tables: Sequence["_NewTable"], model: KnownFailure, shared: Mapping[str, object]
) -> tuple[str, list[KnownFailure]]:
    """Return the text of new tables, and their entries; what entries share stands above them in the file."""
    text, entries = "", list[KnownFailure]()
    for table in tables:
        kind, cls, path = table.way
        entry = evolve(model, kind=kind, cls=cls, path=path, flaky=kind == f"fail:{FLAKY}")
        ids = sorted(table.ids)
        text += f"\n# {_rules_text(table.rules)}\n{table_text(entry, ids, shared)}"
        entries += (evolve(entry, id=one) for one in ids)
    return text, entries


@frozen
class _NewTable:
    """A new table: the way in which its cases fail, their ids, and how often each rule is broken."""

    way: tuple[str, str, str]
    ids: set[str] = field(factory=set)
    rules: Counter[str] = field(factory=Counter)


def _new_tables(
    failures: Sequence[CaseEvent],
    found: _Compared,
    entries: Sequence[KnownFailure],
    wanted: Collection[str],
) -> list[_NewTable]:
    """Return the tables of the new failures that are wanted, in order.

    A pattern may cover failures that are not wanted: then each case is named. The entry of a family comes
    before the patterns of other failures: where there are any, the new one is a pattern of the topic too.
    """
    folded = [row for row in _folded(failures) if found.new.get(_case_and_way(row[0])) is row[0]]
    left: dict[str, list[CaseEvent]] = {}
    for event, _ in folded:
        if event.id not in wanted:
            left.setdefault(_parts(event)[1], []).append(event)
    broad = [entry for entry in entries if entry.broad]
    covers_left: dict[tuple[str, ...], bool] = {}
    tables: dict[tuple[str, ...], _NewTable] = {}
    alone: set[str] = set()
    for event, fold in folded:
        if event.id not in wanted or event.id in alone:
            continue
        name, family, failure = fold, _parts(event)[1], _failure(event)
        if family and not event.is_property:
            if (fold, *failure) not in covers_left:
                kind, cls, path = way(event)
                entry = KnownFailure(fold, kind, cls, "", "", date.max, path=path)
                covers_left[fold, *failure] = any(map(entry.covers, left.get(family, ())))
            if event.id in found.in_family or covers_left[fold, *failure]:
                name = event.id
                alone.add(name)
            elif "*" not in fold[:-1] and any(entry.is_about(fold[:-1]) for entry in broad):
                name = f"{event.suite}/*~{family}:*"
        table = tables.setdefault((event.format, *failure), _NewTable(way(event)))
        table.ids.add(name)
        table.rules[next(iter(event.deciding_rules), event.suite)] += 1
    order = sorted(tables.items(), key=lambda row: (row[0][0], row[1].way[0], *row[0][1:]))
    return [table for _, table in order]


def _folded(failures: Sequence[CaseEvent]) -> Iterator[tuple[CaseEvent, str]]:
    """Yield each failure with the id or the pattern that covers it.

    The derived cases of a family that fail alike are one entry: of one fixture, if it alone fails so and its
    family in no other way, else of the whole topic; of all, if more than two topics fail at the same field.
    Generated examples are named without seed and number.
    """
    alike: dict[tuple[str, ...], set[str]] = {}
    topics: dict[tuple[str, ...], set[str]] = {}
    kinds: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for event in failures:
        parent, family = _parts(event)
        alike.setdefault((event.suite, family, *_failure(event)), set()).add(parent)
        topics.setdefault((event.format_id, family, *_failure(event)), set()).add(event.suite)
        kinds.setdefault((parent, family), set()).add(_failure(event))
    for event in failures:
        parent, family = _parts(event)
        if event.is_property:
            yield event, f"{parent}~*"
        elif not family:
            yield event, event.id
        elif event.signature_path and len(topics[event.format_id, family, *_failure(event)]) > 2:
            yield event, f"{event.format_id}/**~{family}:*"
        else:
            one = len(alike[event.suite, family, *_failure(event)]) == len(kinds[parent, family]) == 1
            yield event, f"{parent if one else f'{event.suite}/*'}~{family}:*"


def _parts(event: CaseEvent) -> tuple[str, str]:
    parent, _, derived = event.id.partition("~")
    return parent, derived.partition(":")[0]


def _rules_text(rules: Counter[str]) -> str:
    names = [name for name, _ in rules.most_common()]
    shown = takewhile(lambda number: len(", ".join(names[:number])) < LINE - 15, range(2, len(names) + 1))
    number = max(shown, default=1)
    more = f" and {len(names) - number} more" if number < len(names) else ""
    return ", ".join(names[:number]) + more
