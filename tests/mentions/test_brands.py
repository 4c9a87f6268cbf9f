"""Brands that news of their countries names are found, and what only looks like them is not."""

import pytest

from tests.worlds import bundled_companies


@pytest.fixture(scope="module")
def companies():
    return bundled_companies()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("fr", "Le patron de l’Oréal a été reçu lundi à Lille.", ["L'Oréal"]),
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
        ("zh", "国泰世华与兆丰银行周二宣布裁员。", ["國泰世華", "兆豐銀行"]),
        ("zh", "快餐品牌华莱士和老乡鸡关闭门店。", ["华莱士", "老乡鸡"]),
        ("zh", "房仲永慶房屋與台灣房屋看好後市。", ["永慶房屋", "台灣房屋"]),
        ("zh", "上海银行间同业拆放利率周一下跌。", []),
        ("zh", "活动让大家乐意参加，海南万宁也有优惠康复项目。", []),
        ("zh", "天津银行业绩增长。", ["天津银行"]),
        ("zh", "乡村基础设施建设加快，天津银行业金融机构增加贷款。", []),
        ("zh", "華萊士教授愛買一张一元纸币。", []),
        ("ru", "Белгазпромбанк и Евроторг отчитались о прибыли.", ["Белгазпромбанк", "Евроторг"]),
        ("ru", "Светофор сломался, командор полка вызвал соседей.", []),
        ("ru", "Торговая сеть «Монетка» закроет два магазина.", ["Монетка"]),
        ("uk", "Мережа супермаркетів «Рукавичка» відкриє магазин.", ["Рукавичка"]),
        ("uk", "Рукавичка — українська народна казка.", []),
        ("bg", "Жан Виденов беше премиер, а неделя е почивен ден.", []),
        ("he", "סטימצקי וצומת ספרים יסגרו שני סניפים.", ["סטימצקי", "צומת ספרים"]),
        ("he", "רנואר היה צייר צרפתי אימפרסיוניסט.", []),
        (
            "fa",
            "بانک پاسارگاد و بانک سامان سود خود را اعلام کردند.",
            ["بانک پاسارگاد", "بانک سامان"],
        ),
        ("fr", "La Banque nationale suisse a relevé son taux.", []),
        ("fr", "CIH Bank et Saham Bank ouvrent des agences.", ["CIH Bank", "Saham Bank"]),
    ],
)
def test_brands_are_found_and_their_namesakes_are_not(companies, language, text, expected):
    assert [mention.company for mention in companies.find(text, language=language)] == expected
