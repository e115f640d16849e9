"""The connections to a cluster."""

import pytest
from each import each

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from wireproof.kafka.family.live_broker.cluster import CERTIFICATE_ALERT, _data_before_end

END = ConnectionError("socket disconnected")


@pytest.mark.parametrize(
    ("read", "kept"),
    [((b"answer", END), (b"answer", None)), ((b"answer", None), (b"answer", None)), ((b"", END), (b"", END))],
)
def test_an_answer_right_before_the_end_is_not_lost(
    read: tuple[bytes, Exception | None], kept: tuple[bytes, Exception | None]
) -> None:
    assert _data_before_end(lambda: read) == kept


@each(
    "text, found",
    [
        ("[SSL: SSLV3_ALERT_BAD_CERTIFICATE] sslv3 alert bad certificate", True),
        ("[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert certificate required", True),
        ("[SSL: TLSV1_ALERT_UNKNOWN_CA] tlsv1 alert unknown ca", True),
        ("[SSL: SSLV3_ALERT_HANDSHAKE_FAILURE] sslv3 alert handshake failure", False),
    ],
)
def test_an_alert_about_a_certificate_is_known(text: str, *, found: bool) -> None:
    assert bool(CERTIFICATE_ALERT.search(text)) is found
