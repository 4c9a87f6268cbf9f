"""Names of organisations that no registry lists."""

import pytest

from newscrawl.items import Document
from newscrawl.mentions import Companies, load_companies, with_mentions
from newscrawl.mentions.unregistered import MOST_NAMES, find_unregistered
from tests.worlds import document

# An article and the names that are found in it, by language.
NAMES = [
    ("en", "It was built by Harbor & Finch Ltd, which went bankrupt.", "Harbor & Finch"),
    ("en", "Shares of the carmaker Zelvia fell.", "Zelvia"),
    (
        "en",
        "Brightfold, a Danish software company based in Aarhus, hires. Brightfold grew.",
        "Brightfold",
    ),
    ("en", "The order went to Tallow Creek Logistics.", "Tallow Creek Logistics"),
    ("en", "He works for Storm Ltd. in Leeds.", "Storm Ltd."),
    ("de", "Das teilte die Moorbach Fensterbau GmbH mit.", "Moorbach Fensterbau"),
    ("de", "Der Küchenhersteller Velluna baut Stellen ab.", "Velluna"),
    ("de", "Kodaris, ein Softwarehaus aus Kiel, wächst. Kodaris ist neu.", "Kodaris"),
    ("fr", "La société lyonnaise Verdelle recrute.", "Verdelle"),
    ("fr", "Selon Boisclair SARL, rien ne change.", "Boisclair"),
    ("es", "La empresa valenciana Norluz abrió una planta.", "Norluz"),
    ("it", "L'azienda bresciana Ferroluna assume.", "Ferroluna"),
    ("pt", "A construtora Pedralva venceu o leilão.", "Pedralva"),
    ("nl", "Het softwarebedrijf Waterlinde groeit.", "Waterlinde"),
    ("sv", "Det meddelar bolaget Skogsvik på måndagen.", "Skogsvik"),
    ("da", "Det oplyser rederiet Nordkyst.", "Nordkyst"),
    ("no", "Det melder oppdrettsselskapet Fjordlaks Nord.", "Fjordlaks Nord"),
    ("fi", "Ohjelmistoyhtiö Kaislanen palkkaa.", "Kaislanen"),
    ("pl", "Drogę zbuduje firma Torwex z Kielc.", "Torwex"),
    ("cs", "Uvedla to společnost Kamenár.", "Kamenár"),
    ("hu", "A Tiszavirág Kft. pert indított.", "Tiszavirág"),
    ("ro", "Compania Brădeana angajează.", "Brădeana"),
    ("ru", "Дорогу построит ООО «Северный мост».", "Северный мост"),
    ("uk", "Тендер виграло ТОВ «Зелена Брама».", "Зелена Брама"),
    ("tr", "Bu yolu Karaçam İnşaat yapacak.", "Karaçam İnşaat"),
    ("lt", "Kelią ties UAB „Šiaurės tiltas“.", "Šiaurės tiltas"),
    ("id", "Jalan itu dibangun PT Rimba Sentosa.", "Rimba Sentosa"),
]
# What is no such name: persons, places, institutions, registered names, other words.
NONE = [
    ("en", "The carmaker Ford and Siemens AG met the company CEO."),
    ("en", "He is a Co-Trainer of the company, Peter Smith said."),
    ("en", "The group was led by the University of Leeds Ltd."),
    ("de", "Die Fluggesellschaft Peter Lustig gibt es nicht."),
    ("de", "Sie wollen, dass Hersteller Preise senken."),
    ("de", "Der Tarifvertrag für Banken, Verlag und Handel."),
    ("es", "LA EMPRESA SE RETIRA DEL PROCESO Y SE MANIFIESTA."),
    ("fr", "Puis, une société fut fondée."),
    ("ru", "Засновником ООО «Siemens» стал Иван."),
    ("ja", "会社は東京にある。"),
]


@pytest.fixture(scope="module")
def companies() -> Companies:
    return load_companies()


def names(text: str, language: str | None, companies: Companies) -> list[str]:
    mentions = companies.find(text, language=language)
    suggestions = find_unregistered(text, language, mentions, companies.is_registered)
    return [suggestion.name for suggestion in suggestions]


@pytest.mark.parametrize(("language", "text", "name"), NAMES)
def test_names_beside_legal_forms_and_kinds_are_found(language, text, name, companies):
    assert names(text, language, companies) == [name]


@pytest.mark.parametrize(("language", "text"), NONE)
def test_other_words_are_not(language, text, companies):
    assert names(text, language, companies) == []


def test_document_has_a_sentence_of_each_name_and_not_too_many(companies):
    text = "It rains. The carmaker Zelvia sells. " + " ".join(
        f"So does Moor{letter} Ltd." for letter in "abcdefghijklmnopqrstuvwxyz"
    )
    searched: Document = with_mentions(document(text=text), companies)
    assert searched.unregistered[0].name == "Zelvia"
    assert searched.unregistered[0].sentence == "The carmaker Zelvia sells."
    assert len({name.name for name in searched.unregistered}) == MOST_NAMES
