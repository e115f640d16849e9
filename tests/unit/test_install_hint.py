"""The command that installs an extra: it names the source from which wireproof itself was installed."""

import json
import re
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

import wireproof
from wireproof import install_hint
from wireproof.install_hint import install_command

CHECKOUT = Path(wireproof.__file__).resolve().parents[2]

COMMIT = "1220f60000000000000000000000000000000000"


def installed(monkeypatch: pytest.MonkeyPatch, direct_url: object) -> None:
    """Pretend that wireproof was installed from `direct_url`, and not from a checkout."""
    text = None if direct_url is None else json.dumps(direct_url)
    monkeypatch.setattr(install_hint, "_checkout", lambda: None)
    monkeypatch.setattr(
        metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text, version="0.1")
    )


def test_in_the_folder_of_a_checkout_the_command_installs_that_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(CHECKOUT)
    assert re.fullmatch(r"pip install (-e )?'\.\[spark\]'", install_command("spark"))


def test_elsewhere_the_command_names_the_folder_of_the_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert install_command("fuzz").endswith(f" '{CHECKOUT}[fuzz]'")


def test_an_editable_installation_stays_editable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    installed(monkeypatch, {"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
    monkeypatch.chdir(tmp_path)
    assert install_command("spark") == "pip install -e '.[spark]'"
    monkeypatch.chdir("/")
    assert install_command("spark") == f"pip install -e '{tmp_path}[spark]'"


@pytest.mark.parametrize(
    ("direct_url", "source"),
    [
        ({"url": "https://x.org/wireproof-0.1.0.whl", "archive_info": {"hash": "sha256=00"}},
         "https://x.org/wireproof-0.1.0.whl"),
        ({"url": "https://x.org/w.git", "vcs_info": {"vcs": "git", "requested_revision": "main",
                                                    "commit_id": COMMIT}},
         f"git+https://x.org/w.git@{COMMIT}"),
        ({"url": "https://x.org/a.git", "subdirectory": "w", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
         f"git+https://x.org/a.git@{COMMIT}#subdirectory=w"),
    ],
)  # fmt: skip
def test_an_archive_and_a_repository_are_named_by_their_url(
    monkeypatch: pytest.MonkeyPatch, direct_url: object, source: str
) -> None:
    installed(monkeypatch, direct_url)
    assert install_command("spark") == f"pip install 'wireproof[spark] @ {source}'"


@pytest.mark.parametrize("direct_url", [None, [], {"url": 7}, {"url": "https://x.org/a\nb"}, "x"])
def test_from_an_index_or_from_an_unreadable_source_the_name_is_enough(
    monkeypatch: pytest.MonkeyPatch, direct_url: object
) -> None:
    installed(monkeypatch, direct_url)
    assert install_command("spark") == "pip install 'wireproof[spark]'"
