"""What is said of a doubtful name: its customers, its factory, its president."""

import pytest

from newscrawl.mentions import Companies
from tests.worlds import bundled_companies


@pytest.fixture(scope="module")
def companies() -> Companies:
    return bundled_companies()


def named(companies: Companies, text: str, language: str) -> list[str]:
    return [mention.company for mention in companies.find(text, language=language)]


@pytest.mark.parametrize(
    ("language", "text", "company"),
    [
        ("en", "Employees at Piaggio went home early.", "Piaggio"),
        ("en", "Piaggio raised its dividend to 3 euros.", "Piaggio"),
        ("en", "GM recently introduced a new tool.", "General Motors"),
        ("de", "Die Beschäftigten bei Piaggio streiken.", "Piaggio"),
        ("de", "Piaggio ruft 300 Fahrzeuge zurück.", "Piaggio"),
        ("fr", "Les salariés de Piaggio ont cessé le travail.", "Piaggio"),
        ("fr", "Piaggio a vu son bénéfice grimper.", "Piaggio"),
        ("es", "El director general de Sega dimite.", "Sega"),
        ("it", "Piaggio chiude il trimestre in calo.", "Piaggio"),
        ("it", "Si è dimesso dalla presidenza delle Generali.", "Generali"),
        ("pt", "Nomura teve mais receita em maio.", "Nomura"),
        ("nl", "De overname van Sega gaat niet door.", "Sega"),
        ("sv", "De anställda på Sega strejkar.", "Sega"),
        ("no", "Informasjonssjef i Sega svarer ikke.", "Sega"),
        ("da", "Kunder hos Sega klager.", "Sega"),
        ("pl", "Pięciu klientów Sega czeka.", "Sega"),
        ("fi", "Sega kasvatti tulostaan viidellä prosentilla.", "Sega"),
        ("tr", "Sega iki fabrikasını kapatacak.", "Sega"),
        ("tr", "Sega şirketi dün konuştu.", "Sega"),
        ("en", "A Delta spokesman declined to comment.", "Delta Air Lines"),
        ("en", "Delta spokesman John Smith said so.", "Delta Air Lines"),
        ("ja", "コマツの利益が増えた。", "Komatsu"),
        ("bg", "Уизъер обяви нови полети.", "Wizz Air"),
        ("en", "Borg Warner shares rose.", "BorgWarner"),
        ("en", "The Chicago Mercantile Exchange opened.", "CME Group"),
        ("ja", "東レ名誉会長が語る。", "Toray"),
        ("ja", "シャープのシェアは下がった。", "Sharp"),
        ("ko", "카카오 측은 부인했다.", "Kakao"),
        ("zh", "中兴宣布裁员。", "ZTE"),
        ("zh", "京东计划明年上市。", "JD.com"),
        ("hi", "GM के प्रवक्ता ने यह कहा।", "General Motors"),
        ("vi", "Người phát ngôn của Sega từ chối.", "Sega"),
    ],
)
def test_what_only_companies_have_or_do_is_a_cue(companies, language, text, company):
    assert named(companies, text, language) == [company]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Platz für Camper mit motorisierten Fahrzeugen"),
        ("en", "Discover the potential profit of it."),
        ("en", "A spokesman for Ford said so. Betty Ford was there."),
        ("es", "El portavoz de SAS lo negó."),
        ("de", "Merz will mehr Arbeitsplätze schaffen."),
        ("en", "Abbott reopened the factory as prime minister."),
        ("en", "A lawyer for Ford told the jury so."),
        ("zh", "中兴路今日通车。"),
        ("ja", "新浪会長は辞任した。"),
        ("de", "Die Kunden der Metro warten auf den nächsten Zug."),
        ("fr", "Les clients du Casino jouent toute la nuit."),
        ("fi", "Elisa tapasi työntekijät."),
        ("it", "Il portavoce di Macron ha parlato ai lavoratori."),
        ("en", "The Edison Electric Institute published its gas report."),
    ],
)
def test_words_and_persons_are_not_made_companies_by_their_clause(companies, language, text):
    assert named(companies, text, language) == []


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("ru", "Президент Лукойла ушел в отставку.", ["Lukoil"]),
        ("ru", "Президент «Роснефти» сделал заявление.", ["Rosneft"]),
        ("ru", "Президент Toyota приехал.", ["Toyota"]),
        ("ru", "Президент Форд приехал.", []),
        ("pl", "Prezydent Samsunga odchodzi.", ["Samsung"]),
    ],
)
def test_president_of_a_company_is_not_a_person_of_its_name(companies, language, text, expected):
    assert named(companies, text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("ja", "サントリーホールディングスの株式", ["Suntory"]),
        ("ja", "サントリーホールの公演", []),
        ("en", "A bill about Vale do Rio Doce passed.", ["Vale"]),
        ("es", "El Banco Bilbao Vizcaya Argentaria (BBVA) ganó más.", ["BBVA", "BBVA"]),
        ("es", "La entidad Banco Bilbao Viscaya Argentina (BBVA) ganó más.", ["BBVA"]),
        ("es", "El Servicio Andaluz de Salud (SAS) lo negó.", []),
    ],
)
def test_own_long_name_does_not_exclude_a_company(companies, language, text, expected):
    assert named(companies, text, language) == expected


def test_person_is_known_by_husband_or_team(companies):
    assert named(companies, "Ford ve ekibi rapor hazırladı.", "tr") == []


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("da", "Hver dag handler hun i Netto efter arbejde.", ["Salling Group"]),
        ("no", "I går fortalte Gyldendal om boka.", ["Gyldendal"]),
        ("sv", "I går kväll fick Coop besök.", ["Coop Sverige"]),
        ("fi", "Eilen illalla Supercell kertoi asiasta.", ["Supercell"]),
        ("nl", "Gisteren kwam de krant bij Studio 100 langs.", ["Studio 100"]),
        ("pl", "Wczoraj wieczorem Biedronka milczała.", ["Biedronka"]),
        ("tr", "Gazeteye göre Migros hızla büyüyor.", ["Migros Ticaret"]),
        # A river, a nobleman, the beginning of a sentence, a town.
        ("pl", "Tereny zajmowane przez Wartę są mokre.", []),
        ("nl", "Hij was een zoon van Reinoud II van Brederode en Yolande.", []),
        ("tr", "Koç burcu bugün şanslı. Migros kedisi olarak bilinen sarman uyudu.", []),
        ("no", "Mannen ble stanset på Kongsberg i går.", []),
    ],
)
def test_capital_at_home_is_a_company(companies, language, text, expected):
    assert named(companies, text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "company"),
    [
        ("hr", "Muzej Ferrarija radi.", "Ferrari"),
        ("hr", "Došao je Ferrarijem.", "Ferrari"),
        ("hr", "Radi u Amazonovoj tvornici.", "Amazon"),
        ("sr", "Video je fabriku Audija.", "Audi"),
        ("cs", "Data Siemensových zákazníků unikla.", "Siemens"),
    ],
)
def test_south_slavic_cases_and_possessives_are_names(companies, language, text, company):
    assert named(companies, text, language) == [company]
