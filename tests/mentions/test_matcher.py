"""Mentions: what counts as naming a company, and what does not."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

from newscrawl.mentions import Companies, position, sentence_span
from newscrawl.mentions.candidates import Exclusions
from newscrawl.mentions.forms import spellings
from tests.worlds import bundled_companies

REGISTRY = bundled_companies()


@pytest.fixture(scope="module")
def companies() -> Companies:
    return REGISTRY


def named(companies: Companies, text: str, **more) -> list[tuple[str, str]]:
    return [(m.company, m.surface) for m in companies.find(text, **more)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        pytest.param("Siemens wins.", "en", [("Siemens", "Siemens")], id="name"),
        pytest.param("SIEMENS ZIEHT UM", "de", [("Siemens", "SIEMENS")], id="capital headline"),
        pytest.param("siemens zieht um", "de", [], id="small letters"),
        pytest.param("Siemens’ Plan", "de", [("Siemens", "Siemens")], id="typographic apostrophe"),
        pytest.param("Microsoft's plan", "en", [("Microsoft", "Microsoft")], id="possessive"),
        pytest.param("Boeings Vorstand", "de", [("Boeing", "Boeings")], id="German genitive"),
        pytest.param("der Siemens-Chef", "de", [("Siemens", "Siemens")], id="compound"),
        pytest.param("ein VW-Konzern", "de", [("Volkswagen", "VW")], id="acronym compound"),
        pytest.param("Google-owned maps", "en", [("Google", "Google")], id="English compound"),
        pytest.param(
            "Lufthansachef geht", "de", [("Lufthansa", "Lufthansa")], id="closed compound"
        ),
        pytest.param("Lufthansachef geht", "en", [], id="no closed compound elsewhere"),
        pytest.param("im Deutsche Bank Park", "de", [], id="stadium"),
        pytest.param(
            "Bank of America fell", "en", [("Bank of America", "Bank of America")], id="longest"
        ),
        pytest.param(
            "to Micro-\nsoft, Coca-\nCola and Siemens-\nor",
            "en",
            [("Microsoft", "Micro-\nsoft"), ("Coca-Cola", "Coca-\nCola"), ("Siemens", "Siemens")],
            id="hyphens at ends of lines",
        ),
        pytest.param("see www.Siemens.com/a", "en", [], id="address"),
        pytest.param("Boeingen", "de", [], id="inside a word"),
        pytest.param("Mercedes Vito", "de", [("Mercedes-Benz", "Mercedes")], id="name like Anna"),
        pytest.param("微软发布新产品", "zh", [("Microsoft", "微软")], id="Chinese without blanks"),
        pytest.param("米マイクロソフトは", "ja", [("Microsoft", "マイクロソフト")], id="Japanese"),
    ],
)
def test_name_must_be_a_whole_word(companies, text, language, expected):
    assert named(companies, text, language=language) == expected


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        pytest.param("She ate an Apple on the train.", False, id="alone"),
        pytest.param("Apple pie was served by Apple Martin.", False, id="excluded"),
        pytest.param("Apple Inc. is based there.", True, id="legal form"),
        pytest.param("Apple sold more of its iPhone models.", True, id="context"),
        pytest.param("Apple shares fell.", True, id="cue"),
        pytest.param("Apple (AAPL.O) fell.", True, id="ticker"),
        pytest.param("Apple (AAPL +1.2%) fell.", True, id="its bare symbol"),
        pytest.param("Apple (code: AAPL.DF) fell.", True, id="its symbol elsewhere"),
        pytest.param("Apple <AAPL> fell.", True, id="its symbol in other brackets"),
        pytest.param("Apple (ISIN US0378331005) fell.", True, id="number of a security"),
        pytest.param("Apple (MSFT) fell.", False, id="symbol of another"),
        pytest.param("Apple (from AAPLX) fell.", False, id="part of a word"),
        pytest.param("She ate an Apple. (AAPL) was there.", False, id="symbol of another sentence"),
    ],
)
def test_ambiguous_name_requires_context(companies, text, counts):
    assert bool(companies.find(text, language="en")) is counts


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("nl", "Volg ons ook op Facebook en Twitter."),
        ("sv", "Följ oss på Instagram och Facebook."),
        ("cs", "Sledujte nás na Facebooku a Instagramu."),
        ("tr", "Bizi Twitter'da ve Instagram'da takip edin."),
        ("ar", "تابعونا على فيسبوك وتويتر."),
        ("uk", "Підписуйтесь на наш канал у Telegram та Facebook."),
        ("ko", "페이스북에서 팔로우하세요."),
        ("fi", "Lataa sovellus Google Playsta tai App Storesta."),
        ("pl", "Aby zobaczyć ten materiał z Facebook, wyraź zgodę na pliki cookie."),
        ("en", "For updates, follow The Gazette on Facebook, Twitter and Instagram."),
    ],
)
def test_request_to_follow_the_newspaper_names_no_company(companies, language, text):
    assert named(companies, text, language=language) == []
    assert named(companies, "Facebook fired 200 people.", language=language) != []


@pytest.mark.parametrize(
    ("language", "label", "headline"),
    [
        ("en", "READ MORE: ", "Nokia sells its maps"),
        ("en", "» Also read | ", "Nokia sells its maps"),
        ("en", "[Related: ", "Nokia sells its maps]"),
        ("en", "Don’t miss – ", "Nokia sells its maps"),
        ("de", "Lesen Sie auch: ", "Nokia verkauft seine Karten"),
        ("fr", "À lire aussi : ", "Nokia vend ses cartes"),
        ("es", "Te puede interesar: ", "Nokia vende sus mapas"),
        ("pl", "Czytaj też: ", "Nokia sprzedaje mapy"),
        ("ru", "Читайте также: ", "Nokia продаёт карты"),
        ("el", "ΔΙΑΒΑΣΤΕ ΕΠΙΣΗΣ: ", "Η Nokia πουλά τους χάρτες της"),
        ("zh", "相关阅读：", "诺基亚出售地图"),
        ("ar", "اقرأ أيضًا: ", "نوكيا تبيع خرائطها"),
    ],
)
def test_teaser_of_another_article_names_no_company(companies, language, label, headline):
    def found(*paragraphs: str, title: str = "") -> list[str]:
        mentions = companies.find("\n\n".join(paragraphs), title=title, language=language)
        return [mention.company for mention in mentions]

    assert found("Siemens 1.", label + headline, "Siemens 2.") == ["Siemens", "Siemens"]
    assert found("Siemens 1.", label + headline) == ["Siemens"]
    assert found("Siemens 1.", headline) == ["Siemens", "Nokia"]
    assert found("Siemens 1.", title=label + headline) == ["Nokia", "Siemens"]
    long = f"{label}{headline}. {30 * 'This is long. '}"
    assert found("Siemens 1.", long) == ["Siemens", "Nokia"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Clinton Cargill and Cedric Dupont were named editors. Dupont starts Monday."),
        ("en", "The Porsche family and the Heineken heirs met."),
        ("nl", "Meneer Philips woont in Breda."),
        ("cs", "Do Varů přijel herec Ford."),
    ],
)
def test_person_or_family_is_not_a_company(companies, language, text):
    assert named(companies, text, language=language) == []


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("cs", "Akcie ČEZu posílily.", [("ČEZ", "ČEZu")]),
        ("zh", "美團公布財報，諾基亞裁員。", [("Meituan", "美團"), ("Nokia", "諾基亞")]),
        ("zh", "美团公布财报。", [("Meituan", "美团")]),
        ("th", "บริษัทNokiaลงทุน", [("Nokia", "Nokia")]),
        (
            "uk",
            "У Lidl подорожчали яйця, а Amazon мовчить.",
            [("Lidl", "Lidl"), ("Amazon", "Amazon")],
        ),
        ("no", "Yara stenger fabrikken.", [("Yara", "Yara")]),
        ("pl", "Allegro pozywa urząd.", [("Allegro", "Allegro")]),
        ("sv", "Elkedjan och biltillverkaren Ford varslar.", [("Ford", "Ford")]),
    ],
)
def test_each_language_has_endings_scripts_and_cues(companies, language, text, expected):
    assert named(companies, text, language=language) == expected


@pytest.mark.parametrize(
    ("text", "company"),
    [
        ("Volvo Cars grew. Shares of Volvo rose.", "Volvo Cars"),
        ("Volvo stellt einen Kombi, eine Limousine und ein SUV vor.", "Volvo Cars"),
        ("Volvo baut einen neuen Lkw.", "Volvo"),
        ("Volvo is Swedish.", "Volvo"),
        ("Deutsche Telekom advertises its brand T-Mobile.", "Deutsche Telekom"),
        ("T-Mobile raised its prices.", "T-Mobile US"),
    ],
)
def test_name_of_two_companies_is_decided_by_the_article(companies, text, company):
    found = named(companies, text, language="de" if "Lkw" in text or "SUV" in text else "en")
    assert found[-1][0] == company


def test_no_entry_is_another_one_with_its_legal_form(companies):
    tails = (
        *(" AG", " SA", " SpA", " AB", " Ltd", " GmbH", " SAS", " plc", " Inc", " KG", " Corp"),
        *(" Corporation", " Holdings", " Pharmaceuticals", " Technologies", " Laboratories"),
    )
    names = {c.name for c in companies}
    doubled = {n for n in names for end in tails if n.endswith(end) and n[: -len(end)] in names}
    # The shorter names are those of other companies: Metro of Germany, EQT of Sweden ...
    assert doubled == {"EQT Corp", "Metro Inc", "Otsuka Corporation", "Woolworths Holdings"}


def test_no_spelling_of_a_certain_form_is_of_two_entries(companies):
    owners: dict[str, set[str]] = {}
    for company in companies:
        for form in company.certain:
            for spelling in spellings(form):
                owners.setdefault(spelling, set()).add(company.name)
    shared = {frozenset(names) for names in owners.values() if len(names) > 1}
    assert shared <= {frozenset({"EVGA", "Evga"})}  # cards of America, ice cream of Greece


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Workers at a GM plant in Flint walked out, the UAW said.", ["General Motors"]),
        ("en", "The fund sold half of its Apple stake.", ["Apple"]),
        ("en", "A man was hurt at a Shell station.", ["Shell"]),
        ("pl", "Promocje w Kauflandzie i w Lidlu.", ["Kaufland", "Lidl"]),
        ("hu", "A Telekom előfizetői többet fizetnek.", ["Magyar Telekom"]),
        ("de", "Quantum Systems baut Drohnen.", ["Quantum Systems"]),
        ("en", "They sailed up the Amazon, and the Amazon is dry.", []),
        ("en", "Cadillac dealers like Abraham Lincoln.", ["Cadillac"]),
        ("en", "The Hermes delivery drivers wore silk.", []),
        ("fr", "Le professeur Picard aime les surgelés.", []),
        ("de", "In den Opelvillen und den Opel-Villen hängen Bilder.", []),
    ],
)
def test_usual_phrases_of_news(companies, language, text, expected):
    assert [name for name, _ in named(companies, text, language=language)] == expected


def test_declined_full_name_is_certain_where_its_first_word_is_ambiguous(companies):
    text = "Akcje Mostostalu Zabrze drożeją. Mostostal ma nowego prezesa."
    assert {name for name, _ in named(companies, text, language="pl")} == {"Mostostal Zabrze"}


def test_topical_word_counts_only_in_articles_of_its_language(companies):
    text = "Norwegian has a lufthavn."
    assert named(companies, text, language="en") == []
    assert named(companies, text.replace("has a", "kjøpte"), language="no") != []


def test_surname_of_a_person_is_excluded_in_the_whole_article(companies):
    text = "Doug Ford praised the auto industry. Ford's truck is old. Ford likes cars."
    assert named(companies, text, language="en") == []
    assert named(companies, f"Ford Motor grew. {text}", language="en") != []


@pytest.mark.parametrize(("cue", "names"), [("the carmaker", 1), ("they sued", 0)])
def test_cue_that_persons_have_does_not_support_a_surname(companies, cue, names):
    text = f"Doug Ford spoke in Toronto. Later {cue} Ford in court."
    assert len(named(companies, text, language="en")) == names


def test_given_name_of_a_person_is_no_company(companies):
    assert named(companies, "Thomas Middleditch and Mollie Gates left.", language="en") == []


def test_one_context_word_does_not_support_every_repetition(companies):
    text = "Mars, the maker of Snickers. " + "Nothing of note was seen on Mars, they said. " * 30
    assert len(companies.find(text, language="en")) <= 1


def test_spun_off_company_is_a_separate_company(companies):
    text = "Sandoz, flydubai, Volaris, Polestar, SpiceJet, Gazprom Neft, SK Telecom"
    assert [name for name, _ in named(companies, text)] == text.split(", ")


def test_brand_and_its_owner_are_separate_and_support_each_other(companies):
    text = "Facebook and Google lost. Meta fell."
    assert named(companies, text, language="es") == [
        ("Facebook", "Facebook"),
        ("Google", "Google"),
        ("Meta", "Meta"),
    ]
    text = "Kering vende menos. En Francia crece Saint Laurent."
    assert ("Yves Saint Laurent", "Saint Laurent") in named(companies, text, language="es")


def test_every_parent_is_an_entry_or_a_full_name(companies):
    kinds = {company.facts["kind"] for company in companies if "kind" in company.facts}
    assert kinds == {"affiliate", "brand", "subsidiary", "joint venture"}
    parents = {c.facts["parent"] for c in companies if "parent" in c.facts}
    assert {parent for parent in parents if companies.by_name(parent) is None} <= {"Masdar"}


def test_context_in_the_title_supports_the_body(companies):
    found = companies.find("Apple grew.", title="A new iPhone", language="en")
    assert [(m.section, m.surface) for m in found] == [("body", "Apple")]


def test_one_supported_occurrence_supports_the_others(companies):
    text = "Apple shares fell. " + "Nothing else was said. " * 30 + "Later Apple rose."
    assert [m.rule for m in companies.find(text)] == ["context", "repetition"]


@pytest.mark.parametrize(
    "text",
    ["Tickers: NYSE: MSFT rose", "It (MSFT.O) rose", "It (NASDAQ: MSFT) rose", "It ($MSFT) rose"],
)
def test_ticker_counts_in_ticker_form(companies, text):
    assert named(companies, text) == [("Microsoft", "MSFT")]


@pytest.mark.parametrize(
    ("text", "surfaces"),
    [
        pytest.param("Both (NYSE: MSFT) and [AAPL US] rose.", ["MSFT", "AAPL"], id="brackets"),
        pytest.param("Quoted: NYSE: MSFT, and XETRA: SIE.", ["MSFT", "SIE"], id="behind colons"),
        pytest.param("Note: NYSE: MSFTX is another.", [], id="a symbol cut off is not a symbol"),
        pytest.param("At AXNYSE: MSFT it is none.", [], id="an exchange within a word"),
    ],
)
def test_tickers_are_found_wherever_they_stand(companies, text, surfaces):
    found = [mention.surface for mention in companies.find(text) if mention.rule == "ticker"]
    assert found == surfaces


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        pytest.param("They ate an Apple pie there.", True, id="as written"),
        pytest.param("They ate an APPLE-PİE there.", True, id="any case, a hyphen"),
        pytest.param("They ate Apple pies there.", True, id="plural"),
        pytest.param("Apple trees bore fruit.", True, id="any letters"),
        pytest.param("Apple tre bore fruit.", False, id="too few letters"),
        pytest.param("A pie, says Apple, is not a phone.", False, id="its words elsewhere"),
        pytest.param("Apple pie-Maker rose.", False, id="a compound"),
    ],
)
def test_excluded_phrases_are_found_as_phrases(text, excluded):
    phrases = Exclusions(["Apple pie", "Apple tree*"])
    start = text.upper().index("APPLE")
    assert phrases.cover(text, start, start + len("Apple")) is excluded


def test_distant_context_does_not_count(companies):
    far = "The weather stayed fine. " * 20
    near = "The iPhone was shown, and Apple said nothing more of it."
    assert named(companies, f"{near} {far}") == [("Apple", "Apple")]
    assert named(companies, f"The iPhone was shown. {far} An Apple lay there.") == []


def test_offsets_refer_to_the_original_text(companies):
    text = unicodedata.normalize(
        "NFD", "Dé\u00adjà vu: Nest\u00adlé und Siemens\u00a0Energy, Télé\u200bfónica"
    )
    for mention in companies.find(text, title="Sie\u00admens"):
        whole = "Sie\u00admens" if mention.section == "title" else text
        assert whole[mention.start : mention.end] == mention.surface
    assert len(companies.find(text, title="Sie\u00admens")) >= 2


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        pytest.param("Harrison Ford played a carmaker.", "en", [], id="given name"),
        pytest.param("Henry J. Ford painted cars.", "en", [], id="initial"),
        pytest.param("a wish for an E.Honda in it", "en", [], id="initial without a blank"),
        pytest.param("Werner von Siemens erfand ihn.", "de", [], id="particle"),
        pytest.param("Herr Bosch kam.", "de", [], id="title"),
        pytest.param("Doug Ford spoke. Ford said no.", "en", [], id="surname later on"),
        pytest.param("in der Allianz Arena", "de", [], id="arena"),
        pytest.param("in der Volkswagen Arena.", "de", [], id="arena before a stop"),
        pytest.param("die Robert-Bosch-Siedlung", "de", [], id="named after a person"),
        pytest.param("Familie Siemens feiert.", "de", [], id="family"),
        pytest.param("Khaled K. Saab wrote it.", "en", [], id="unknown given name and initial"),
        pytest.param("Walt Disney himself drew it.", "en", [], id="life of a person"),
        pytest.param("Rafael del Pino habla.", "es", [], id="given name"),
        pytest.param("Hugo Boss cut his first suit in 1924.", "en", [], id="founder"),
        pytest.param("aktorkę Wandę Siemaszkową", "pl", [], id="declined given name"),
        pytest.param("年薪勉强生活", "zh", [], id="across two Chinese words"),
        pytest.param("Gap widened 2 percent.", "en", [], id="what has percents itself"),
        pytest.param("some 4.3M users", "en", [], id="number"),
        pytest.param("Next chunk, then the store.", "en", [], id="everyday word before a noun"),
        pytest.param("सोनीपत में, 삼성동에서", "hi", [], id="places that begin so"),
        pytest.param("le niveau Orange dans le Gard", "fr", [], id="colour"),
        pytest.param("a grant of the Ford Foundation", "en", [], id="foundation"),
        pytest.param("@Siemens and me@Boeing.com", "en", [], id="handle and e-mail"),
        pytest.param("Environmental Defense Fund (EDF). EDF sued.", "en", [], id="other acronym"),
        pytest.param("GM and genetics, 3 GM potatoes", "en", [], id="acronym without support"),
        pytest.param("a catch by Jalin Hyatt won it", "en", [], id="unknown given name"),
        pytest.param("cars left at the Barclays Music Pavilion", "en", [], id="word between"),
        pytest.param("a transit strike was the focus; Ford spoke.", "en", [], id="small letters"),
        pytest.param("the team's GM responds in camp", "en", [], id="a job"),
        pytest.param("bought on hire purchase (HP), a car on HP", "en", [], id="small words"),
        pytest.param("Federal Communications Commission: FCC rules", "en", [], id="spelled out"),
        pytest.param("an iPhone X and Generation X on X-rays", "en", [], id="letter"),
        pytest.param('"Coach told me to calm down"', "en", [], id="form of address"),
        pytest.param("Erstes Bild der Seilbahn", "de", [], id="adjective, not genitive"),
        pytest.param("Follow us on Facebook, Twitter and YouTube.", "en", [], id="own channels"),
        pytest.param("FOLLOW US ON PINTEREST!", "en", [], id="own channels in capitals"),
        pytest.param("Folgen Sie uns auf Instagram", "de", [], id="own channel in German"),
        pytest.param("the Casa Apple, a house", "en", [], id="an Italian cue in English"),
        pytest.param("Nestle the slices in a dish.", "en", [], id="a verb in a recipe"),
        pytest.param("nuestro canal de YouTube", "es", [], id="own channel"),
        pytest.param("Copiar enlace Facebook X WhatsApp Email", "es", [], id="buttons in a row"),
        pytest.param("Connect with Ada Lo on LinkedIn.", "en", [], id="an author's channel"),
        pytest.param("Write to @newscrawl on Instagram", "en", [], id="handle before"),
        pytest.param("Mehr auf Facebook als @newscrawl", "de", [], id="handle behind"),
        pytest.param("Listen: Podcasts | Spotify | YouTube", "en", [], id="list of channels"),
        pytest.param("On Facebook, I post pictures.", "en", [], id="an author posts"),
        pytest.param("Videos on my YouTube channel show it.", "en", [], id="the author's own"),
        pytest.param("Use the Facebook and Twitter buttons.", "en", [], id="share buttons"),
        pytest.param("Teile unsere Beiträge auf Facebook!", "de", [], id="asked to share"),
        pytest.param(
            "He posted the page on Facebook.",
            "en",
            [("Facebook", "Facebook")],
            id="news on a network",
        ),
        pytest.param(
            "A reader asked via Twitter.", "en", [("X Corp", "Twitter")], id="via is not a street"
        ),
        pytest.param("Il negozio in via Armani è chiuso.", "it", [], id="via is a street"),
        pytest.param("Charles Schwab Foundation's gift", "en", [], id="foundation's possessive"),
        pytest.param("the capsule communicator (CAPCOM) said", "en", [], id="blend spelled out"),
        pytest.param("Bosch, Laura 1992, TSV Aalen", "de", [], id="list of persons"),
        pytest.param("Männer wie Faber und Wurth", "de", [], id="German keeps its umlauts"),
        pytest.param("der Konzern Wuerth", "de", [("Würth", "Wuerth")], id="umlaut written out"),
        pytest.param("Como Fazer o bolo", "pt", [], id="everyday word of one language"),
        pytest.param("die Gesamtwertung der Damen", "de", [], id="everyday word in German"),
        pytest.param("a test from 3M™ works", "en", [("3M", "3M")], id="trademark sign"),
        pytest.param("The Fee Is Free™.", "en", [], id="trademark of a slogan"),
        pytest.param(
            "results of Diageo, Fidelity, BP today",
            "en",
            [("Diageo", "Diageo"), ("Fidelity Investments", "Fidelity"), ("BP", "BP")],
            id="everyday word in a list",
        ),
        pytest.param("腾讯财经讯 今日消息", "zh", [], id="Chinese byline"),
        pytest.param("el portavoz, Pere Esteve, anunció", "es", [], id="surname"),
        pytest.param("It was over, Dole told reporters.", "en", [], id="a person speaks"),
        pytest.param("zagrał trzeci Billy Hamill", "pl", [], id="given name like a case"),
        pytest.param("Belize, Costa Rica, Guatemala", "hu", [], id="first part of a country"),
        pytest.param("Rabuka visited Suva.", "en", [], id="place"),
        pytest.param("提高金融创新水平", "zh", [], id="two words"),
        pytest.param("審議電通信法案", "ja", [], id="two words in Japanese"),
        pytest.param("部屋は全日空いている。", "ja", [], id="verb"),
        pytest.param("你饿了么？", "zh", [], id="everyday words in Chinese"),
        pytest.param("어르신께 효성이 지극하다.", "ko", [], id="everyday word in Korean"),
        pytest.param("명태 어획량, 한화 3천만원", "ko", [], id="won"),
    ],
)
def test_text_that_resembles_a_company_is_not_a_mention(companies, text, language, expected):
    assert named(companies, text, language=language) == expected


@pytest.mark.parametrize(
    ("text", "language", "company", "surface", "rule"),
    [
        pytest.param("Prezes Orlenu", "pl", "Orlen", "Orlenu", "inflection", id="Polish"),
        pytest.param("Nowa Toyoty", "pl", "Toyota", "Toyoty", "inflection", id="Polish -a"),
        pytest.param("Microsoftin tulos", "fi", "Microsoft", "Microsoftin", "inflection", id="fi"),
        pytest.param("új Teslát vett", "hu", "Tesla", "Teslát", "inflection", id="Hungarian"),
        pytest.param("Facebookului", "ro", "Facebook", "Facebookului", "inflection", id="Romanian"),
        pytest.param("nad Teslou", "cs", "Tesla", "Teslou", "inflection", id="Czech"),
        pytest.param("وبمايكروسوفت", "ar", "Microsoft", "مايكروسوفت", "name", id="Arabic clitics"),
        pytest.param("לגוגל", "he", "Google", "גוגל", "name", id="Hebrew clitic"),
        pytest.param("गूगल ने", "hi", "Google", "गूगल", "name", id="Devanagari"),
        pytest.param("구글에서", "ko", "Google", "구글", "name", id="Korean particle"),
        pytest.param("BMW는", "ko", "BMW", "BMW", "name", id="Korean particle behind Latin"),
        pytest.param("στο Facebooκ", "el", "Facebook", "Facebooκ", "name", id="look-alike letter"),
        pytest.param("доля Газпрома", "ru", "Gazprom", "Газпрома", "inflection", id="Russian"),
        pytest.param(
            "у Норильского никеля",
            "ru",
            "Norilsk Nickel",
            "Норильского никеля",
            "inflection",
            id="Russian, two words",
        ),
        pytest.param(
            "της Εθνικής Τράπεζας",
            "el",
            "National Bank of Greece",
            "Εθνικής Τράπεζας",
            "inflection",
            id="Greek",
        ),
        pytest.param(
            "der Deutschen Bank", "de", "Deutsche Bank", "Deutschen Bank", "name", id="adjective"
        ),
        pytest.param("Nestle grew", "en", "Nestlé", "Nestle", "name", id="no accent"),
        pytest.param("Coca Cola grew", "en", "Coca-Cola", "Coca Cola", "name", id="no hyphen"),
        pytest.param(
            "Deutsche-Bank-Aktie", "de", "Deutsche Bank", "Deutsche-Bank", "name", id="hyphens"
        ),
        pytest.param("Biontech wächst", "de", "BioNTech", "Biontech", "name", id="inner capitals"),
        pytest.param("Shell plc sued", "en", "Shell", "Shell", "legal form", id="legal form"),
        pytest.param("retailer Target", "en", "Target", "Target", "cue", id="cue before"),
        pytest.param("l’enseigne Orange", "fr", "Orange", "Orange", "cue", id="cue elided"),
        pytest.param("Bahnchef Lutz", "de", "Deutsche Bahn", "Bahn", "context", id="compound"),
        pytest.param("der Dax-Konzern Linde", "de", "Linde", "Linde", "context", id="Dax"),
        pytest.param("a case maker Apple", "en", "Apple", "Apple", "cue", id="maker"),
        pytest.param("Uber darf es.", "de", "Uber", "Uber", "capital", id="no article"),
        pytest.param("Mango, la firma de moda.", "es", "Mango", "Mango", "context", id="comma"),
        pytest.param("Oracle, the firm said", "en", "Oracle", "Oracle", "cue", id="explained"),
        pytest.param("el gigante sueco Mango", "es", "Mango", "Mango", "cue", id="adjective"),
        pytest.param("alquilado a Meta.", "es", "Meta", "Meta", "capital", id="capital"),
        pytest.param("Ein Bus von MAN steht.", "de", "MAN", "MAN", "capital", id="all capitals"),
        pytest.param("Telekomchef geht", "de", "Deutsche Telekom", "Telekom", "name", id="T"),
        pytest.param("Orange fell 2 percent.", "en", "Orange", "Orange", "cue", id="percent"),
        pytest.param("Sky to lose 1,000 jobs", "en", "Sky", "Sky", "cue", id="jobs"),
        pytest.param("Sky has secured it.", "en", "Sky", "Sky", "cue", id="has done"),
        pytest.param("on his Instagram page", "en", "Instagram", "Instagram", "name", id="his"),
        pytest.param("He wrote on X that", "en", "X Corp", "X", "cue", id="on X"),
        pytest.param("Best Buy employees sold it.", "en", "Best Buy", "Best Buy", "cue", id="two"),
        pytest.param(
            "for insurance carrier Travelers for years",
            "en",
            "Travelers",
            "Travelers",
            "cue",
            id="insurance carrier",
        ),
        pytest.param("The X account closed.", "en", "X Corp", "X", "cue", id="account"),
        pytest.param("Sein X-Account ist zu.", "de", "X Corp", "X", "cue", id="German account"),
        pytest.param("die Plattform X sperrte", "de", "X Corp", "X", "cue", id="platform X"),
        pytest.param("the largest operator, O2.", "en", "O2", "O2", "cue", id="behind a comma"),
        pytest.param("Ｓｏｎｙは", "ja", "Sony", "Ｓｏｎｙ", "name", id="full width"),
        pytest.param("西门子公司", "zh", "Siemens", "西门子", "name", id="子公司"),
        pytest.param(
            "شركة الاتصالات أورانج", "ar", "Orange", "أورانج", "context", id="Arabic genitive"
        ),
        pytest.param("חברת התקשורת אורנג'", "he", "Orange", "אורנג'", "cue", id="Hebrew genitive"),
        pytest.param("दूरसंचार कंपनी ऑरेंज ने", "hi", "Orange", "ऑरेंज", "context", id="Hindi"),
        pytest.param("셸 주가는 떨어졌다", "ko", "Shell", "셸", "context", id="one syllable"),
        pytest.param(
            "Reliance (RELI.NS)", "en", "Reliance Industries", "Reliance", "ticker", id="RIC"
        ),
        pytest.param("小米昨日公布年报", "zh", "Xiaomi", "小米", "cue", id="Chinese predicate"),
        pytest.param("帝人が繊維事業を売却", "ja", "Teijin", "帝人", "cue", id="Japanese one"),
        pytest.param("효성이 1조원을 투자한다", "ko", "Hyosung", "효성", "cue", id="Korean one"),
    ],
)
def test_mention_has_the_rule_that_found_it(companies, text, language, company, surface, rule):
    found = [(m.company, m.surface, m.rule) for m in companies.find(text, language=language)]
    assert found == [(company, surface, rule)]


@pytest.mark.parametrize(
    ("language", "text", "company"),
    [
        ("et", "Kasvas ka Ericssoni kasum, ja Ericssonile müüdi tehas.", "Ericsson"),
        ("lv", "Peļņa Ericssonam auga.", "Ericsson"),
        ("lt", "Auga Ericssono pelnas.", "Ericsson"),
        ("is", "Hagnaður Ericssons jókst.", "Ericsson"),
        ("cs", "Odchází Ericssonův šéf.", "Ericsson"),
        ("sk", "Odchádza Ericssonov riaditeľ.", "Ericsson"),
        ("hr", "Raste dobit Garminova direktora.", "Garmin"),
        ("hr", "Raste dobit Skanije i Telije.", "Telia"),
        ("bg", "Продаде си Хондата вчера.", "Honda"),
        ("sv", "Beskedet från Ericssonkoncernen kom i går.", "Ericsson"),
        ("da", "Ericssonchefen går af.", "Ericsson"),
        ("no", "Ericssonsjefen går av.", "Ericsson"),
        ("de", "Die Pilotenstreiks bei den Ericssonwerken enden.", "Ericsson"),
        ("nl", "De Ericssonfabriek sluit.", "Ericsson"),
        ("pl", "Pracował w Toyocie przez rok.", "Toyota"),
        ("sl", "Delnice Volkswagna so zrasle.", "Volkswagen"),
        ("hr", "Odlazi Toyotin direktor.", "Toyota"),
        ("sr", "Нова фабрика Тојоте отворена је јуче.", "Toyota"),
    ],
)
def test_names_have_the_cases_and_compounds_of_the_article_s_language(language, text, company):
    found = bundled_companies().find(text, language=language)
    assert {mention.company for mention in found} == {company}
    assert not bundled_companies().find(text, language="vi")


@pytest.mark.parametrize(
    ("language", "text", "company"),
    [
        ("uk", "Завод Сіменсу зачинено.", "Siemens"),
        ("bn", "গতকাল মাইক্রোসফটের দাম বেড়েছে।", "Microsoft"),
        ("ka", "მაიკროსოფტმა შენობა დახურა.", "Microsoft"),
        ("th", "เมื่อวานนี้โนเกียปิดอาคาร", "Nokia"),
        ("fa", "دیروز فولکس‌واگن را دیدیم.", "Volkswagen"),
        ("ar", "رأينا أمس وميكروسوفت.", "Microsoft"),
        ("he", "אתמול ראינו את פולקסוואגן.", "Volkswagen"),
        ("hi", "कल हमने वोक्सवैगन देखी।", "Volkswagen"),
        ("el", "Είδαμε χθες τη Ρενώ.", "Renault"),
    ],
)
def test_names_are_found_as_newspapers_write_them_in_other_scripts(language, text, company):
    found = bundled_companies().find(text, language=language)
    assert {mention.company for mention in found} == {company}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ro", "S-au întâlnit în fața casei: Marele zid a căzut."),
        ("fi", "Kotona oli kylmä, ja Netissä oli hiljaista."),
        ("uk", "Комусь було холодно."),
        ("ru", "Ветры Евразии стихли."),
        ("pl", "Irena mieszka w Pradze."),
        ("hu", "Mintha esne: Amikor jött, hideg volt."),
        ("lt", "Vardas jam patiko."),
        # A surname, not the adjective of a short name.
        ("hr", "Stigao je Popov brat."),
    ],
)
def test_word_of_a_language_is_no_case_of_a_name(language, text):
    assert not bundled_companies().find(text, language=language)


@pytest.mark.parametrize(("word", "companies"), [("Ski-Star", set()), ("e-Bay", {"eBay"})])
def test_german_compound_of_two_nouns_is_no_name_written_apart(word, companies):
    found = bundled_companies().find(f"Der {word} war dabei.", language="de")
    assert {mention.company for mention in found} == companies


@pytest.mark.parametrize(
    ("text", "language", "company", "surface"),
    [
        pytest.param(
            "CheckPoint found it.", "en", "Check Point Software", "CheckPoint", id="fused"
        ),
        pytest.param("BestBuy reopened.", "en", "Best Buy", "BestBuy", id="fused everyday words"),
        pytest.param("The FaceBook page", "en", "Facebook", "FaceBook", id="inner capital"),
        pytest.param("Namco/Bandai made it", "en", "Bandai Namco", "Namco/Bandai", id="slash"),
        pytest.param("sold on e-Bay today", "en", "eBay", "e-Bay", id="hyphen"),
        pytest.param("TW Cable raised prices", "en", "Time Warner Cable", "TW Cable", id="short"),
        pytest.param(
            'der Impfstoff "Johnson&Johnson"',
            "de",
            "Johnson & Johnson",
            "Johnson&Johnson",
            id="sign without blanks",
        ),
        pytest.param("McDONALD'S to hire", "en", "McDonald's", "McDONALD'S", id="capitals but one"),
        pytest.param("ARÇELİK kâr açıkladı", "tr", "Arçelik", "ARÇELİK", id="Turkish capitals"),
        pytest.param("İş Bankası büyüdü", "tr", "İş Bankası", "İş Bankası", id="Turkish name"),
        pytest.param(
            "I\u0307ş Bankası büyüdü", "tr", "İş Bankası", "I\u0307ş Bankası", id="with a dot"
        ),
        pytest.param("booked on booking.com", "en", "Booking.com", "booking.com", id="website"),
        pytest.param(
            "Godfathers Pizza opened.",
            "en",
            "Godfather's Pizza",
            "Godfathers Pizza",
            id="apostrophe missing",
        ),
        pytest.param(
            "We drank Jack Daniels.", "en", "Jack Daniel's", "Jack Daniels", id="at the end"
        ),
        pytest.param(
            "Why Teens Look Like Adults on Facebook",
            "en",
            "Facebook",
            "Facebook",
            id="no request to follow",
        ),
    ],
)
def test_unusual_spelling_of_a_name_is_a_mention(companies, text, language, company, surface):
    assert named(companies, text, language=language) == [(company, surface)]


@pytest.mark.parametrize(
    ("text", "language", "company"),
    [
        pytest.param("Firmen wie Otto zahlen gut.", "de", "Otto Group", id="firms like"),
        pytest.param("tools like Descript save time", "en", "Descript", id="tools like"),
        pytest.param("an analyst at IDC wrote it", "en", "International Data Corporation", id="at"),
        pytest.param("a medical officer at Kaiser", "en", "Kaiser Permanente", id="officer at"),
        pytest.param("SHELL PLC, a client", "en", "Shell", id="legal form in capitals"),
        pytest.param("from Dell to MSI to LG", "en", "Micro-Star International", id="from to"),
        pytest.param("Walmart, Costco, and Target", "en", "Target", id="comma before and"),
        pytest.param("JBL Tune 710BT, my speakers", "en", "JBL", id="model of a maker"),
        pytest.param("It runs on AWS.", "en", "Amazon Web Services", id="AWS"),
        pytest.param("A Goldman economist agreed.", "en", "Goldman Sachs", id="Goldman"),
        pytest.param("Webex and Zoom, in lockdown", "en", "Zoom", id="Zoom"),
        pytest.param("a pump manufactured by Ford", "en", "Ford", id="made by"),
        pytest.param("Hertz, Budget, and Dollar", "en", "Dollar Rent A Car", id="car rental"),
        pytest.param("Jeans by Acne, shoes by Zara", "en", "Acne Studios", id="Acne"),
        pytest.param("Bain won the buyout", "en", "Bain Capital", id="Bain, the investor"),
        pytest.param("Bain, the consultants", "en", "Bain & Company", id="Bain, the adviser"),
    ],
)
def test_little_context_is_enough_beside_what_only_companies_have(
    companies, text, language, company
):
    found = {name for name, _ in named(companies, text, language=language)}
    assert company in found


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param("A card with 615 GE, says General Mike.", "en", id="unit behind a number"),
        pytest.param("Stars from Walt Disney to Leonardo DiCaprio", "en", id="two persons"),
        pytest.param("See Facebook.com/ourpage for more.", "en", id="path of an address"),
        pytest.param("Photo: Nintendo", "en", id="photo credit"),
        pytest.param("Image courtesy of Samsung", "en", id="courtesy"),
        pytest.param("Become our friend on Facebook to win.", "en", id="own channel"),
        pytest.param("A reef. (Ann Lee / Flickr)", "en", id="credit in a bracket"),
        pytest.param("They met a boy called Maruti.", "en", id="boy of that name"),
        pytest.param("A thief with the handle J.P. Morgan.", "en", id="nickname"),
        pytest.param("Preise für Diesel stiegen um 65 Prozent.", "de", id="fuel"),
        pytest.param("Ganó el partido en Vista Alegre.", "es", id="sports hall"),
        pytest.param("Acne troubles teenagers.", "en", id="acne, the illness"),
        pytest.param("Tengo que pasar la ITV del coche.", "es", id="vehicle inspection"),
        pytest.param("We hiked in Patagonia, with fleece jackets.", "en", id="region"),
        pytest.param("A shade tree, maple (Acer), grows there.", "en", id="genus"),
        pytest.param("a class TimeOut in SmartHome", "en", id="words of a program"),
        pytest.param("La TVA passe à 20 %.", "fr", id="value-added tax"),
        pytest.param("A CNH digital vale em todo o país.", "pt", id="driving licence"),
        pytest.param("Il treno per Basilea è in ritardo.", "it", id="city"),
        pytest.param("La Revolución Mexicana de 1910.", "es", id="adjective"),
        pytest.param("Dell'Orto ha vinto la gara.", "it", id="elided surname"),
        pytest.param("Kierowca Orlen Teamu był trzeci.", "pl", id="racing team"),
    ],
)
def test_other_things_of_the_same_name_are_no_mentions(companies, text, language):
    assert named(companies, text, language=language) == []


def test_maker_of_the_car_is_meant_beside_cars(companies):
    text = "He compared a BMW, a Porsche and a Rolls-Royce."
    assert ("Rolls-Royce Motor Cars", "Rolls-Royce") in named(companies, text, language="en")
    assert named(companies, "Rolls-Royce builds engines.", language="en")[0][0] == "Rolls-Royce"


def test_t_mobile_is_the_american_one_beside_american_carriers(companies):
    text = "Deals from Verizon, T-Mobile and other wireless carriers."
    assert ("T-Mobile US", "T-Mobile") in named(companies, text, language="en")


def test_ambiguous_name_beside_a_company_is_a_mention(companies):
    text = "Rossmann und Zalando wachsen."
    assert [m.rule for m in companies.find(text, language="de")] == ["company beside", "name"]


@pytest.mark.parametrize(
    ("language", "text", "company", "surface"),
    [
        ("pt", "Vale, Petrobras e Gerdau puxam o Ibovespa.", "Vale", "Vale"),
        ("he", "מניות פרטנר וסלקום ירדו", "Partner Communications", "פרטנר"),
        ("ko", "토스·카카오뱅크 나란히 상장", "토스뱅크", "토스"),
        ("nl", "Albert Heijn, Jumbo en Lidl verhogen prijzen.", "Jumbo Supermarkten", "Jumbo"),
    ],
)
def test_lists_support_names_in_many_languages(companies, language, text, company, surface):
    assert (company, surface) in named(companies, text, language=language)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("hu", "A Tescóban drágább, a Vodafone-nál olcsóbb.", ["Tescóban", "Vodafone"]),
        ("cs", "Křetínský jedná o Tescu.", ["Tescu"]),
        ("pl", "Klinika Chorób Serca otwarta.", []),
        ("fr", "En Ligue 1 McDonald's, Brest chute.", []),
        ("tr", "Trendyol Süper Lig'de hafta açıldı.", []),
        ("ja", "伊藤忠さんは語った。", []),
        ("ja", "銀行のATM障害が続く。", []),
        ("en", "Android 4.0 Ice Cream Sandwich runs on Telenor's network.", ["Telenor"]),
    ],
)
def test_declined_names_leagues_and_honorifics(companies, language, text, expected):
    assert [surface for _, surface in named(companies, text, language=language)] == expected


def test_hyphen_joins_two_companies(companies):
    found = named(companies, "il dossier Mediobanca-Generali", language="it")
    assert found == [("Mediobanca", "Mediobanca"), ("Generali", "Generali")]


def test_supported_name_supports_another(companies):
    text = "Campari ha annunciato un calo. " + "Null'altro si sa. " * 20 + "Aperol scende."
    found = companies.find(text, language="it")
    assert [(m.company, m.rule) for m in found] == [("Campari", "cue"), ("Campari", "other name")]


def test_companies_with_equal_names_are_distinguished_by_context(companies):
    assert named(companies, "Merck in Darmstadt", language="de") == [("Merck KGaA", "Merck")]
    assert named(companies, "Merck's Keytruda", language="en") == [("Merck & Co.", "Merck")]
    assert named(companies, "Merck spoke", language="en") == []


def test_short_form_counts_after_the_full_name(companies):
    text = "General Motors grew. GM hired."
    assert named(companies, text, language="en") == [
        ("General Motors", "General Motors"),
        ("General Motors", "GM"),
    ]


def test_title_mentions_come_first_with_offsets_in_the_title(companies):
    found = companies.find("Boeing agreed.", title="Airbus sues Boeing")
    assert [(m.section, m.start, m.surface) for m in found] == [
        ("title", 0, "Airbus"),
        ("title", 12, "Boeing"),
        ("body", 0, "Boeing"),
    ]


def test_mention_has_its_sentence_and_position(companies):
    text = "Dr. Ada Lo left. She joined Siemens AG. Why?\n\nBosch is next."
    first, second = companies.find(text, language="en")
    start, end = sentence_span(text, first)
    assert text[start:end] == "She joined Siemens AG."
    assert [position(text, mention) for mention in (first, second)] == ["lead", "body"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Am 4. Mai 2025 wuchs Bosch. Es schneite.", "Am 4. Mai 2025 wuchs Bosch."),
        ("Der 1. Preis ging an Bosch. Es schneite.", "Der 1. Preis ging an Bosch."),
        ("Es schneite am 4. Mai 2025. Bosch wuchs.", "Bosch wuchs."),
        ("„Nein.“ Bosch schwieg. Es schneite.", "Bosch schwieg."),
        ("Bosch builds at number 68.\n\nSnow fell.", "Bosch builds at number 68."),
        ("It snowed. Gov. Reed met Sen. Moss and Bosch.", "Gov. Reed met Sen. Moss and Bosch."),
        ("Padało. Mgr inż. Lis opuścił Bosch. Koniec.", "Mgr inż. Lis opuścił Bosch."),
        ("Dhr. Smit van Bosch sprak. Het sneeuwt.", "Dhr. Smit van Bosch sprak."),
        ("Снег. На ул. Мира строит Bosch. Конец.", "На ул. Мира строит Bosch."),
        ("ثلج. هل فازت Bosch؟ نعم.", "هل فازت Bosch؟"),
        ("برف ہوئی۔ Bosch جیت گئی۔ ختم۔", "Bosch جیت گئی۔"),
        ("बर्फ गिरी। Bosch बढ़ी। अंत।", "Bosch बढ़ी।"),
        ("Ձյուն եկավ։ Bosch-ը աճեց։ Վերջ։", "Bosch-ը աճեց։"),
        ("“走了。”微软说。结束。", "微软说。"),
        ("« Oui. » Bosch se tait. Il neige.", "Bosch se tait."),
        ("Κερδίζει η Bosch; Χιόνισε.", "Κερδίζει η Bosch;"),
        ("Ο κ. Ράλλης της Bosch μίλησε. Χιόνισε.", "Ο κ. Ράλλης της Bosch μίλησε."),
        ("TS. Lê của Bosch nói. Tuyết rơi.", "TS. Lê của Bosch nói."),
        ("Загалом 3 млн. грн. Bosch отримав. Сніг.", "Bosch отримав."),
        ("Snow fell. 12 people left Bosch. Snow.", "12 people left Bosch."),
        ("Satoi. 2026 voitti Bosch. Loppu.", "2026 voitti Bosch."),
        ("Snow fell. Bosch won on Sept. 5. It thawed.", "Bosch won on Sept. 5."),
        ("Snow. Bosch moved to Washington, D.C. It thawed.", "Bosch moved to Washington, D.C."),
        ("बर्फ। डॉ. शर्मा ने Bosch छोड़ा। अंत।", "डॉ. शर्मा ने Bosch छोड़ा।"),
        ("雪。「買った。」とBoschは言った。", "「買った。」とBoschは言った。"),
        ("雪。「買った！！」とBoschは言った。", "「買った！！」とBoschは言った。"),
        ("Es taut. Bosch sitzt in der Lindenstr. 12. Ende.", "Bosch sitzt in der Lindenstr. 12."),
        ("Śnieg. Bosch podał o godz. 15 wynik. Koniec.", "Bosch podał o godz. 15 wynik."),
        ("ዘነበ። Bosch አሸነፈ። አለቀ።", "Bosch አሸነፈ።"),
        ("წვიმდა. Bosch-მა მოიგო. დასრულდა.", "Bosch-მა მოიგო."),
        ("Winners:\n- Bosch\n- Others", "Bosch"),
        ("Winners of the day\nBosch 3 percent\nOthers 2 percent", "Bosch 3 percent"),
        (
            "The long line of a letter that was wrapped at seventy\nsigns by Bosch. Snow.",
            "The long line of a letter that was wrapped at seventy\nsigns by Bosch.",
        ),
    ],
)
def test_sentence_goes_from_stop_to_stop(companies, text, sentence):
    start, end = sentence_span(text, companies.find(text)[0])
    assert text[start:end] == sentence


NAMES = ["Siemens", "Apple", "VW", "微软", "トヨタ", "Газпрома", "Nestle\u0301", "(AAPL.O)"]
JOINTS = ["'s", "’", " ", "\u00a0", "-", "\n", "\n\n", "\u200b", "\ud800", "İ", "iPhone", ". ", "("]
PIECES = st.sampled_from(NAMES) | st.sampled_from(JOINTS)
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=25).map("".join)


def test_decomposed_accents_are_matched_beside_extra_spaces(companies):
    text = "Nestle\u0301  und  Citroe\u0308n, dann  ホンタ\u3099."
    assert [name for name, _ in named(companies, text)] == ["Nestlé", "Citroën", "Honda"]


@given(text=TEXTS, title=TEXTS, language=st.sampled_from([None, "de", "pl", "zz"]))
def test_offsets_point_at_the_surface(text, title, language):
    for mention in REGISTRY.find(text, title=title, language=language):
        section = title if mention.section == "title" else text
        assert section[mention.start : mention.end] == mention.surface != ""


@given(text=st.text(max_size=200))
def test_decomposed_accents_change_nothing(text):
    text = f"{text} Nestlé, Citroën und Siemens"
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert [m.company for m in REGISTRY.find(composed)] == [
        m.company for m in REGISTRY.find(decomposed)
    ]


@pytest.mark.parametrize(
    ("text", "company", "surface"),
    [
        ("Shares of H&amp;M rose.", "H&M", "H&amp;M"),
        ("Shares of AT&amp;amp;T and others rose.", "AT&T", "AT&amp;amp;T"),
        ("L&#39;Oréal raised prices.", "L'Oréal", "L&#39;Oréal"),
        ("Johnson &#x26; Johnson fell.", "Johnson & Johnson", "Johnson &#x26; Johnson"),
    ],
)
def test_name_with_references_is_found_at_its_place(text, company, surface):
    found = bundled_companies().find(text, language="en")
    assert [(m.company, text[m.start : m.end]) for m in found] == [(company, surface)]
