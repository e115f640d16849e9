"""Python objects as adapters, for the tests of objects, worker and registry; workers import them too."""

import os
import sys
from typing import Any

from wireproof.adapters.contract import Claim, Request
from wireproof.adapters.registry.registered import Entry
from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof.wire.rejection import Rejected


class DocumentedError(Exception):
    """An exception that a library documents."""


class SubError(DocumentedError):
    """One of its kinds."""


class Unprintable(Exception):  # noqa: N818 - it is a nuisance
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Panic(BaseException):
    """No Exception, as a panic of a Rust extension is none."""


class Toy:
    """Does what the bytes say."""

    name = "toy"
    version = "1.2"
    documented = (DocumentedError,)
    window = 8
    revisions = {"toy/v1": Claim(("decode",), observes=("a", "list[].x"))}  # noqa: RUF012 - read only

    def decode(self, request: Request) -> Any:
        return getattr(self, request.data.decode())()

    def value(self) -> Outcome:
        return Accepted({"a": "1", "hidden": "2", "list": [{"x": "3", "y": "4"}]}, 5)

    def rejected(self) -> Outcome:
        raise Rejected("crc-mismatch", "61>3", "crc", "wants 1", detail="CRC", before={"batches": []})

    def documented_error(self) -> Outcome:
        raise SubError("two\n lines")

    def undocumented(self) -> Outcome:
        return {}["key"]  # type: ignore[no-any-return] # raises KeyError

    def unprintable(self) -> Outcome:
        raise Unprintable

    def memory(self) -> Outcome:
        raise MemoryError

    def hoard(self) -> Outcome:
        return Accepted({"length": str(len(bytearray(1 << 40)))})

    def exits(self) -> Outcome:
        sys.exit("library gave up")

    def panics(self) -> Outcome:
        raise Panic("called Option::unwrap() on None")

    def bare_rejected(self) -> Outcome:
        raise Rejected("crc-mismatch", at=17)

    def unprintable_text(self) -> Outcome:
        raise ValueError("a\x1b[31m\nb ::error::c \u202ed")

    def type_error(self) -> Outcome:
        return Accepted(len(None))  # type: ignore[arg-type] # the fault itself

    def misuse_keyword(self) -> Outcome:
        return Accepted(kept_size={"a": "1"})  # type: ignore[call-arg] # the fault itself

    def misuse_missing(self) -> Outcome:
        raise Rejected  # type: ignore[call-arg] # the fault itself

    def misuse_field(self) -> Outcome:
        return Accepted(Request("7", "decode", "toy", "v1").bytes)  # type: ignore[attr-defined] # the fault itself

    def misuse_frozen(self) -> Outcome:
        outcome = Accepted()
        outcome.value = {"a": "1"}  # type: ignore[misc] # the fault itself
        return outcome

    def misuse_name(self) -> Outcome:
        from wireproof.adapters import Acepted  # type: ignore[attr-defined] # noqa: PLC0415 - the fault itself

        return Acepted()  # type: ignore[no-any-return] # the fault itself

    def recursion(self) -> Outcome:
        return self.recursion()

    def nothing(self) -> None:
        return None

    def unsupported(self) -> Outcome:
        return Unsupported("not here")

    def prints(self) -> Outcome:
        sys.stdout.write("from Python\n")
        os.write(1, b"from C\n")
        return Accepted({"stdin": sys.stdin.read()})

    def no_json(self) -> Outcome:
        return Accepted({"a": b"bytes"})  # type: ignore[dict-item] # the fault under test

    def large(self) -> Outcome:
        return Accepted({"a": "00" * (17 << 20)})

    def dies(self) -> Outcome:
        os._exit(7)


def make() -> Toy:
    return Toy()


ROW = Entry("toy-row", "a row of its own", object="toy_codecs:Toy", environment={"TOY": "1"})
NEEDY = Entry("needy", object="no_such_library:Adapter", extra="peers")
