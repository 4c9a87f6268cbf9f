"""Brands that news of their countries names are found, and what only looks like them is not."""

import pytest

from newscrawl.mentions import load_companies


@pytest.fixture(scope="module")
def companies():
    return load_companies()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("ja", "常陽銀行と鹿児島銀行は7日、金利を引き上げた。", ["常陽銀行", "鹿児島銀行"]),
        ("ja", "スーパーの西友とライフが値下げする。", ["Seiyu", "ライフコーポレーション"]),
        ("ja", "ファミレスのジョナサンとバーミヤンが閉店した。", ["ジョナサン", "バーミヤン"]),
        ("ja", "先進国の首脳はサミットで気候変動を話し合った。", []),
        ("ja", "関西友の会は木曽路を歩き、町田商店街を訪ねた。", []),
        ("ja", "松屋は牛丼の並盛を値上げする。", ["Matsuya Foods"]),
        ("ja", "アフガニスタンのバーミヤンで仏像が壊された。", []),
        ("ko", "이마트24와 투썸플레이스가 매장을 닫는다.", ["이마트24", "투썸플레이스"]),
        ("ko", "서울 이랜드는 K리그2에서 3위를 기록했다.", []),
        ("ko", "미샤 마이스키가 첼로를 연주했다.", []),
    ],
)
def test_brands_are_found_and_their_namesakes_are_not(companies, language, text, expected):
    assert [mention.company for mention in companies.find(text, language=language)] == expected
