"""Which language a text is in: the declared one, unless its words speak against it."""

import numpy as np
import pytest

from newscrawl.extraction.language import MIN_WORDS, decide_language, read_model

TEXTS = {
    "en": "The council has said that it will not sell the old harbour, and that the boats which are"
    " there now may stay until the end of the year. It was not clear what would come after that,"
    " or who should pay for it, but there are some who have an idea of their own.",
    "de": "Der Rat hat gesagt, dass er den alten Hafen nicht verkaufen wird und dass die Boote, die"
    " jetzt dort sind, bis zum Ende des Jahres bleiben dürfen. Es war nicht klar, was danach kommen"
    " soll und wer dafür bezahlen wird, aber es gibt einige, die eine Idee haben.",
    "fr": "Le conseil a dit qu'il ne vendra pas le vieux port et que les bateaux qui y sont encore"
    " pourront rester jusqu'à la fin de l'année. On ne sait pas ce qui viendra après, ni qui doit"
    " payer pour cela, mais il y en a qui ont déjà une idée, et ce n'est pas la même.",
    "es": "El consejo ha dicho que no va a vender el viejo puerto y que los barcos que están allí"
    " se pueden quedar hasta el final del año. No se sabe qué es lo que vendrá después, ni quién lo"
    " va a pagar, pero hay quienes ya tienen una idea, y no es la misma para todos.",
    "el": "Το συμβούλιο είπε ότι δεν θα πουλήσει το παλιό λιμάνι και ότι τα σκάφη που είναι εκεί"
    " μπορούν να μείνουν ως το τέλος του χρόνου. Δεν είναι σαφές τι θα γίνει μετά από αυτό και"
    " ποιος θα το πληρώσει, αλλά υπάρχουν κάποιοι που έχουν μια ιδέα για το πώς και με τι.",
    "ru": "Совет сказал, что он не будет продавать старый порт и что лодки, которые там стоят,"
    " могут остаться до конца года. Не ясно, что будет после этого и кто за это заплатит, но есть и"
    " такие, у которых уже есть своя идея о том, как это можно было бы сделать для всех.",
    "zh": "市议会表示，他们不会出售这个旧的港口，现在在那里的船也都可以留到年底。"
    "这以后会怎么样，谁来付这笔钱，还不清楚，但是也有一些人已经有了自己的想法，而这些想法和别人的不一样。",
}


@pytest.mark.parametrize("language", TEXTS)
def test_stop_words_decide_whatever_is_declared(language):
    """Many templates say lang="en" whatever is in them."""
    for declared in (None, language, "en"):
        assert decide_language(declared, TEXTS[language]) == language


def test_declared_language_is_kept_against_a_close_relative():
    norwegian = (
        "Rådet har sagt at det ikke vil selge den gamle havnen, og at båtene som er der nå, kan bli"
        " til slutten av året. Det er ikke klart hva som skal komme etter det, eller hvem som skal"
        " betale for det, men det er noen som har en idé om hvordan det kan gjøres for alle."
    )
    assert decide_language("no", norwegian) in ("no", "nb")
    assert decide_language("nb", norwegian) in ("no", "nb")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "深圳新闻网讯：警方获悉，春节期间燃放烟花爆竹引发火灾三起"),
        ("ja", "東京株式市場、日経平均は小幅続伸"),
        ("ko", "삼성전자 주가 급등"),
        ("el", "Ανακοίνωση ΔΕΗ"),
        ("th", "ตลาดหุ้นไทยวันนี้"),
    ],
)
@pytest.mark.parametrize("declared", ["en", None])
def test_language_of_a_short_text_follows_its_script(language, text, declared):
    assert decide_language(declared, text) == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("tr", "Köprü bu salı onarım için kapanacak, belediye dün duyurdu, herkes şimdi bekliyor."),
        ("sk", "Most cez rieku je od utorka pre opravu zatvorený, oznámil starosta vo štvrtok."),
        ("lt", "Tiltas per upę nuo antradienio uždarytas dėl remonto, vakar pranešė miesto meras."),
        ("et", "Sild üle jõe suleti teisipäeval remondi tõttu, teatas linnapea eile õhtul linnas."),
        ("lv", "Tilts pār upi no otrdienas slēgts remonta dēļ, vakar paziņoja pilsētas mērs."),
    ],
)  # fmt: skip
def test_few_words_overrule_english_where_they_are_clearly_others(language, text):
    assert decide_language("en", text) == language


def test_names_alone_overrule_no_language():
    teams = "Arsenal 2 Chelsea 1 Liverpool 3 Everton 0 Tottenham 2 Fulham 2 Leeds 1 Wolves 0"
    assert decide_language("en", teams) == "en"


@pytest.mark.parametrize("declared", ["de", "tr", None])
def test_declared_language_is_used_for_text_without_words(declared):
    assert decide_language(declared, "") == declared
    assert decide_language(declared, "... !") == declared


def test_few_words_do_not_overrule_a_declared_language():
    text = " ".join(TEXTS["en"].split()[: MIN_WORDS - 1])
    assert decide_language("de", text) == "de"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Die Brücke bleibt bis zum Frühjahr gesperrt, und die Fähre fährt nur am Abend."),
        ("fr", "Le pont reste fermé jusqu'au printemps, et le bac ne passe que dans la soirée."),
        ("pt", "A ponte fica fechada até à primavera e o barco só passa ao fim da tarde."),
        ("uk", "Міст закрито до весни, а пором ходить лише ввечері."),
        ("ar", "الجسر مغلق حتى الربيع والعبارة تعمل في المساء فقط."),
        ("hi", "पुल वसंत तक बंद रहेगा और नाव केवल शाम को चलेगी।"),
        (
            "fi",
            "Kalasatama avattiin perjantaina yhdeksän viikon korjaustöiden jälkeen, kertoi kunta.",
        ),
    ],
)
def test_one_paragraph_overrules_a_wrong_declaration(language, text):
    assert decide_language("en", text) == language


def test_latin_text_overrules_the_language_of_another_script():
    assert decide_language("zh", " ".join(TEXTS["en"].split()[:30])) == "en"


def test_language_without_stop_words_is_identified():
    hungarian = (
        "A tanács közölte, hogy nem adja el a régi kikötőt, és a most ott lévő hajók az év végéig"
        " maradhatnak. Nem világos, hogy mi jön azután, és ki fizeti meg mindezt, de vannak,"
        " akiknek már megvan a saját ötletük arról, hogyan lehetne ezt mindenki számára"
        " megoldani végül."
    )
    assert decide_language(None, hungarian) == "hu"


@pytest.mark.parametrize("length", [None, 60_000_000, 0])
def test_model_is_read_from_the_cache_unless_its_file_is_damaged(tmp_path, monkeypatch, length):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    unpacked = read_model()
    (file,) = tmp_path.glob("newscrawl/languages-*.npy")
    whole = file.read_bytes()
    file.write_bytes(whole[:length])
    for part, known in zip(read_model(), unpacked, strict=True):
        assert np.array_equal(part, known)
    assert file.read_bytes() == whole
