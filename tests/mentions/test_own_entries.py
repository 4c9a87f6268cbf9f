"""Companies of the user's own file under their registered names, which newspapers shorten."""

import json
from pathlib import Path

import pytest

from newscrawl.mentions import Companies, load_companies
from newscrawl.mentions.legal_forms import LegalForms
from newscrawl.mentions.vocabulary import load_vocabulary

# The registered name, and a sentence of a newspaper with its language.
NAMED = [
    ("Moser & Söhne GmbH", "de", "Moser & Söhne stellt Maschinen her."),
    ("Moser & Söhne GmbH", "de", "Moser und Söhne stellt Maschinen her."),
    ("Moser & Söhne GmbH", "de", "Moser &amp; Söhne wächst."),
    ("Gebr. Holm GmbH & Co. KG", "de", "Die Gebr. Holm GmbH wächst."),
    ("Gebr. Holm GmbH & Co. KG", "de", "Gebrüder Holm wächst."),
    ("Nordlicht Energie AG", "de", "Die Nordlicht-Energie-Aktie stieg."),
    ("Bäckerei Krume e.K.", "de", "Bäckerei-Krume-Chefin geht."),
    ("Nordlicht Windpark Verwaltungs-GmbH", "de", "Nordlicht Windpark plant 20 Anlagen."),
    ("ACME-Tools AG", "de", "Acme Tools wächst."),
    ("STELLWERK MASCHINENBAU AG", "de", "Stellwerk Maschinenbau baut 40 Stellen ab."),
    ("Stadtwerke Saltmere", "de", "Der Strom kommt von den Stadtwerken Saltmere."),
    ("Gebrüder Ulmer GmbH", "de", "Die Gebr. Ulmer wächst."),
    ("J.K. Brauer GmbH", "de", "J. K. Brauer wächst."),
    ("Smith+Lee Ltd", "en", "Smith + Lee grew."),
    ("Peters’ Foods Ltd", "en", "Peters Foods grew."),
    ("KSB Technik GmbH", "de", "K.S.B. Technik wächst."),
    ("Kraus + Nagelring GmbH", "de", "Kraus und Nagelring wächst."),
    ("Vereinigte Mühlen Ostrand eG", "de", "Bei den Vereinigten Mühlen Ostrand."),
    ("Chäsi Luzein GmbH in Liquidation", "de", "Chäsi Luzein ist zahlungsunfähig."),
    ("Blaulicht IT GmbH & Co. KG", "de", "Blaulicht-IT wächst."),
    ("Northgate Robotics (UK) Ltd", "en", "Northgate Robotics said so."),
    ("Eastmere Robotics Group Holdings plc", "en", "Eastmere Robotics said so."),
    ("The Dunmere Company", "en", "Dunmere Company grew."),
    ("The Kettle Company Ltd", "en", "Kettle Company opens a shop."),
    ("St. Mary's Dairy Ltd", "en", "St Mary's Dairy closed."),
    ("Saltmere Trams Ltd", "en", "Saltmere Trams Limited grew."),
    ("Saltmere Trams Ltd", "en", "Saltmere Trams grew."),
    ("Westhaven Brewing Company, Inc.", "en", "Westhaven Brewing Co. grew."),
    ("The Saltmere Group plc", "en", "Saltmere Group PLC grew."),
    ("O'Neill Robotics", "en", "O`Neill Robotics won."),
    ("e-Harbour", "en", "eHarbour won."),
    ("3-D Saltmere", "en", "The printer is from 3D Saltmere."),
    ("S.E.T. Saltmere", "en", "SET Saltmere cut jobs."),
    ("Wattle Creek Mining Pty Ltd", "en", "Wattle Creek Mining will reopen."),
    ("Shivneri Textiles Pvt. Ltd.", "en", "Shivneri Textiles opened a mill."),
    ("Selangor Timber Sdn. Bhd.", "en", "Selangor Timber cut output."),
    ("Transports Rivière SARL", "fr", "Transports Rivière a gagné."),
    ("SARL Dufresnoy Matériaux", "fr", "Dufresnoy Matériaux licencie."),
    ("Boulangerie du Port S.A.S.", "fr", "La Boulangerie du Port ouvre."),
    ("Dupuis & Fils SARL", "fr", "Dupuis et fils embauche."),
    ("Cie. Morinval SA", "fr", "La Compagnie Morinval embauche."),
    ("Bonomi Marmi S.A.S. di Bonomi Luca & C.", "it", "Bonomi Marmi cresce."),
    ("Gebr. Hofland B.V.", "nl", "Gebroeders Hofland groeit."),
    ("Scheepswerf Damstra N.V.", "nl", "Bij Scheepswerf Damstra werken 200 mensen."),
    ("Grupo Altamar, S.A.B. de C.V.", "es", "Grupo Altamar reportó pérdidas."),
    ("Corticeira Vilarinho, Lda", "pt", "A Corticeira Vilarinho exporta mais."),
    ("Cantieri Navali Sestriere S. p. A.", "it", "I Cantieri Navali Sestriere assumono."),
    ("Saltmere Varv AB", "sv", "Saltmere Varvs vd går."),
    ("AB Vindhamra (publ)", "sv", "Vindhamra varslar 30 anställda."),
    ("Fjordbakk Smolt AS", "no", "Fjordbakk Smolt bygger nytt anlegg."),
    ("Vesterhede Mejeri A/S", "da", "Vesterhede Mejeri fyrer 40."),
    ("Satamatyö Oy", "fi", "Satamatyön tulos kasvoi."),
    ("UPM-West Oyj", "fi", "UPM-West kasvoi."),
    ("Firma Łódź Sp. z o.o.", "pl", "Firma Lodz rośnie."),
    ("Zakłady Mięsne Borówka Sp. z o.o. Sp. k.", "pl", "Zakłady Mięsne Borówka zwalniają."),
    ("Browar Zamkowy S.A.", "pl", "Prezes Browaru Zamkowego odszedł."),
    ("Mlékárna Osek, s.r.o.", "cs", "Šéf Mlékárny Osek odešel."),
    ("Mlin Morava d.o.o. Beograd", "sr", "Mlin Morava raste."),
    ("Přístav a.s.", "cs", "Firma Přístav roste."),
    ("PEKÁRNY HRADOVÁ spol. s r.o.", "cs", "Pekárny Hradová zdražují."),
    ("Tiszaparti Gépgyár Zrt.", "hu", "A Tiszaparti Gépgyár leépít."),
    ("Pivovara Krapje d.o.o.", "hr", "Pivovara Krapje otvara pogon."),
    ("S.C. Moldotex S.R.L.", "ro", "Moldotex a concediat 50 de angajați."),
    ("„Родопска Млечна“ ООД", "bg", "Родопска Млечна изнася сирене."),
    ("ООО «Северный Причал»", "ru", "Северный Причал открыл склад."),
    ("АО Волжский Кабель", "ru", "Директор «Волжского кабеля» ушёл."),
    ("ЕТ Балкан Метал", "bg", "Балкан Метал расте."),
    ('ПАТ "Карпатський Цемент"', "uk", "Карпатський Цемент зупинив завод."),
    ("UAB „Nemuno Baldai“", "lt", "Nemuno Baldai plečia gamyklą."),
    ('AS "Daugavas Koks"', "lv", "Daugavas Koks slēdz zāģētavu."),
    ("Saarepuit OÜ", "et", "Saarepuit koondab töötajaid."),
    ("Kayalar Dokuma San. ve Tic. A.Ş.", "tr", "Kayalar Dokuma üretime ara verdi."),
    ("Αλευρόμυλοι Θεσπρωτίας Α.Ε.", "el", "Οι Αλευρόμυλοι Θεσπρωτίας επεκτείνονται."),
    ("PT Nusantara Karet Tbk", "id", "Nusantara Karet mencatat laba."),
    ("Công ty Cổ phần Thép Sông Đà", "vi", "Thép Sông Đà báo lãi."),
    ("株式会社西港", "ja", "西港の社長が会見した。"),
    ("キタハマ・ロボティクス株式会社", "ja", "キタハマロボティクスは発表した。"),
    ("浜名精機株式会社", "ja", "浜名精機は新工場を建設する。"),
    ("㈱北浜醸造", "ja", "北浜醸造が新商品を出す。"),
    ("西港物流有限公司", "zh", "西港物流公布财报。"),
    ("深圳市蓝鲸导航集团股份有限公司", "zh", "蓝鲸导航发布新产品。"),
    ("北海蓝鲸科技股份有限公司", "zh", "藍鯨科技發布公告。"),
    ("한빛푸드", "ko", "한빛 푸드가 발표했다."),
    ("주식회사 남해조선", "ko", "남해조선은 실적을 냈다."),
    ("(주)동해바이오", "ko", "동해 바이오가 공장을 세운다."),
    ("한빛전자", "ko", "한빛 전자가 실적을 냈다."),
    ('שטראוס נמלים בע"מ', "he", "שטראוס נמלים גדלה."),
    ("شركة الواحة للأسمدة ش.م.ع", "ar", "أعلنت الواحة للأسمدة أرباحها."),
    ("บริษัท ทะเลงาม จำกัด (มหาชน)", "th", "ทะเลงาม เปิดโรงงานใหม่"),
]
# What remains of these is a word, a place, a person's name, an abbreviation.
DOUBTFUL = [
    ("Vogel KG", "de", "Vogel im Sturm verletzt.", "Der Maschinenbauer Vogel wächst."),
    ("Das Haus GmbH", "de", "Das Haus brannte ab.", "Das Haus GmbH wächst."),
    ("Hans Moser GmbH", "de", "Hans Moser sang im Radio.", "Die Firma Hans Moser wächst."),
    ("Rivers Inc", "en", "Rivers flooded the town.", "Shares in the retailer Rivers fell."),
    ("Pirmas UAB", "lt", "Pirmas sniegas iškrito.", "UAB Pirmas auga."),
    ("Saule SIA", "lv", "Saule spīd.", 'SIA "Saule" aug.'),
    ("Сонце ТОВ", "uk", "Сонце світить.", "ТОВ «Сонце» росте."),
    ("Слънце ЕООД", "bg", "Слънце и дъжд.", "„Слънце“ ЕООД расте."),
    ("Zon B.V.", "nl", "Zon en regen wisselen.", "Zon bv groeit."),
    ("Orzeł Sp. z o.o.", "pl", "Orzeł leciał nad doliną.", "Orzeł sp. z o.o. zwalnia ludzi."),
    ("Casa Viva S.L.", "es", "La casa viva ardió.", "Casa Viva S.L. contrata a veinte personas."),
    ("Salzburg Ltd", "en", "Salzburg is a town.", "Shares in the retailer Salzburg fell."),
    ("Summit Inc.", "en", "Summit of leaders ends.", "Summit's shares rose."),
    ("ZQR AG", "de", "ZQR ist eine Abkürzung.", "Die ZQR AG wächst."),
    ("SC Textile Prahova SA", "ro", "SC Prahova a câștigat.", "Textile Prahova crește."),
    ("Le Phare SAS", "fr", "Le Phare est fermé.", "Le Phare SAS recrute."),
]


def registry(folder: Path, *names: str, alone: bool = False, **keys: str) -> Companies:
    facts = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    entries = (f"[[company]]\nname = {json.dumps(name)}\n{facts}" for name in names)
    file = folder / "mine.toml"
    file.write_text("\n".join(entries), encoding="utf-8")
    return load_companies(file, alone=alone)


@pytest.fixture(scope="module")
def companies(tmp_path_factory: pytest.TempPathFactory) -> Companies:
    names = dict.fromkeys(case[0] for case in [*NAMED, *DOUBTFUL])
    return registry(tmp_path_factory.mktemp("own"), *names)


def names_in(companies: Companies, text: str, language: str) -> set[str]:
    return {mention.company for mention in companies.find(text, language=language)}


@pytest.mark.parametrize(("name", "language", "text"), NAMED)
def test_company_is_found_without_its_legal_form(companies, name, language, text):
    assert names_in(companies, text, language) == {name}


@pytest.mark.parametrize(("name", "language", "other", "text"), DOUBTFUL)
def test_everyday_remainder_needs_support(companies, name, language, other, text):
    assert names_in(companies, other, language) == set()
    assert names_in(companies, text, language) == {name}


@pytest.mark.parametrize(
    "name", ["Westhaven Spa", "Just As", "AS Roma", "SC Freiburg", "GmbH", "Co. KG", "Holding AG"]
)
def test_name_without_a_legal_form_stays_whole(name):
    assert LegalForms(load_vocabulary()).short_names(name) == []


def test_own_name_that_is_a_word_is_not_found_behind_an_article(tmp_path):
    companies = registry(tmp_path, "Vogel", alone=True)
    assert not names_in(companies, "Ein Vogel flog davon.", "de")
    assert not names_in(companies, "Vogel flog davon.", "de")
    assert names_in(companies, "Vogel stellt Maschinen her.", "de")
    assert names_in(companies, "Der Vogel-Chef geht.", "de")


def test_registered_name_of_a_bundled_company_takes_its_place_with_its_forms(tmp_path):
    companies = registry(tmp_path, "Apple Inc.", "Siemens AG")
    assert names_in(companies, "Apple unveiled an iPhone. Siemens and 西门子 grew.", "en") == {
        "Apple Inc.",
        "Siemens AG",
    }
    assert not names_in(companies, "Apple is a fruit, as in Apple pie.", "en")
    own = companies.by_name("Siemens")
    assert (own.name, own.origin) == ("Siemens AG", "override")
    assert companies.structure.parents["Beats Electronics"] == "Apple Inc."
    with (tmp_path / "mine.toml").open("a", encoding="utf-8") as file:
        file.write('[groups]\n"ours" = ["Apple"]\n')
    assert load_companies(tmp_path / "mine.toml").structure.groups == {"ours": ("Apple Inc.",)}


@pytest.mark.thorough
def test_company_of_another_country_leaves_the_bundled_one_its_name(tmp_path):
    companies = registry(tmp_path, "Orange GmbH")
    assert names_in(companies, "L'opérateur Orange recrute.", "fr") == {"Orange"}
    companies = registry(tmp_path, "Siemens AG", country="US")
    assert names_in(companies, "Siemens wächst.", "de") == {"Siemens"}


def test_short_name_of_two_companies_needs_support(tmp_path):
    companies = registry(tmp_path, "Saltmere Trams Ltd", "Saltmere Trams AG", alone=True)
    assert not names_in(companies, "Saltmere Trams grew.", "en")
    assert names_in(companies, "Saltmere Trams AG grew.", "en") == {"Saltmere Trams AG"}
    companies = registry(tmp_path, "Saltmere Trams", "Saltmere Trams AG", alone=True)
    assert names_in(companies, "Saltmere Trams grew.", "en") == {"Saltmere Trams"}


def test_check_and_list_show_the_forms_that_count(newscrawl, tmp_path):
    registry(tmp_path, "Moser & Söhne GmbH", "Vogel KG", "Siemens AG", "Storm")
    ran = newscrawl("companies", "check", tmp_path / "mine.toml")
    assert ran.code == 0
    lines = ran.err.splitlines()
    assert 'Vogel KG: "Vogel" only with support' in lines
    assert 'Moser & Söhne GmbH: also "Moser & Söhne"' in lines
    assert "Siemens AG: with all forms of the bundled Siemens" in lines
    assert "give such entries context words" in " ".join(ran.err.split())
    assert '"Storm": a word or a name of many things' in ran.err
    ran = newscrawl("companies", "list", "--companies", tmp_path / "mine.toml", "--format", "json")
    rows = {row["name"]: row for row in json.loads(ran.out)}
    assert rows["Moser & Söhne GmbH"]["aliases"] == ["Moser & Söhne"]
    assert rows["Vogel KG"]["ambiguous"] == ["Vogel"]
