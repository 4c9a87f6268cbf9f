"""Venues, clubs, streets, persons and channels that bear a company's name, by language."""

import pytest

from tests.worlds import bundled_companies


@pytest.fixture(scope="module")
def companies():
    return bundled_companies()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Mecz na Tauron Arenie obejrzało 15 tys. kibiców.", "pl"),
        ("Zagrała Fundacja Orange.", "pl"),
        ("Nokia Arenalla pelattiin eilen.", "fi"),
        ("Finala Cupa Orange se dispută duminică.", "ro"),
        ("Η οδός Ford στο Ελληνικό έκλεισε.", "el"),
        ("Carlsberg Fondet støtter forskningen.", "da"),
        ("Volvo Ocean Race passerar Göteborg.", "sv"),
        ("Bosch Béla utcában történt.", "hu"),
        ("삼성 라이온즈는 3연승을 달렸다.", "ko"),
        ("포스코 미술관에서 전시가 열린다.", "ko"),
        ("टाटा स्टील चेस में गुकेश हारे।", "hi"),
        ("茅台杯决赛在周日举行。", "zh"),
        ("トヨタスタジアムで試合があった。", "ja"),
    ],
)
def test_namesakes_are_no_companies_in_any_language(companies, text, language):
    assert companies.find(text, language=language) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Тренер Андрій Тойота очолив клуб. Тойота підписав контракт.", "uk"),
        ("Ο αστυνόμος Γιώργος Φορντ μίλησε.", "el"),
        ("अभिनेता विप्रो ने कहा.", "hi"),
        ("Sierżant Anna Bosch apeluje o ostrożność. Bosch dodaje, że jest ślisko.", "pl"),
    ],
)
def test_persons_are_no_companies_in_any_script(companies, text, language):
    assert companies.find(text, language=language) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Siga o Observador no Instagram e no YouTube.", "pt"),
        ("Volg NU.nl ook op Facebook.", "nl"),
        ("Читайте нас у Фейсбуці та Твіттері.", "uk"),
        ("हमें फेसबुक और ट्विटर पर फॉलो करें।", "hi"),
        ("페이스북, 유튜브에서도 구독해 주세요.", "ko"),
    ],
)
def test_own_channels_of_a_newspaper_are_no_mentions(companies, text, language):
    assert companies.find(text, language=language) == []


def test_of_two_companies_with_one_name_the_one_at_home_is_meant(companies):
    text = "BİM ve A101'e rekabet cezası, Migros'un itirazı reddedildi."
    turkish = {mention.company for mention in companies.find(text, language="tr")}
    swiss = {mention.company for mention in companies.find("Die Migros baut um.", language="de")}
    assert "Migros Ticaret" in turkish
    assert "Migros" not in turkish
    assert swiss == {"Migros"}
