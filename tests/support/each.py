"""One test for many rows, which reports every row that fails: pytest's own parameters make a test of each."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest

LONGEST: Final = 100
"""Characters of a row's name."""


def each(
    names: str, rows: Iterable[Any], ids: Callable[[Any], object] = str
) -> Callable[[Callable[..., None]], Any]:
    """Call the decorated check with each of some rows, in place of `pytest.mark.parametrize`.

    Its other parameters are fixtures, which all rows share. The test fails with a line for each row that
    fails, and with the traceback of the first.

    Args:
        names: of the parameters, separated by commas; with several of them a row is a tuple.
        rows: their values.
        ids: names a row in the report.
    """
    wanted = [name.strip() for name in names.split(",")]
    kept = [_row(one, ids, several=len(wanted) > 1) for one in rows]

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        def test(**fixtures: Any) -> None:
            failed: list[tuple[str, Exception]] = []
            skipped: list[str] = []
            for name, values in kept:
                try:
                    check(**dict(zip(wanted, values, strict=True)), **fixtures)
                except pytest.skip.Exception as reason:  # the other rows are checked nevertheless
                    skipped.append(f"{name}: {reason}")
                except Exception as error:  # noqa: BLE001 - of any kind: the row has failed
                    failed.append((name, error))
            if failed:
                lines = [f"{name}: {first_line(error)}" for name, error in failed]
                raise AssertionError("\n".join((f"{len(failed)} of {len(kept)}:", *lines))) from failed[0][1]
            assert kept, "there are no rows"
            if skipped:
                pytest.skip(f"{len(skipped)} of {len(kept)}: {skipped[0]}")  # with the reason of the first

        own = inspect.signature(check)
        others = [parameter for name, parameter in own.parameters.items() if name not in wanted]
        test.__signature__ = own.replace(parameters=others)  # type: ignore[attr-defined]
        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        test.__wrapped__ = check  # type: ignore[attr-defined] # whose line pytest shows
        return test

    return decorate


def _row(row: Any, ids: Callable[[Any], object], *, several: bool) -> tuple[str, tuple[Any, ...]]:
    """Return the name and the values of a row, which may be a `pytest.param` without marks."""
    if isinstance(row, type(pytest.param())):
        assert not row.marks, f"{row.id}: the rows of one test have no marks of their own"
        values = tuple(row.values)
        return str(row.id or ids(values if several else values[0]))[:LONGEST], values
    return str(ids(row))[:LONGEST], tuple(row) if several else (row,)


def first_line(error: Exception) -> str:
    """Return what an error says, on one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]
