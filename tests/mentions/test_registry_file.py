"""Companies files: what they may say, and how a fault in one is named."""

import os
import re
import tomllib
from datetime import date
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from newscrawl.config import SettingError
from newscrawl.dashboard.companies_file import CompaniesFile, CompaniesFileError, registry_of
from newscrawl.mentions import CompaniesError, load_companies
from newscrawl.mentions.registry import BUNDLED, registry_digest
from newscrawl.storage import company_alerts, open_database, queries
from pipelines.mentions import MentionsPipeline
from tests.worlds import body, bundled_companies, document, register, save_document


def write(folder, text, name="mine.toml"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def entry(**keys):
    lines = ["[[company]]"]
    for key, value in keys.items():
        lines.append(f"{key} = {value!r}".replace("'", '"'))
    return "\n".join(lines)


def test_bundled_registry_has_over_a_thousand_companies():
    companies = bundled_companies()
    assert len(companies) >= 1000
    countries = {company.facts["country"] for company in companies}
    assert {"US", "GB", "DE", "FR", "ES", "IT", "PL", "RU", "GR", "CN", "JP"} <= countries


@pytest.mark.parametrize("file", sorted(BUNDLED.glob("*.toml")), ids=lambda file: file.stem)
def test_bundled_file_has_a_line_for_each_entry_in_the_order_of_their_names(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    begin = lines.index("company = [") + 1
    assert all(not line or line.startswith("#") for line in lines[: begin - 1])
    assert lines[-1] == "]"
    entries = [
        tomllib.loads(f"entry = {line.removesuffix(',')}")["entry"] for line in lines[begin:-1]
    ]
    assert entries == tomllib.loads("\n".join(lines))["company"]
    names = [company["name"] for company in entries]
    assert names == sorted(names, key=lambda name: (name.casefold(), name))


def test_company_is_found_by_name_and_alias_in_any_case():
    companies = bundled_companies()
    assert companies.by_name("volkswagen") is companies.by_name("VW")
    assert companies.by_name("nobody of that name") is None


def test_facts_and_tickers_are_kept(tmp_path):
    file = write(
        tmp_path, entry(name="Acme Rockets", ticker=["NYSE:ACM"], country="US", founded=1949)
    )
    company = load_companies(file, alone=True)[0]
    assert company.tickers == ("NYSE:ACM",)
    assert company.facts == {"country": "US", "founded": "1949"}


def test_csv_file_is_read_like_toml(tmp_path):
    table = (
        "name,aliases,ambiguous,context,country\nAcme Rockets,Acme|ACR,Acme,rocket*|launch*,US\n"
    )
    companies = load_companies(write(tmp_path, table, "mine.csv"), alone=True)
    assert companies[0].aliases == ("Acme", "ACR")
    assert not companies.find("The Acme of success.")
    assert companies.find("Acme built a rocket.")[0].company == "Acme Rockets"


def _workbook(rows: list[list[str | None]]) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    content = BytesIO()
    book.save(content)
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.csv", "Firma;Ort\nGebr. Hölm GmbH;Kiel\n\nQuay & Söhne AG;Linz\n".encode("cp1252")),
        (
            "mine.csv",
            "Société\tVille\nGebr. Hölm GmbH\tLyon\nQuay & Söhne AG\tNice".encode("utf-16"),
        ),
        (
            "mine.tsv",
            "Ville\tEmpresa\nKiel\tGebr. Hölm GmbH\nLinz\tQuay & Söhne AG".encode("utf-16-le"),
        ),
        ("mine.txt", "Gebr. Hölm GmbH\n\nQuay & Söhne AG\nQuay & Söhne AG\n".encode()),
        ("mine.csv", "\ufeffCompany:\r\nGebr. Hölm GmbH\r\nQuay & Söhne AG\r\n".encode()),
        (
            "mine.xlsx",
            _workbook(
                [
                    ["Our list"],
                    [None, "会社名"],
                    ["1", "Gebr. Hölm GmbH"],
                    [None, "Quay & Söhne AG"],
                ]
            ),
        ),
    ],
)
def test_lists_from_spreadsheets_are_read(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    companies = load_companies(file, alone=True)
    assert [company.name for company in companies] == ["Gebr. Hölm GmbH", "Quay & Söhne AG"]
    assert [m.company for m in companies.find("Gebrüder Hölm wächst.")] == ["Gebr. Hölm GmbH"]


def test_folder_is_read_file_by_file(tmp_path):
    write(tmp_path, entry(name="Acme Rockets"), "a.toml")
    write(tmp_path, entry(name="Bolt Works"), "b.toml")
    companies = load_companies(tmp_path, alone=True)
    assert [company.name for company in companies] == ["Acme Rockets", "Bolt Works"]


def test_capitalized_common_word_can_be_an_unambiguous_name(tmp_path):
    file = write(tmp_path, entry(name="Apple", exclude=["Apple pie*"]))
    companies = load_companies(file, alone=True)
    assert [m.surface for m in companies.find("Apple ate an apple and Apple pies.")] == ["Apple"]


def test_ambiguity_can_be_limited_to_languages(tmp_path):
    file = write(
        tmp_path, entry(name="Gatto", ambiguous=["Gatto"], ambiguous_in=["it"], context=["x"])
    )
    companies = load_companies(file, alone=True)
    assert companies.find("Gatto steigt ein.", language="de")
    assert not companies.find("Gatto nero.", language="it")
    assert not companies.find("Gatto nero.")


def test_local_form_counts_only_in_the_languages_of_its_country(tmp_path):
    file = write(
        tmp_path, entry(name="Vinter Energi", aliases=["Vinter"], local=["Vinter"], country="NO")
    )
    companies = load_companies(file, alone=True)
    assert companies.find("Vinter kutter 200 stillinger.", language="no")
    assert not companies.find("Vinter is a surname.", language="en")
    assert not companies.find("Vinter is a surname.")
    assert companies.find("Vinter Energi is a company.", language="en")


FAULTS = [
    pytest.param(
        entry(name="Acme", local=["Ac"], country="NO"),
        3,
        "neither the name",
        id="unknown local form",
    ),
    pytest.param(
        entry(name="Acme", local=["Acme"], country="GB"),
        3,
        "need a country",
        id="local without home",
    ),
    pytest.param(entry(name="You"), 2, "everyday word", id="function word"),
    pytest.param(entry(name="Acme", aliases=["monday"]), 3, "everyday word", id="weekday"),
    pytest.param(entry(name="Next"), 2, "common word", id="everyday word without doubt"),
    pytest.param(entry(name="apple"), 2, "common word", id="common word in small letters"),
    pytest.param(entry(name="X"), 2, "single letter", id="single letter"),
    pytest.param(entry(name="24"), 2, "no letter", id="digits"),
    pytest.param(
        entry(name="Acme", parent="Siemens", since="May 2014"), 4, "is not a day", id="no day"
    ),
    pytest.param(entry(name="Acme", since="2014"), 3, "has no owner", id="days without an owner"),
    pytest.param(
        entry(name="Acme", parent="Siemens", since="2014", until="2013"),
        5,
        "until before since",
        id="until before since",
    ),
    pytest.param(entry(name="Acme", aliases=["CEO"]), 3, "abbreviation", id="abbreviation"),
    pytest.param(entry(name="Berlin"), 2, "is a place", id="place"),
    pytest.param(entry(name="Acme", aliases=["Peter"]), 3, "given name", id="given name"),
    pytest.param(entry(name="abc"), 2, "short word in small letters", id="short small letters"),
    pytest.param(entry(name="A" * 200), 2, "over 120 characters", id="endless name"),
    pytest.param(entry(aliases=["Acme"]), 1, "without a name", id="no name"),
    pytest.param(entry(name="Acme", aliases="Acme Inc"), 3, "not a list of phrases", id="no list"),
    pytest.param(entry(name="Acme", aliases=["Ac*"]), 3, "stems", id="star in an alias"),
    pytest.param(entry(name="Acme", stems=["Ac*"]), 3, "under 3 letters", id="short stem"),
    pytest.param(
        entry(name="Acme", exclude=["pie chart"]), 3, "contains no form", id="idle exclusion"
    ),
    pytest.param(entry(name="Acme", exclude=["acme"]), 3, "a form itself", id="exclusion of all"),
    pytest.param(entry(name="Acme", alias=["Acme Inc"]), 3, '"alias"', id="misspelled key"),
    pytest.param(
        entry(name="Acme", ambiguous=["Acme"], context=["@nonsense"]),
        4,
        "unknown topic",
        id="topic",
    ),
    pytest.param(
        entry(name="Acme") + "\n" + entry(name="Acme"), 4, "second entry", id="same name twice"
    ),
    pytest.param(
        entry(name="Acme", aliases=["Ako"]) + "\n" + entry(name="Bolton", aliases=["Ako"]),
        6,
        "stands for",
        id="same alias twice",
    ),
    pytest.param('[[company]]\nname = "Acme\n', 2, "not TOML", id="broken TOML"),
    pytest.param(
        'company = [\n{name = "Bolton"},\n{name = "Acme", kind = "firm"},\n]',
        3,
        "unknown kind",
        id="entry of a line",
    ),
    pytest.param(
        'company = [{name = "Bolton"}, {name = "Acme", kind = "firm"}]',
        None,
        "unknown kind",
        id="entries that share a line",
    ),
    pytest.param('[[firm]]\nname = "Acme"\n', None, "unknown table", id="other table"),
    pytest.param(f"x = {'[' * 5000}", None, "nested too deeply", id="deep nesting"),
    pytest.param(entry(name="Acme") + f"\nx = {'{a=' * 5000}", None, "nested", id="deep tables"),
    pytest.param(entry(name="Acme") + f"\nx{'.x' * 5000} = 1", 1, "nested", id="deep keys"),
    pytest.param(
        entry(name="Acme") + f"\nfounded = {'9' * 5000}",
        None,
        "too many digits",
        id="endless number",
    ),
    pytest.param(
        entry(name="Acme") + f"\nfounded = 0x{'f' * 5000}", 1, "too many digits", id="hexadecimal"
    ),
    pytest.param("", None, "no company", id="empty file"),
    pytest.param(
        'bundled = "no"\n' + entry(name="Acme"), None, "neither true nor false", id="bundled"
    ),
    pytest.param(
        entry(name="Acme") + "\nbundled = false", 3, "not a key of an entry", id="bundled below"
    ),
]


@pytest.mark.parametrize(("text", "line", "fault"), FAULTS)
def test_error_is_one_line_with_its_place(tmp_path, text, line, fault):
    file = write(tmp_path, text)
    with pytest.raises(CompaniesError) as caught:
        load_companies(file, alone=True)
    message = str(caught.value)
    assert caught.value.line == line
    assert caught.value.file == str(file)
    assert fault in message
    assert caught.value.advice in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        pytest.param(
            "bad.toml", "[[company]]\nname = 'caf\xe9'".encode("latin-1"), "UTF-8", id="charset"
        ),
        pytest.param("bad.csv", b"title,aliases\nAcme,\n", 'column "name"', id="CSV header"),
        pytest.param("bad.csv", b'name\n"Acme\n', "not CSV", id="open quote"),
        pytest.param("bad.csv", b'name,country\n"Acme\n', "not CSV", id="open quote in a table"),
        pytest.param("bad.xlsx", b"PK\x03\x04", "not a workbook", id="cut workbook"),
        pytest.param("bad.xlsx", b"\xd0\xcf\x11\xe0", "old Excel", id="old Excel"),
    ],
)
def test_unreadable_file_is_named(tmp_path, name, content, fault):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(CompaniesError, match=fault):
        load_companies(file, alone=True)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(CompaniesError, match="no such file"):
        load_companies(tmp_path / "nowhere.toml", alone=True)


@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
def test_pipe_or_device_is_refused_and_not_waited_for(newscrawl, tmp_path, folder):
    os.mkfifo(tmp_path / "pipe.toml")
    pipe = tmp_path if folder else tmp_path / "pipe.toml"
    for file in (pipe, Path("/dev/zero")):
        for arguments in (("check", file), ("find", "Siemens", "--companies", file)):
            ran = newscrawl("companies", *arguments)
            assert (ran.code, ran.err.count("\n")) == (2, 1)
            assert "is not a file; save its content as a file" in " ".join(ran.err.split())
        with pytest.raises(CompaniesError, match="not a file"):
            registry_digest(file)
        assert "not a file" in CompaniesFile(file).open().fault
        with pytest.raises(CompaniesFileError, match="not a file"):
            registry_of(CompaniesFile(file))
        crawler = Crawler(Spider, Settings({"NEWSCRAWL_COMPANIES": str(file)}))
        with pytest.raises(SettingError, match=r"NEWSCRAWL_COMPANIES: .* is not a file"):
            MentionsPipeline.from_crawler(crawler)


@pytest.mark.parametrize("name", ["USB", "Paris", "Peter", "Next"])
def test_common_name_can_be_an_ambiguous_name(tmp_path, name):
    file = write(tmp_path, entry(name=name, ambiguous=[name], context=["rocket*"]))
    companies = load_companies(file, alone=True)
    assert not companies.find(f"They spoke of {name} for days.", language="en")
    assert companies.find(f"A rocket by the firm {name} rose.", language="en")


BROKEN = '[[company]]\nname = "Acme Rockets"\n\n[[company]]\nname = "Acme\n'


def test_crawl_with_an_unreadable_registry_is_refused(tmp_path):
    file = write(tmp_path, BROKEN)
    crawler = Crawler(Spider, Settings({"NEWSCRAWL_COMPANIES": str(file)}))
    with pytest.raises(SettingError) as caught:
        MentionsPipeline.from_crawler(crawler)
    assert str(caught.value).startswith(f"NEWSCRAWL_COMPANIES: {file}, line 5: not TOML")


def test_command_names_an_unreadable_registry(newscrawl, tmp_path):
    file = write(tmp_path, BROKEN)
    for arguments in (("check", file), ("find", "Siemens", "--companies", file)):
        ran = newscrawl("companies", *arguments)
        assert ran.code == 2
        assert ran.err.count("\n") == 1
        assert f"{file}, line 5: not TOML" in ran.err


def test_unreadable_registry_changes_nothing_in_the_database(newscrawl, tmp_path):
    file = write(tmp_path, BROKEN)
    with open_database("sqlite:///newscrawl.sqlite") as database:
        save_document(database, document(mentions=[body("Siemens")]), register(database))
        before = queries.company_ranking(database)
        assert newscrawl("alerts", "watch", "Siemens", "--companies", file).code == 2
        assert company_alerts.watched_companies(database) == []
        assert queries.company_ranking(database) == before


def names(companies, origin):
    return [company.name for company in companies if company.origin == origin]


def test_own_companies_stand_beside_the_bundled_ones(tmp_path):
    companies = load_companies(write(tmp_path, entry(name="Quayside Works")))
    assert names(companies, "own") == ["Quayside Works"]
    assert len(companies) == len(bundled_companies()) + 1
    found = companies.find("Quayside Works sues Siemens AG.")
    assert [mention.company for mention in found] == ["Quayside Works", "Siemens"]


def test_own_entry_replaces_the_bundled_one_of_its_name(tmp_path):
    companies = load_companies(write(tmp_path, entry(name="Volkswagen", aliases=["Wolfsburg Co"])))
    assert names(companies, "override") == ["Volkswagen"]
    assert len(companies) == len(bundled_companies())
    assert bundled_companies().find("The VW plant", language="en")
    assert not companies.find("The VW plant", language="en")
    assert companies.find("Wolfsburg Co builds cars")[0].company == "Volkswagen"


@pytest.mark.thorough
def test_own_form_no_longer_stands_for_a_bundled_company(tmp_path):
    file = write(tmp_path, entry(name="Wolfsburg Motors", aliases=["VW", "YouTube"]))
    companies = load_companies(file)
    assert companies.find("The VW plant", language="en")[0].company == "Wolfsburg Motors"
    assert "VW" not in companies.by_name("Volkswagen").aliases
    assert companies.by_name("YouTube").name == "Wolfsburg Motors"
    assert "YouTube" not in {company.name for company in companies}


def test_file_may_leave_the_bundled_companies_out(tmp_path):
    file = write(tmp_path, "bundled = false\n" + entry(name="Quayside Works"))
    assert [company.name for company in load_companies(file)] == ["Quayside Works"]
    empty = write(tmp_path, "bundled = false\n")
    with pytest.raises(CompaniesError, match="no company in this file"):
        load_companies(empty)


@pytest.mark.thorough
def test_owner_may_have_days_months_or_years(tmp_path):
    owned = entry(name="Quayside Works", parent="Siemens", since="2012-09", until="2016")
    sold = '\n[[company]]\nname = "Harbour Works"\nparent = "Siemens"\nsince = 2012-09-06'
    structure = load_companies(write(tmp_path, owned + sold)).structure
    assert structure.owned["Quayside Works"] == (date(2012, 9, 1), date(2016, 12, 31))
    assert structure.owned["Harbour Works"] == (date(2012, 9, 6), None)
    assert structure.owned["WhatsApp"] == (date(2014, 10, 6), None)


@pytest.mark.parametrize(
    ("words", "sectors"),
    [
        (r"\b(?:Bank|Banco|Banca|Banque)\b", {"bank"}),
        (r"\b(?:Insurance|Versicherung|Assicurazioni|Seguros)\b", {"insurance"}),
        (r"\b(?:Airlines|Airways)\b", {"air"}),
        (r"\bPharma", {"pharma", "biotech"}),
    ],
)
def test_companies_have_no_other_sector_than_their_names_say(words, sectors):
    named = [company for company in bundled_companies() if re.search(words, company.name)]
    wrong = {
        company.name: company.facts["sector"]
        for company in named
        if company.facts.get("sector") not in {*sectors, None}
    }
    assert len(named) > 5
    assert wrong == {}


@pytest.mark.thorough
def test_file_without_companies_leaves_the_bundled_ones_in_use(tmp_path):
    assert len(load_companies(write(tmp_path, "# none yet\n"))) == len(bundled_companies())


STRUCTURE = (
    entry(name="Harbour Holding")
    + "\n"
    + entry(name="Quayside Works", parent="Harbour Holding", kind="subsidiary")
    + "\n"
    + entry(name="Northern Ferry", parent="Siemens", kind="joint venture")
    + '\n[groups]\n"our competitors" = ["Quayside Works", "VW"]\n'
)


def test_owners_and_groups_are_read_with_names_of_the_registry(tmp_path):
    file = write(tmp_path, STRUCTURE)
    for companies in (load_companies(file, cache=tmp_path), load_companies(file, cache=tmp_path)):
        structure = companies.structure
        assert structure.parents["Quayside Works"] == "Harbour Holding"
        assert "Northern Ferry" not in structure.parents  # a joint venture has several owners
        assert structure.groups == {"our competitors": ("Quayside Works", "Volkswagen")}


def test_bundled_parents_are_entries_that_do_not_own_themselves():
    companies = bundled_companies()
    parents = companies.structure.parents
    owned = [company.name for company in companies if company.owner]
    assert sorted(parents) == sorted(owned)
    for name in owned:
        chain = [name]
        while (owner := parents.get(chain[-1])) is not None:
            assert owner not in chain
            chain.append(owner)


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        pytest.param(
            entry(name="Acme", parent="Siemen"), 3, "company of the registry; write", id="parent"
        ),
        pytest.param(entry(name="Acme", parent="Acme"), 3, "owns itself", id="circle"),
        pytest.param(entry(name="Acme", kind="firm"), 3, "unknown kind", id="kind"),
        pytest.param('[groups]\nours = ["Nobody there"]', 2, "not a company", id="member"),
        pytest.param('[groups]\nours = "Siemens"', 2, "not a list", id="no list"),
        pytest.param('[groups]\n"Siemens" = ["Bosch"]', 2, "name of a company", id="name"),
    ],
)
def test_fault_in_owners_and_groups_is_named_with_its_line(tmp_path, text, line, fault):
    file = write(tmp_path, text)
    with pytest.raises(CompaniesError, match=fault) as caught:
        load_companies(file)
    assert (caught.value.file, caught.value.line) == (str(file), line)
