"""Every Iggy mutant dies by the golden case that is named here, and leaves that case's twin alone."""

import pytest
from attrs import evolve
from each import each
from goldens import load

from tests.mutants.iggy import MUTANTS
from tests.mutants.kill import verdict_on
from wireproof.cases.fixtures import Suite

DEADLY = {
    "iggy-big-endian": "iggy.poll/0.0.30/messages/worked",
    "iggy-duplicate-desync": "iggy.send/0.0.30/headers/duplicate-key-phantom",
    "iggy-tail-dropped": "iggy.poll/0.0.60/torn/one-byte-missing",
    "iggy-log-checksum-skipped": "iggy.log/0.0.30/records/payload-flipped",
    "iggy-scan-loses-tail": "iggy.log/0.0.30/scan/torn",
    "iggy-torn-record-refused": "iggy.log/0.0.30/records/torn-last-byte",
    "iggy-kind-unchecked": "iggy.headers/0.0.30/kinds/kind-16",
    "iggy-header-length-unchecked": "iggy.headers/0.0.30/bounds/key-256",
    "iggy-value-clamped": "iggy.headers/0.0.30/bounds/value-past-end",
    "iggy-bad-block-as-none": "iggy.headers/0.0.30/bounds/value-missing",
    "iggy-limits-unchecked": "iggy.send/0.0.30/limits/headers-102401",
    "iggy-empty-payload-sent": "iggy.send/0.0.30/messages/payload-empty",
    "iggy-json-base64-lax": "iggy.json.send/0.0.30/base64/url-alphabet",
    "iggy-json-second-field-wins": "iggy.json.send/0.0.30/send/id-twice",
    "iggy-kind-swap": "iggy.headers/0.0.30/kinds/only-uint32",
    "iggy-value-size-padded": "iggy.headers/0.0.30/kinds/int32-3-bytes",
    "iggy-text-replaced": "iggy.headers/0.0.30/kinds/string-bad-utf8",
    "iggy-bool-normalised": "iggy.headers/0.0.30/kinds/bool-is-2",
    "iggy-keys-lowercased": "iggy.headers/0.0.30/map/upper-case-key",
    "iggy-null-headers": "iggy.headers/0.0.30/map/empty",
    "iggy-headers-dropped": "iggy.send/0.0.30/messages/two",
    "iggy-state-ignored": "iggy.poll/0.0.40/state/poisoned",
    "iggy-last-empty-dropped": "iggy.poll/0.0.40/messages/empty-payload-last",
    "iggy-count-trusted": "iggy.poll/0.0.60/count/zero-for-two",
    "iggy-id-reversed": "iggy.send/0.0.30/messages/id-bytes",
    "iggy-id-low-64-bits": "iggy.send/0.0.30/messages/id-max",
    "iggy-json-numbers-as-doubles": "iggy.json.send/0.0.30/id/above-2-53",
    "iggy-timestamp-milliseconds": "iggy.poll/0.0.60/messages/worked",
    "iggy-identifier-kind-ignored": "iggy.identifier/0.0.30/identifier/numeric",
    "iggy-writes-big-endian-values": "iggy.headers/0.0.30/encode/only-uint32",
    "iggy-writes-utf16-lengths": "iggy.identifier/0.0.30/encode/string-utf8",
    "iggy-writes-crc32c": "iggy.poll/0.0.40/encode/plain",
    "iggy-writes-any-header": "iggy.headers/0.0.30/encode/int32-3-bytes",
    "iggy-empty-log-refused": "iggy.log/0.0.30/records/none",
    "iggy-identifier-unchecked": "iggy.identifier/0.0.30/identifier/zero",
    "iggy-partitioning-unchecked": "iggy.partitioning/0.0.30/partitioning/partition-id-3-bytes",
    "iggy-cut-accepted": "iggy.send/0.0.30/torn/one-byte-more",
    "iggy-trailing-accepted": "iggy.poll/0.0.30/torn/one-byte-more",
    "iggy-state-unchecked": "iggy.poll/0.0.40/state/code-2",
    "iggy-send-of-none": "iggy.send/0.0.30/messages/none",
    "iggy-bad-headers-skipped": "iggy.poll/0.0.30/headers/kind-0",
    "iggy-json-text-lax": "iggy.json.send/0.0.30/text/nan",
    "iggy-json-types-coerced": "iggy.json.poll/0.0.30/messages/offset-text",
    "iggy-json-wide-numbers": "iggy.json.send/0.0.30/id/2-128",
    "iggy-json-fields-defaulted": "iggy.json.poll/0.0.30/messages/offset-missing",
    "iggy-json-kinds-unchecked": "iggy.json.send/0.0.30/headers/kind-str",
    "iggy-json-base64-skipped": "iggy.json.send/0.0.30/base64/no-base64",
    "iggy-writes-unchecked": "iggy.headers/0.0.30/encode/key-empty",
    "iggy-writes-raw-as-string": "iggy.headers/0.0.30/encode/only-string",
    "iggy-writes-small-kinds-as-raw": "iggy.headers/0.0.30/encode/only-bool",
    "iggy-writes-no-headers": "iggy.send/0.0.30/encode/two",
    "iggy-writes-balanced": "iggy.send/0.0.30/encode/partition-id",
    "iggy-writes-id-reversed": "iggy.send/0.0.30/encode/one",
    "iggy-writes-names-only": "iggy.identifier/0.0.30/encode/numeric",
    "iggy-writes-count-plus-1": "iggy.poll/0.0.30/encode/none",
    "iggy-writes-terminator": "iggy.headers/0.0.30/encode/string",
    "iggy-reserved-unchecked": "iggy.poll/0.9/messages/reserved-1",
    "iggy-index-unchecked": "iggy.send/0.7/index/last-one-more",
    "iggy-index-set": "iggy.send/0.8/index/offset-1",
    "iggy-metadata-length-unchecked": "iggy.send/0.9/metadata/length-one-less",
    "iggy-key-kind-unchecked": "iggy.headers/0.10/kinds/key-kind-0",
    "iggy-size-unchecked": "iggy.headers/0.10/bounds/value-256",
    "iggy-opaque-refused": "iggy.poll/0.9/headers/opaque",
    "iggy-phantom-delivered": "iggy.poll/0.8/phantom/header-of-zeros",
    "iggy-key-kinds-one": "iggy.headers/0.9/map/one-key-of-two-kinds",
    "iggy-headers-before-payload": "iggy.poll/0.7/messages/worked",
    "iggy-writes-index-starts": "iggy.send/0.7/encode/two",
    "iggy-batch-checksum-unchecked": "iggy.send/0.11/checksum/batch",
    "iggy-batch-count-unchecked": "iggy.send/0.11/count/batch-1",
    "iggy-frame-size-unchecked": "iggy.frame/0.11/frame/size-255",
    "iggy-frame-unbounded": "iggy.frame/0.11/frame/size-67108865",
    "iggy-frame-any-operation": "iggy.frame/0.11/frame/operation-255",
    "iggy-eviction-any-reason": "iggy.frame/0.11/frame/eviction-reason-16",
    "iggy-strategy-unchecked": "iggy.poll-request/0.8/request/strategy-kind-6",
    "iggy-wait-unlimited": "iggy.fetch-request/0.11.1-edge/request/partition-twice",
    "iggy-fetch-error-with-records": "iggy.fetch/0.11.1-edge/reply/failed-with-batches",
    "iggy-fetch-sections-unlimited": "iggy.fetch/0.11.1-edge/reply/1001-sections",
    "iggy-poll-of-none": "iggy.poll-request/0.0.30/request/count-0",
    "iggy-retained-length-unchecked": "iggy.log/0.2.7/records/length-40",
    "iggy-json-object-accepted": "iggy.json.poll/0.10/headers/object",
    "iggy-json-id-zeroed": "iggy.json.send/0.8/id/65-bits",
    "iggy-json-count-unchecked": "iggy.json.poll/0.11.1-edge/messages/count-0",
    "iggy-json-context-defaulted": "iggy.json.poll/0.11.1-edge/editions/0-11",
    "iggy-json-context-dropped": "iggy.json.send/0.11.1-edge/context/send",
    "iggy-deltas-counted": "iggy.poll/0.11/messages/sliced",
    "iggy-partition-zero": "iggy.poll-request/0.8/request/none",
    "iggy-any-flag": "iggy.poll-request/0.0.92/request/auto-commit-2",
    "iggy-empty-reply-refused": "iggy.reply/0.11/confirmations/empty",
    "iggy-json-uuid-backwards": "iggy.json.send/0.8/id/uuid",
    "iggy-writes-crc32-later": "iggy.poll/0.8/encode/worked",
    "iggy-typed-big-endian": "iggy.headers/0.9/kinds/all",
    "iggy-typed-unsigned": "iggy.headers/0.0.30/kinds/int16-high-bit",
    "iggy-typed-low-64-bits": "iggy.headers/0.0.30/numbers/uint128-high-half",
    "iggy-typed-float-widened": "iggy.headers/0.10/numbers/float32-tenth",
    "iggy-typed-as-double": "iggy.headers/0.0.30/numbers/uint64-above-2-53",
}
"""Mutant to the case it dies by."""


@pytest.fixture(scope="module", name="suite")
def _suite() -> Suite:
    return load()


def test_every_mutant_has_its_case() -> None:
    assert set(DEADLY) == set(MUTANTS)


def _only(suite: Suite, *names: str | None) -> Suite:
    return evolve(suite, cases=tuple(case for name in names if name and (case := suite.get(name))))


@each("name", DEADLY)
def test_a_mutant_dies_by_its_case(name: str, suite: Suite) -> None:
    case = suite.get(DEADLY[name])
    assert case is not None
    killed = verdict_on(f"mutant:{name}", _only(suite, case.id, case.twin), in_process=True)
    assert (killed.by, killed.count) == (case.id, 1)
    assert killed.label.startswith("fail:") or killed.label == "lenient"


@each("name", DEADLY)
def test_the_reference_passes_the_case(name: str, suite: Suite) -> None:
    case = suite.get(DEADLY[name])
    assert case is not None
    killed = verdict_on("reference", _only(suite, case.id, case.twin), in_process=True)
    assert (killed.by, killed.passed) == ("", 1 + (case.twin is not None))


@each("name", MUTANTS)
def test_a_mutant_says_in_one_line_what_is_wrong_with_it(name: str) -> None:
    assert (MUTANTS[name].__doc__ or "").strip().endswith(".")
