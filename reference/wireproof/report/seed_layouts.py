"""The layouts in which fuzzers read seeds and dictionaries: files of one format, by their paths.

libfuzzer/FORMAT/, FORMAT_seed_corpus.zip, FORMAT.dict    also for cargo-fuzz; the archive is for OSS-Fuzz
afl/FORMAT/, FORMAT.dict                                  `afl-fuzz -i` and `-x`
go/testdata/fuzz/FuzzNAME/                                beside the test with this name; no dictionary
jazzer/NAMEFuzzTestInputs/decode/, FORMAT.dict            resources beside the class NAMEFuzzTest
"""

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha1, sha256
from io import BytesIO
from typing import Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from wireproof.cases.mutate.dictionary import dictionary, dictionary_text
from wireproof.formats import Format
from wireproof.report.licence import SPDX_LINE

SeedLayout = Callable[[Format, Sequence[bytes]], Iterator[tuple[str, bytes]]]
"""Yields the path and the content of each file, from a format and its seeds."""

_PLAIN: Final = {byte: chr(byte) for byte in range(0x20, 0x7F)} | {0x22: r"\"", 0x5C: r"\\"}
"""Byte to its text in a string of Go, for bytes that are printed; the others are `\\x` and two digits."""


def libfuzzer(row: Format, seeds: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield a folder, an archive with the name that OSS-Fuzz expects, and a dictionary."""
    name = file_name(row)
    yield f"libfuzzer/{name}_seed_corpus.zip", _archive(seeds)
    yield from _folder_and_dictionary(f"libfuzzer/{name}/", f"libfuzzer/{name}.dict", row, seeds)


def afl(row: Format, seeds: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield a folder and a dictionary."""
    name = file_name(row)
    yield from _folder_and_dictionary(f"afl/{name}/", f"afl/{name}.dict", row, seeds)


def go(row: Format, seeds: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the folder of a fuzz test; files have the names that Go gives them."""
    for data in map(go_file, seeds):
        name = sha256(data).hexdigest()[:16]
        yield f"go/testdata/fuzz/Fuzz{class_name(row.format_id)}/{name}", data


def jazzer(row: Format, seeds: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the folder in which the JUnit integration looks for the inputs of a method, and a dictionary."""
    folder = f"jazzer/{class_name(row.format_id)}FuzzTestInputs/decode/"
    yield from _folder_and_dictionary(folder, f"jazzer/{file_name(row)}.dict", row, seeds)


LAYOUTS: Final[tuple[SeedLayout, ...]] = (libfuzzer, afl, go, jazzer)


def file_name(row: Format) -> str:
    """Return the name of a format's files: `kafka.batch-v2`."""
    return row.format_id.replace("/", "-")


def class_name(format_id: str) -> str:
    """Return the name of a format in Go and Java: `KafkaBatch_v2`."""
    name, _, revision = format_id.partition("/")
    return "".join(word.capitalize() for word in re.split(r"\W", name)) + "_" + re.sub(r"\W", "_", revision)


def go_file(data: bytes) -> bytes:
    """Return a file of Go's corpus: its version, and the argument of the fuzz test as Go writes it."""
    text = "".join(_PLAIN.get(byte, f"\\x{byte:02x}") for byte in data)
    return f'go test fuzz v1\n[]byte("{text}")\n'.encode("ascii")


def _folder_and_dictionary(
    folder: str, words: str, row: Format, seeds: Sequence[bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yield seeds under the names that libFuzzer gives them, and a dictionary in libFuzzer's syntax."""
    yield from ((folder + _name(data), data) for data in seeds)
    yield words, f"# {SPDX_LINE}\n{dictionary_text(dictionary(row))}".encode("ascii")


def _name(data: bytes) -> str:
    return sha1(data, usedforsecurity=False).hexdigest()


def _archive(seeds: Sequence[bytes]) -> bytes:
    """Return a ZIP archive of the seeds, without times and compression: it is the same on every machine."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for data in seeds:
            entry = ZipInfo(_name(data))
            entry.create_system = 3  # else the system that writes it
            archive.writestr(entry, data)
    return buffer.getvalue()
