"""The mutator in fuzzers of other people finds a bug behind a checksum; their own mutations do not."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from folders import SUPPORT, TOP
from goldens import load
from machine import needs

from wireproof import formats
from wireproof.derive.mutate import seed
from wireproof.formats import FORMATS
from wireproof.report.export import export_seeds

pytestmark = pytest.mark.tools

FORMAT = "kafka.batch/v2"
TARGET = SUPPORT / "fuzz_targets" / "batch_target.c"
RUNS, RUNS_ALONE = 30_000, 1_000_000


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzzers") / "seeds"
    suite = load()
    export_seeds(suite, [case for case in suite.cases if case.format_id == FORMAT], folder)
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of one small batch, so that a fuzzer has to change the fields of the bug itself."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "least").write_bytes(seed(FORMATS[FORMAT]))
    return folder


def with_mutator(**more: str) -> dict[str, str]:
    """The environment in which a fuzzer finds the mutator of this checkout."""
    command = f"{shlex.quote(sys.executable)} -m wireproof.fuzz.mutator_process"
    path = os.pathsep.join((str(TOP / "reference"), os.environ.get("PYTHONPATH", "")))
    own = {"WIREPROOF_FORMAT": FORMAT, "WIREPROOF_MUTATOR": command, "PYTHONPATH": path}
    return {**os.environ, **own, **more}


def found(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.iterdir() if path.is_file()]


def has_the_bug(data: bytes) -> bool:
    """Whether a batch has three records, gzip, and the right checksum: so far the reference reads it too."""
    row = formats.decode_with_trace(FORMATS[FORMAT], data)
    values = {span.path: span.value for span in row.spans}
    checked = row.rejected is None or row.rejected.cls != "crc-mismatch"
    return checked and values["recordsCount"] == 3 and int(values["attributes"]) & 7 == 1


def run(
    arguments: list[str], folder: Path, environment: dict[str, str], seconds: float = 240
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        arguments, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", check=False,
        timeout=seconds, stdin=subprocess.DEVNULL,
    )  # fmt: skip


# --- libFuzzer ---


@pytest.fixture(scope="module")
def target(seeds: Path) -> Path:
    program = seeds.parent / "target"
    source = seeds / "mutator" / "wireproof_mutator.c"
    warnings = ["-Wall", "-Wextra", "-Werror", "-std=c99", "-D_GNU_SOURCE"]
    built = run(
        ["clang", "-O1", "-fsanitize=fuzzer", *warnings, str(TARGET), str(source), "-o", str(program)],
        seeds.parent, {**os.environ},
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return program


ANY_PEAK = "-rss_limit_mb=0"
"""Linux counts the peak of the process that forks as that of the new program, so that a worker of pytest that
once had 2 GiB would end libFuzzer at its first look at the memory."""


def fuzzed(
    target: Path, corpus: Path, environment: dict[str, str], runs: int = RUNS
) -> "subprocess.CompletedProcess[str]":
    flags = [
        "-seed=1",
        f"-runs={runs}",
        "-max_len=4096",
        "-len_control=0",
        "-artifact_prefix=found-",
        ANY_PEAK,
    ]
    return run([str(target), *flags, str(corpus)], corpus.parent, environment)


@needs("clang")
def test_libfuzzer_finds_a_bug_behind_a_checksum(target: Path, corpus: Path) -> None:
    done = fuzzed(target, corpus, with_mutator())
    assert "deadly signal" in done.stderr, done.stderr[-2000:]
    (data,) = [path.read_bytes() for path in corpus.parent.glob("found-crash-*")]
    assert has_the_bug(data)


@needs("clang")
def test_without_the_name_of_a_format_libfuzzer_mutates_alone_and_does_not(
    target: Path, corpus: Path
) -> None:
    environment = {name: text for name, text in with_mutator().items() if name != "WIREPROOF_FORMAT"}
    done = fuzzed(target, corpus, environment, RUNS_ALONE)
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"Done {RUNS_ALONE} runs" in done.stderr


@needs("clang")
def test_libfuzzer_minimises_the_input_that_it_found_with_the_mutator(target: Path, corpus: Path) -> None:
    fuzzed(target, corpus, with_mutator())
    (crash,) = corpus.parent.glob("found-crash-*")
    done = run(
        [str(target), "-minimize_crash=1", "-runs=300", "-exact_artifact_path=small", ANY_PEAK, str(crash)],
        corpus.parent, with_mutator(),
    )  # fmt: skip
    assert "CRASH_MIN: failed to minimize" in done.stderr, done.stderr[-2000:]
    small = (corpus.parent / "small").read_bytes()
    assert len(small) <= crash.stat().st_size
    assert has_the_bug(small)


@needs("clang")
@pytest.mark.parametrize(("command", "said"), [
    ("exit 1", "the process has ended"),
    ("printf '\\377\\377\\377\\377'; cat > /dev/null", "an answer is too long"),
])  # fmt: skip
def test_a_mutator_that_does_not_answer_is_no_finding_about_the_target(
    target: Path, corpus: Path, command: str, said: str
) -> None:
    done = fuzzed(target, corpus, with_mutator(WIREPROOF_MUTATOR=command))
    assert done.returncode == 3
    assert said in done.stderr
    assert "deadly signal" not in done.stderr
    assert not list(corpus.parent.glob("found-*"))


@needs("clang")
def test_libfuzzer_in_a_child_process_has_a_mutator_too(target: Path, corpus: Path) -> None:
    flags = ["-fork=1", "-seed=1", "-max_total_time=60", "-max_len=4096", "-artifact_prefix=found-", ANY_PEAK]
    run([str(target), *flags, str(corpus)], corpus.parent, with_mutator())
    assert any(has_the_bug(path.read_bytes()) for path in corpus.parent.glob("found-crash-*"))


# --- cargo-fuzz ---

RUST_FLAGS = (
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
)
"""The instrumentation of cargo-fuzz, which needs a nightly Rust; with these flags a stable one will do."""


@needs("cargo", "cc")
def test_a_rust_target_finds_a_bug_behind_a_checksum(seeds: Path, corpus: Path, tmp_path: Path) -> None:
    source = SUPPORT / "fuzz_targets" / "rust"
    host = run(["rustc", "--print", "host-tuple"], tmp_path, {**os.environ}).stdout.strip()
    folders = ["--target", host, "--target-dir", str(tmp_path)]
    flags = {"RUSTFLAGS": " ".join(RUST_FLAGS), "WIREPROOF_SEEDS": str(seeds)}
    built = run(
        ["cargo", "build", "--quiet", "--release", "--locked", *folders],
        source,
        {**os.environ, **flags},
        seconds=900,
    )
    assert built.returncode == 0, built.stderr[-3000:]
    target = tmp_path / host / "release" / "batch-target"
    done = fuzzed(target, corpus, with_mutator())
    assert "three records, compressed with gzip" in done.stderr, done.stderr[-2000:]
    (data,) = [path.read_bytes() for path in corpus.parent.glob("found-crash-*")]
    assert has_the_bug(data)


# --- AFL++ ---


AFL = {
    "AFL_NO_UI": "1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_NO_AFFINITY": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    "AFL_BENCH_UNTIL_CRASH": "1",
}


@pytest.fixture(scope="module")
def afl_target(seeds: Path) -> Path:
    program = seeds.parent / "target-afl"
    built = run(
        ["afl-clang-fast", "-O1", "-fsanitize=fuzzer", str(TARGET), "-o", str(program)],
        seeds.parent, {**os.environ, "AFL_QUIET": "1"},
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return program


def run_afl(target: Path, corpus: Path, seconds: int, environment: dict[str, str]) -> dict[str, str]:
    """Run AFL++ until it finds a crash, and return its statistics."""
    out = corpus.parent / "out"
    done = run(
        ["afl-fuzz", "-s", "1", "-V", str(seconds), "-i", str(corpus), "-o", str(out), "--", str(target)],
        corpus.parent, {**environment, **AFL},
    )  # fmt: skip
    stats = out / "default" / "fuzzer_stats"
    assert stats.is_file(), done.stdout[-3000:] + done.stderr[-1000:]
    return dict(re.findall(r"^(\w+) *: (.*)$", stats.read_text("utf-8"), re.MULTILINE))


@needs("afl-fuzz", "afl-clang-fast")
def test_afl_finds_a_bug_behind_a_checksum(seeds: Path, afl_target: Path, corpus: Path) -> None:
    path = os.pathsep.join((str(seeds / "mutator"), with_mutator()["PYTHONPATH"]))
    stats = run_afl(afl_target, corpus, 120, with_mutator(AFL_PYTHON_MODULE="wireproof_afl", PYTHONPATH=path))
    assert int(stats["saved_crashes"]) == 1
    crashes = (corpus.parent / "out" / "default" / "crashes").glob("id*")
    assert [has_the_bug(path.read_bytes()) for path in crashes] == [True]


@needs("afl-fuzz", "afl-clang-fast")
def test_afl_alone_does_not(afl_target: Path, corpus: Path) -> None:
    stats = run_afl(afl_target, corpus, 15, {**os.environ})
    assert int(stats["saved_crashes"]) == 0
    assert int(stats["execs_done"]) > RUNS
