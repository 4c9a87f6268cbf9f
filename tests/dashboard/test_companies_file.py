"""The editor's hand on a companies file."""

from pathlib import Path

import pytest

from newscrawl.dashboard.companies_file import (
    CompaniesFile,
    CompaniesFileError,
    registry_of,
    small_registry,
)
from newscrawl.mentions import Company, load_companies

FILE = """\
# Our own watch list.

[[company]]
name = "Quayside Works"  # by the river
aliases = ["Quayside"]
owner = "desk 4"

# Second thoughts below.
[[company]]
name = "Northern Ferry"
"""


@pytest.fixture
def file(tmp_path: Path) -> CompaniesFile:
    path = tmp_path / "companies.toml"
    path.write_text(FILE, "utf-8")
    return CompaniesFile(path)


def put(file: CompaniesFile, entry: Company, instead_of: str | None = None) -> str:
    file.save(entry, instead_of=instead_of, mark=file.open().mark)
    return file.path.read_text("utf-8")


def test_new_entry_is_appended_and_nothing_else_changes(file):
    text = put(file, Company(name="Harbour Bank", aliases=('The "Bank"', "Łódź Bank")))
    assert text.startswith(FILE)
    (found,) = [company for company in file.open().companies if company.name == "Harbour Bank"]
    assert found.aliases == ('The "Bank"', "Łódź Bank")


def test_edited_entry_keeps_place_comments_and_other_keys(file):
    entry = Company(name="Quayside Works AG", aliases=("Quay",), facts={"country": "GB"})
    text = put(file, entry, instead_of="Quayside Works")
    assert text == FILE.replace(
        'name = "Quayside Works"  # by the river\naliases = ["Quayside"]\nowner = "desk 4"\n',
        'name = "Quayside Works AG"  # by the river\naliases = ["Quay"]\nowner = "desk 4"\n'
        'country = "GB"\n',
    )


@pytest.mark.thorough
def test_groups_below_the_last_entry_stay(file):
    groups = '\n[groups]\n"our competitors" = ["Northern Ferry", "Siemens"]\n'
    file.path.write_text(FILE + groups, "utf-8")
    put(file, Company(name="Northern Ferry", aliases=("Ferry Line",)), "Northern Ferry")
    text = put(file, Company(name="Harbour Bank"))
    assert groups in text
    assert file.open().groups == {"our competitors": ("Northern Ferry", "Siemens")}
    with pytest.raises(CompaniesFileError, match="not a company of the registry"):
        file.delete("Northern Ferry", mark=file.open().mark)


def test_every_entry_can_be_deleted(file):
    for name in ("Quayside Works", "Northern Ferry"):
        file.delete(name, mark=file.open().mark)
    assert file.open().companies == ()
    assert file.path.read_text("utf-8").startswith("# Our own watch list.")


def test_missing_file_is_created(tmp_path):
    file = CompaniesFile(tmp_path / "new.toml")
    put(file, Company(name="Harbour Bank"))
    assert [company.name for company in load_companies(file.path, alone=True)] == ["Harbour Bank"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (Company(name="you"), "everyday word"),
        (Company(name=""), "without a name"),
        (Company(name="Harbour Bank", aliases=("Northern Ferry",)), "stands for"),
        (Company(name="Northern Ferry"), "a second entry named"),
        (Company(name="Harbour Bank", exclude=("apple pie",)), "contains no form"),
    ],
    ids=["flood", "no name", "clash", "twice", "exclusion"],
)
def test_invalid_entry_is_not_written(file, entry, message):
    with pytest.raises(CompaniesFileError, match=message):
        put(file, entry)
    assert file.path.read_text("utf-8") == FILE
    assert list(file.path.parent.iterdir()) == [file.path]


def test_changed_file_is_not_overwritten(file):
    mark = file.open().mark
    file.path.write_text(FILE + "\n# a colleague was here\n", "utf-8")
    with pytest.raises(CompaniesFileError, match="has changed since"):
        file.save(Company(name="Harbour Bank"), instead_of=None, mark=mark)


def test_deleted_entry_is_not_edited(file):
    with pytest.raises(CompaniesFileError, match="no longer in the file"):
        put(file, Company(name="Harbour Bank"), instead_of="Old Mill")


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("bad.toml", "[[company]]\nname = \n", "Mend the file first"),
        ("list.csv", "name\nHarbour Bank\n", "It is a table"),
    ],
)
def test_file_that_cannot_be_rewritten_is_reported(tmp_path, name, content, fault):
    path = tmp_path / name
    path.write_text(content, "utf-8")
    file = CompaniesFile(path)
    with pytest.raises(CompaniesFileError, match=fault):
        file.save(Company(name="Harbour Bank"), instead_of=None, mark=file.open().mark)
    assert path.read_text("utf-8") == content


def test_folder_is_shown_and_not_written_to(file):
    opened = CompaniesFile(file.path.parent).open()
    assert [company.name for company in opened.companies] == ["Quayside Works", "Northern Ferry"]
    assert opened.fault


def test_file_mode_and_symbolic_link_are_kept(file):
    file.path.chmod(0o640)
    link = file.path.with_name("link.toml")
    link.symlink_to(file.path)
    put(CompaniesFile(link), Company(name="Harbour Bank"))
    assert link.is_symlink()
    assert file.path.stat().st_mode & 0o777 == 0o640
    assert "Harbour Bank" in file.path.read_text("utf-8")


def test_definition_can_be_tried_alone():
    (mention,) = small_registry(Company(name="Harbour Bank")).find("The Harbour Bank opens.")
    assert mention.company == "Harbour Bank"


@pytest.mark.thorough
def test_form_shows_what_is_written_and_not_what_follows_from_it(file):
    put(file, Company(name="Moser & Söhne GmbH"))
    put(file, Company(name="Siemens AG"))
    opened = {company.name: company for company in file.open().companies}
    for name in ("Moser & Söhne GmbH", "Siemens AG"):
        assert opened[name] == Company(name=name)
    assert "Siemens" in [alias for company in registry_of(file) for alias in company.aliases]


def test_name_that_looks_like_toml_stays_a_name(file):
    put(file, Company(name='A"]\n[[company]]\nname = "B'))
    names = [company.name for company in file.open().companies]
    assert names[-1] == 'A"]\n[[company]]\nname = "B'
