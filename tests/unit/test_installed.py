"""What is installed: the families of other packages, and the command that installs an extra."""

import json
import re
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import evolve
from command_line import Command
from each import each

import wireproof
from wireproof import formats, install_hint, installed_families
from wireproof.adapters.registry import readiness
from wireproof.adapters.registry.readiness import InstallationCheck
from wireproof.family import Family
from wireproof.formats import FormatTable
from wireproof.install_hint import install_command
from wireproof.installed_families import GROUP, OWN, FamilyFault, FamilyTable, Provider

KAFKA = formats.FAMILIES["kafka"]

OTHER = Family("other", (evolve(KAFKA.formats[0], name="other.frame"),))


def providers(*families: object) -> list[Provider]:
    return [
        Provider(f"package-{number}", f"point-{number}", lambda one=one: one)
        for number, one in enumerate(families)
    ]


def install(some: Iterable[Provider]) -> FamilyTable:
    return FamilyTable((), lambda: some)


def fail() -> Family:
    raise ModuleNotFoundError("No module named 'spam'")


def test_the_families_of_this_package_are_its_entry_points_in_the_same_order() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    assert project["entry-points"][GROUP] == {name: f"wireproof.{name}.suite:FAMILY" for name in OWN}


def test_a_family_that_cannot_be_loaded_is_one_line_that_names_its_package() -> None:
    found = install([Provider("spam-formats", "spam", fail), *providers(OTHER)])
    assert list(found.values()) == [OTHER]
    assert list(map(str, found.faults)) == [
        "spam-formats: the family spam cannot be loaded: ModuleNotFoundError: No module named 'spam'"
    ]


@each(
    "family, reason",
    [
        (evolve(KAFKA), "there is a family kafka already"),
        (
            Family("fourth", (KAFKA.formats[0],)),
            "the name of its format kafka.batch/v0 does not begin with fourth.",
        ),
        (evolve(OTHER, formats=OTHER.formats * 2), "it has the format other.frame/v0 twice"),
        (OTHER.formats, "its entry point is a tuple, not a wireproof.family.Family"),
    ],
)
def test_a_family_that_does_not_fit_is_not_used(family: object, reason: str) -> None:
    found = install(providers(KAFKA, family))
    assert dict(found) == {"kafka": KAFKA}
    assert found.faults == (FamilyFault("package-1", f"the family point-1 is not used: {reason}"),)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of the path with a package that provides a family and one that provides none."""
    for name, text in (
        ("spam_formats-1.0", f"[{GROUP}]\nspam = spam_formats:FAMILY\n"),
        ("eggs-1.0", "[console_scripts]\neggs = eggs:main\n"),
    ):
        metadata = tmp_path / f"{name}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            f"Name: {name.partition('-')[0].replace('_', '-')}\nVersion: 1.0\n"
        )
        (metadata / "entry_points.txt").write_text(text)
    (tmp_path / "spam_formats.py").write_text(
        "from wireproof.family import Family\nFAMILY = Family('spam', ())\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_family_is_found_by_its_entry_point(folder: Path) -> None:
    (found,) = installed_families._others([str(folder)])
    assert (found.package, found.name, found.load()) == ("spam-formats", "spam", Family("spam", ()))
    assert install([found]).packages == {"spam_formats"}


def test_a_format_that_is_unknown_because_its_family_cannot_be_loaded_shows_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults = (FamilyFault("spam-formats", "the family spam cannot be loaded: SyntaxError: no"),)
    monkeypatch.setattr(formats, "INSTALLED", SimpleNamespace(faults=faults))
    with pytest.raises(formats.UnknownFormat, match=r"spam-formats: the family spam cannot be loaded"):
        formats.get("spam.frame", "v1")
    with pytest.raises(formats.UnknownFormat, match=r"spam-formats: the family spam cannot be loaded"):
        formats.matching_ids(["spam.*"])


def test_a_family_that_cannot_be_used_is_shown_by_show_and_adapters(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = (FamilyFault("spam-formats", "the family spam is not used: no"),)
    installed = SimpleNamespace(values=lambda: [OTHER], faults=faults)
    monkeypatch.setattr("wireproof.cli.show.INSTALLED", installed)
    monkeypatch.setattr("wireproof.adapters.registry.readiness.INSTALLED", installed)
    assert wireproof("show").err == "wireproof: spam-formats: the family spam is not used: no\n"
    assert list(readiness.families()) == [
        InstallationCheck("other", "ready", "", "other.frame"),
        InstallationCheck(
            "spam-formats",
            "missing",
            "",
            "the family spam is not used: no",
            "update or remove the package spam-formats",
        ),
    ]


IGGY = formats.FAMILIES["iggy"]


def table(loaded: list[str]) -> FamilyTable:
    """Return a table of kafka, iggy and a family of another package, which lists what is loaded."""

    def provider(family: Family) -> Provider:
        def load() -> Family:
            loaded.append(family.name)
            return family

        return Provider("package", family.name, load)

    return FamilyTable([provider(KAFKA), provider(IGGY)], lambda: [provider(OTHER)])


def test_a_family_is_loaded_when_it_is_asked_for() -> None:
    loaded: list[str] = []
    rows = FormatTable(table(loaded))
    assert loaded == []
    assert rows["iggy.log/0.9"] is formats.FORMATS["iggy.log/0.9"]
    assert loaded == ["iggy"]
    assert next(iter(rows.values())) is KAFKA.formats[0]
    assert loaded == ["iggy", "kafka"]


def test_the_formats_of_families_come_one_family_after_the_other() -> None:
    loaded: list[str] = []
    rows = FormatTable(table(loaded))
    (other,), first = OTHER.formats, KAFKA.formats[0]
    rows[first.format_id], rows["spam.frame/v1"] = other, first
    groups = rows.by_family()
    assert next(groups) == [other, *KAFKA.formats[1:]]
    assert loaded == ["kafka"]
    assert list(groups) == [[*IGGY.formats], [*OTHER.formats], [first]]


# --- the command that installs an extra, by the source of wireproof itself ---


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


@each(
    "direct_url, source",
    [
        ({"url": "https://x.org/wireproof-0.1.0.whl", "archive_info": {"hash": "sha256=00"}},
         "wireproof[spark] @ https://x.org/wireproof-0.1.0.whl"),
        ({"url": "https://x.org/w.git", "vcs_info": {"vcs": "git", "requested_revision": "main",
                                                    "commit_id": COMMIT}},
         f"wireproof[spark] @ git+https://x.org/w.git@{COMMIT}"),
        ({"url": "https://x.org/a.git", "subdirectory": "w", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
         f"wireproof[spark] @ git+https://x.org/a.git@{COMMIT}#subdirectory=w"),
        *((odd, "wireproof[spark]") for odd in (None, [], {"url": 7}, {"url": "https://x.org/a\nb"}, "x")),
    ],
)  # fmt: skip
def test_an_archive_and_a_repository_are_named_by_their_url_and_nothing_else_is(
    monkeypatch: pytest.MonkeyPatch, direct_url: object, source: str
) -> None:
    installed(monkeypatch, direct_url)
    assert install_command("spark") == f"pip install '{source}'"
