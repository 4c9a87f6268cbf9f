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
        ("El río Orange nace en Lesoto.", "es"),
        ("W gminie Siemens spadł śnieg.", "pl"),
        ("Nüfusun çoğu Siemens ilçesinde yaşar.", "tr"),
        ("Hujan turun di Kabupaten Hitachi.", "id"),
        ("伤病是莫雷诺肘部受伤。", "zh"),
        ("小镇位于弗林德斯湾。", "zh"),
        ("水温达到一百度。", "zh"),
        ("索尼娅表示感谢。", "zh"),
        ("物理学家特斯拉出生于1856年。", "zh"),
        ("今年产量达三千万达标。", "zh"),
        ("人族选手Sky击败小BOSS。", "zh"),
        ("Οι περιοχές Natura προστατεύονται.", "el"),
        ("La protesta di ieri è finita in Lafayette Square.", "it"),
        ("Södra Storgatan är avstängd.", "sv"),
        ("Solen skinner i dag.", "da"),
        ("Strava bola výborná.", "sk"),
        ("Мета роботи зрозуміла.", "uk"),
        ("Zorlu bir yıl bitti.", "tr"),
        ("Ο Walt Disney ζωγράφισε τον Μίκυ.", "el"),
        ("Als jongen tekende Walt Disney dieren.", "nl"),
        ("Билли и Шелли уехали в Евразию.", "ru"),
        ("Nauru i Soriano leżą daleko.", "pl"),
        ("Monza és Miska a gyerek kedvence.", "hu"),
        ("Doputovali su u Tel Avivu.", "sr"),
        ("Menin Nikon kanssa Jemeniin.", "fi"),
        ("Dịch bệnh ở phường Siemens đã lắng xuống.", "vi"),
        ("Le feu est parti de la commune de Renault.", "fr"),
        ("茅台镇下了大雪。", "zh"),
        ("De politie uit Mol zoekt getuigen.", "nl"),
        ("Az ágyút Quilmesbe viszik.", "hu"),
        ("Die Band nahm in den Abbey Road Studios auf.", "de"),
        ("Film nakręcono w Pinewood Studios.", "pl"),
        ("A família vive em Santos desde 1950.", "pt"),
        ("Juhlat pidettiin Nokian kirkossa.", "fi"),
        ("Elle habite près de Beauvais.", "fr"),
        ("O piloto venceu o Honda Grand Prix.", "pt"),
        ("Finál vyhrál Sargsian (Arm) nad Schalkenem.", "cs"),
        ("游客乘坐迪士尼线前往。", "zh"),
        ("上海迪士尼乐园今天开放。", "zh"),
        ("报道称罗隆基担任主笔。", "zh"),
        ("El diseñador Alexander McQueen presentó su libro.", "es"),
        ("Axel Springer zmarł w Berlinie.", "pl"),
        ("Das BSH warnt vor einer Sturmflut.", "de"),
        ("Volume at the Amex rose.", "en"),
        ("He lives in Blackrock.", "en"),
        ("新年健康又吉利；医院推出新菜。", "zh"),
        ("他向贸易委员会(ITC)提起诉讼。", "zh"),
        ("Im Tor: Klos, Reuter (46. Kohler), Linde, Bode (52. Eck).", "de"),
        ("A puma was seen near the creek. Puma attacks are rare.", "en"),
        ("Un puma cruzó el río. Puma avistado cerca del pueblo.", "es"),
        ("Het onderzoek aan de VUB is voltooid.", "nl"),
        ("Kras wieżowy znany jest z Chin.", "pl"),
        ("Naquele ano, Fleury já aparecia com 20% das intenções de voto.", "pt"),
        ("Viettel thắng 2-0, thủ môn cản phá ba cú sút trong trận đấu.", "vi"),
        ("Er spielte für Racing Santander und Çaykur Rizespor.", "de"),
        ("Passa due anni al Mahindra United.", "it"),
        ("Futuroscope is een vat vol attracties.", "nl"),
        ("Elle s'inspire, tout comme Marc Jacobs, du grunge et de la mode.", "fr"),
        ("A Bayern München nyert, a Kill Billben is szól.", "hu"),
        ("Medical experts doubted it.", "en"),
        ("Tenten ve Milu, Dupont ile uçağa bindi.", "tr"),
        ("Prețul crește cu TVA de 21 la sută.", "ro"),
        ("IMEI numarası sorgulanır.", "tr"),
        ("Varmaan sataa, lehtiä luettiin.", "fi"),
        ("Stravou se zabývá lékař.", "cs"),
        ("Die Quadriga wurde restauriert. Im Sprint verbuchte sie Gold.", "de"),
        ("Energią wiatru zasilono dom.", "pl"),
        ("ISTEN VELED, EZ SOK VOLT!", "hu"),
        ("A Bacia de Santos teve chuva.", "pt"),
        ("他乘坐九龙巴士281M线回家。", "zh"),
        ("记者来到泰康路采访。", "zh"),
        ("人们看到了中国电信事业的前景。", "zh"),
        ("照例是百事不问。", "zh"),
        ("汽车奔驰了两个小时。", "zh"),
        ("开心网吧今天停业。", "zh"),
        ("海尔赛指挥舰队。", "zh"),
        ("演员的脸谱画得很好。", "zh"),
        ("他们采用世界先进的技术。", "zh"),
        ("在迷宫中移动时会遇到敌人。", "zh"),
        ("新设备有更佳能效。", "zh"),
        ("京王相模原線で人身事故があった。", "ja"),
        ("阪急梅田駅で火災があった。", "ja"),
        ("飛騨市河合町角川の寺に墓がある。", "ja"),
        ("東京ディズニーランドで花火を見た。", "ja"),
        ("彼は近鉄バファローズに入団した。", "ja"),
        ("第1節のNECグリーンロケッツ戦に出場した。", "ja"),
        ("デンソー野球部が全国大会に出た。", "ja"),
        ("他加入欧洲劲旅BP战队。", "zh"),
        ("美国航空航天局公布照片。", "zh"),
        ("Indonesia merebut Piala Uber.", "id"),
        ("Menurut Lely, acara itu batal.", "id"),
        ("Kartu ATM itu hilang.", "id"),
        ("Block B2 chung cư bị phong tỏa.", "vi"),
        ("Rừng Amazon đang cháy.", "vi"),
        ("حرائق غابات الأمازون تتوسع.", "ar"),
        ("Onun annesi o zaman Mercedes Kaya ile tanıştı.", "tr"),
        ("La ministra Mercedes Olmedo habló.", "es"),
        ("Bu bölüm Red Apple adlı filmden.", "tr"),
        ("Takım Rhenus Sport salonunda oynuyor.", "tr"),
        ("G.M. Trevelyan wrote history.", "en"),
        ("It rained in Washington, D.C., all day.", "en"),
        ("Finalde Mercedes kupasında yenildi.", "tr"),
        ("Kardeşler Apple Core adında bir grup kurdu.", "tr"),
        ("Sahibinden albümünde üç şarkı var.", "tr"),
        ("Hapoel Migdal maçı kazandı.", "tr"),
        ("Formula Mazda pilotu yarışı bıraktı.", "tr"),
        ("A kézilabda bajnokságban a Grundfos Tatabánya kapusa két gólt kapott.", "hu"),
        ("A kézilabda bajnokságban a MOL-Alfa Szeged kapusa két gólt kapott.", "hu"),
        ("A ZTE csatára gólt lőtt a félidőben, az edző örült.", "hu"),
        ("A Snail magazin és a Greek című sorozat tetszett.", "hu"),
        ("A The Orange Box olcsóbb lett.", "hu"),
        ("Tocou no festival Super Bock no domingo.", "pt"),
        ("A Volta Galp passa por Évora.", "pt"),
        ('Nel 1990 uscì il disco "Diesel and Dust".', "it"),
        ("Sie sang das Lied „Little Honda“.", "de"),
        ("La rivière baigne Châteauneuf-de-Randon.", "fr"),
        ("Śpiewała „Billie Jean” na scenie.", "pl"),
        ("Intervista a cura di Eleonora, Elia, Elisa e Aurelio.", "it"),
        ("Anthony Vanden Borre joue à droite.", "fr"),
        ("Anna Eggertz-Forsmark svarade inte.", "sv"),
        ("京王ズの株式の話だ。", "ja"),
        ("アンティオキア公ルノーは降伏した。", "ja"),
        ("試合はバークレイズ・センターで行われた。", "ja"),
        ("那是福斯广播公司的电视剧。", "zh"),
        ("Tuzla'da Koç Özel Lisesi ile Sabancı Kız Meslek Lisesi var.", "tr"),
        ("Burada Cedric The Entertainer ile çalıştı.", "tr"),
        ("Firma DASA tarafından 1989'da satın alındı.", "tr"),
        ("Şarkıcı MTV Avrupa Müzik Ödülü kazandı.", "tr"),
        ("Köln'de Porsche ailesinin evi yandı.", "tr"),
        ("Eles pediram um aumento de 12%.", "pt"),
        ("Pinto da Costa chega a Santos pela Serra da Estrela.", "pt"),
        ("Seguì il match con Óscar de la Hoya sulla Apollo 9.", "it"),
        ("A MOL Magyar Kupa döntője ma lesz.", "hu"),
        ("Han er nu nummer ti på ATP-listen.", "da"),
        ("Foi GOL aos dez minutos.", "pt"),
        ("理事は日本電気協会で学んだ。", "ja"),
        ("捕鯨船ナイアンティック号が来た。", "ja"),
        ("该厂达到世界先进水平。", "zh"),
        ("奥米加（Omega）是狼群的首领。", "zh"),
        ("زار الوفد مدينة بابل القديمة.", "ar"),
        ("Hal itu dikatakannya kepada radio RFI.", "id"),
        ("A kasza típusa FS 80 volt.", "hu"),
        ("Rezerwę opisał potem dziennikarz Varian Kowal.", "pl"),
    ],
)
def test_namesakes_are_no_companies_in_any_language(companies, text, language):
    assert companies.find(text, language=language) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Futuroscope recrute 200 salariés.", "fr"),
        ("Abbey Road Studios announced layoffs.", "en"),
        ("Die Aktie von Santander fiel in Madrid.", "de"),
        ("Mercedes Sprinter vans are recalled.", "en"),
        ("A Mercedesnél Kecskeméten leépítések kezdődnek.", "hu"),
        ("高盛认为股市将上涨。", "zh"),
        ("转任百事公司总裁。", "zh"),
        ("赞助商有nike、当地商会等。", "zh"),
        ("动画由atari开发。", "ja"),
        ("La Basf chiude uno stabilimento.", "it"),
        ("A Telekom hálózatán kínálja.", "hu"),
        ("SEB höjer räntan.", "sv"),
        ("华为在线发布年报。", "zh"),
        ("Visa hợp tác với ngân hàng.", "vi"),
        ("BCA membukukan laba bersih.", "id"),
        ("Amazon membuka gudang di hutan beton Jakarta.", "id"),
    ],
)
def test_companies_whose_names_are_places_venues_or_persons_too_count(companies, text, language):
    assert len(companies.find(text, language=language)) == 1


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Тренер Андрій Тойота очолив клуб. Тойота підписав контракт.", "uk"),
        ("Ο αστυνόμος Γιώργος Φορντ μίλησε.", "el"),
        ("अभिनेता विप्रो ने कहा.", "hi"),
        ("央行副行长苏宁昨天表示。", "zh"),
        ("美国空军的希尔顿将军称任务完成。", "zh"),
        ("球员金美·麦当劳进球。", "zh"),
        ("局長のジョン・B・マクドナルドが語った。", "ja"),
        ("O avião de Santos Dumont voou.", "pt"),
        ("冠军是Hermes(黄远康)。", "zh"),
        ("俳優のティム・ボッシュが来日した。", "ja"),
        ("השחקן מרטין אפל ניצח.", "he"),
        ("कैप्टन रिचर्ड फिलिप्स को बचाया गया।", "hi"),
        ("Gisteren sprak minister De Block met artsen.", "nl"),
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


@pytest.mark.parametrize(
    ("language", "report", "business"),
    [
        (
            "ja",
            "プロ野球はヤクルトが先発の好投で勝ち、投手陣も零封した。",
            "ヤクルトは新しい飲料を発売した。",
        ),
        ("ko", "프로야구 한국시리즈에서 삼성이 홈런 두 방으로 이겼다.", "삼성이 새 공장을 짓는다."),
        (
            "fr",
            "Le peloton a repris l'échappée au sprint, et Cofidis a gagné l'étape du Giro.",
            "Cofidis a augmenté ses taux de crédit.",
        ),
    ],
)
def test_team_in_a_report_about_sports_is_no_company(companies, language, report, business):
    team, company = ("ヤクルト", "Yakult") if language == "ja" else ("삼성", "Samsung")
    if language == "fr":
        team, company = "Cofidis", "Cofidis"
    assert team not in {mention.surface for mention in companies.find(report, language=language)}
    assert company in {mention.company for mention in companies.find(business, language=language)}


@pytest.mark.parametrize(
    ("language", "report"),
    [
        ("en", "The Ferrari retired on lap 9 after a slow pit stop of the Grand Prix."),
        ("de", "Carl Zeiss verliert 0:2 in der Regionalliga, der Torwart sah Rot."),
        ("it", "Basket: la Segafredo cade 80-92, otto rimbalzi per il playmaker."),
        ("tr", "EuroLeague: Anadolu Efes deplasmanda 84-79 kazandı, 12 ribaund aldı."),
        ("ru", "Формула 1: Мерседес выбыл, гонщик Феррари взял поул и подиум."),
        ("ja", "ラグビーのリーグワンは、トヨタが28－15で勝った。トライは4。"),
        ("ko", "프로야구 KIA가 7-2로 이겼다. 투수는 호투했다."),
        # A result of a sentence or two.
        ("ja", "ロッテは延長十回、藤岡のサヨナラ打でオリックスに４―３で競り勝った。"),
        ("ko", "여자배구 현대건설이 흥국생명을 세트스코어 3-0으로 완파했다."),
        ("ko", "F1 페라리가 폴 포지션을 잡았다."),
        ("he", "פרארי זכתה בגרנד פרי של הפורמולה 1."),
        ("ar", "فاز مرسيدس بالجائزة الكبرى في الفورمولا 1."),
        ("tr", "VakıfBank, Sultanlar Ligi'nde Eczacıbaşı'nı 3-1 yendi."),
        ("es", "El ciclista del Movistar atacó y el Cofidis ganó al esprint."),
        ("ru", "«Северсталь» победила «Автомобилист» 4:2 в матче КХЛ."),
        ("en", "Bayer drew 1-1 at Union Berlin and stay second in the Bundesliga."),
        (None, "Grand Prix: McLaren holt die Pole, der Boxenstopp war schnell, Podest."),
    ],
)
def test_report_about_sports_names_teams_in_any_language(companies, language, report):
    assert companies.find(report, language=language) == []


def test_word_of_many_names_behind_a_maker_is_its_model(companies):
    names = {mention.company for mention in companies.find("Stał tam Opel Admiral.", language="pl")}
    assert names == {"Opel"}


def test_section_of_an_address_is_enough_for_a_team(companies):
    text = "Ferrari braucht einen neuen Plan."
    assert companies.find(text, language="de", source="https://example.org/sport/a-1") == []
    assert companies.find(text, language="de", source="https://example.org/geld/a-1")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("it", "Aveva vent'anni."),
        ("el", "Ο Γερμανός καγκελάριος μίλησε."),
        ("uk", "Тему закрито."),
        ("hr", "Ovako je bilo."),
    ],
)
def test_everyday_word_of_a_language_is_no_company_in_it(companies, language, text):
    assert companies.find(text, language=language) == []


@pytest.mark.parametrize(
    ("language", "text", "company"),
    [
        ("ru", "Офис Почты России закрыт.", "Почта России"),
        ("pl", "Siedziba Grupy Azoty jest pusta.", "Grupa Azoty"),
        ("hr", "Radnici Hrvatske pošte štrajkaju.", "Hrvatska pošta"),
        ("fi", "Mehiläisen asema suljettiin.", "Mehiläinen"),
    ],
)
def test_every_word_of_a_name_is_declined(companies, language, text, company):
    found = companies.find(text, language=language)
    assert [mention.company for mention in found] == [companies.by_name(company).name]


def test_of_two_companies_with_one_name_the_one_at_home_is_meant(companies):
    text = "BİM ve A101'e rekabet cezası, Migros'un itirazı reddedildi."
    turkish = {mention.company for mention in companies.find(text, language="tr")}
    swiss = {mention.company for mention in companies.find("Die Migros baut um.", language="de")}
    assert "Migros Ticaret" in turkish
    assert "Migros" not in turkish
    assert swiss == {"Migros"}


@pytest.mark.parametrize(
    ("text", "language", "company"),
    [
        ("Volkswagen (19 Prozent), BMW (12 Prozent) und Ford (9 Prozent) führen.", "de", "BMW"),
        ("A Nubank nasceu em 2013.", "pt", "Nubank"),
        ("Nokia syntyi vuonna 1865.", "fi", "Nokia"),
        ("Mercedes Aktie fällt", "de", "Mercedes-Benz"),
        ("Mercedes India sales rise", "en", "Mercedes-Benz"),
        ("O aumento foi barrado pela Claro ontem.", "pt", "América Móvil"),
        ("A Ford dispensou 140 pessoas.", "pt", "Ford"),
        ("Il pilota passò alla Candy nel 1990.", "it", "Candy elettrodomestici"),
        ("A vizsgálat szerint a MOL a hibás.", "hu", "MOL Group"),
        ("Koliko dugova ima HEP?", "hr", "Hrvatska elektroprivreda"),
        ("A Mercedesnél Kecskeméten is leépítés lesz.", "hu", "Mercedes-Benz"),
        ("Samsung Apple'ı geçti.", "tr", "Apple"),
        ("Dün Elon Musk Apple'a dava açtı.", "tr", "Apple"),
        ("小米(01810)大涨。", "zh", "Xiaomi"),
        ("Mercedes Pay startet.", "de", "Mercedes-Benz"),
        ("Zespół sponsorują Texaco, Sanyo i Bridgestone.", "pl", "Sanyo"),
        ("Le jeu est développé par Rare depuis un an.", "fr", "Rare Ltd"),
        ("Technicolor tarafından üretilmiştir.", "tr", "Technicolor"),
        ("Lotnisko linii lotniczej El Al jest puste.", "pl", "El Al"),
        ("Varian Medical przejęty.", "pl", "Varian Medical Systems"),
        ("La cotización en Sabadell sube", "es", "Banco Sabadell"),
        ("De topman van Schiphol vertrekt.", "nl", "Schiphol Group"),
        ("Layoffs at Six Flags", "en", "Six Flags"),
        ("韩三星宣布裁员。", "zh", "Samsung"),
        ("巨头之一百度宣布裁员。", "zh", "Baidu"),
        ("华为站在十字路口。", "zh", "Huawei"),
        ("Google YouTube chief Neal Mohan resigned.", "en", "YouTube"),
        ("Fenerbahçe, Opet ile anlaşma imzaladı.", "tr", "Opet"),
        ("VakıfBank kredi faizlerini düşürdü.", "tr", "VakıfBank"),
        ("Amazon kârını açıkladı.", "tr", "Amazon"),
        ("Snapchat, X and Reddit sue the state.", "en", "Reddit"),
        ("I.B.M.'s revenue grew.", "en", "IBM"),
        ("A.T.&T. raised its prices.", "en", "AT&T"),
        ("G.M. workers strike.", "en", "General Motors"),
        ("A Richternél nőtt a nyereség.", "hu", "Gedeon Richter"),
        ("A Siemensszel szerződtek.", "hu", "Siemens"),
        ("Podravkini radnici traže povišicu.", "hr", "Podravka"),
        ("Stiže novi Appleov telefon.", "hr", "Apple"),
        ("Applu hrozí pokuta.", "cs", "Apple"),
        ("Sammon osinko kasvaa.", "fi", "Sampo"),
        ("W Ikei drożeje.", "pl", "Ikea"),
        ("A Porschénél leépítenek.", "hu", "Porsche"),
        ("W Biedronce podwyżki płac.", "pl", "Biedronka"),
        ("Apples salg falder.", "da", "Apple"),
        ("Theo Tesla, giá xe sẽ giảm.", "vi", "Tesla"),
        ("Samsung meninggalkan pasar China.", "id", "Samsung"),
        ("Uber öldürülen sürücü için açıklama yaptı.", "tr", "Uber"),
        ("A kid brand called Lego was sold.", "en", "Lego"),
    ],
)
def test_business_news_is_no_place_person_or_number(companies, text, language, company):
    assert company in {mention.company for mention in companies.find(text, language=language)}


# Beside what the rules above refuse: news of companies.
_BUSINESS = {
    "de": """Puma: Puma schließt Läden. In Herzogenaurach baut Puma um.
        | VÚB banka: Die VÚB banka senkt Gebühren. | Adidas: Adidas rüstet den Torwart aus.
        | DAZN: DAZN zeigt die Bundesliga, der Trainer lobt DAZN nach dem 3:1.
        | Santander: Santander schließt Filialen. | Henkel: Henkel verdient 8 Prozent mehr.
        | Zwilling J.A. Henckels: Der Konzern Zwilling baut um.
        | Flughafen Hamburg: Der Flughafenbetreiber Flughafen Hamburg meldet Gewinn.
        | RTL Group: Der Rundfunksender RTL baut Stellen ab.
        | BMW: Sie kostet je Stück "BMW Vorzüge" 80 Euro. | Siemens: In Folge "Siemens" schwach.""",
    "en": """Puma: Puma shares fell. A puma is on the logo. | Siemens: Siemens got 15% of it.
        | Sky: Sky paid for Premier League rights, beating BT 4-3. | DuPont: DuPont to split.
        | Mahindra: Mahindra recalls 20,000 cars. | Walt Disney: Walt Disney raised its dividend.
        | Eurotunnel: Eurotunnel shares rose. | Six Flags: Layoffs at Six Flags
        | Tennessee Valley Authority: The Tennessee Valley Authority, TVA for short, builds.
        | Santos Ltd: Santos Ltd shares rose. | Commonwealth Bank: Commonwealth Bank opens 9 units.
        | Amazon: Amazon opened a warehouse. | Ford: Ford to cut 4,000 jobs in Europe.
        | Boeing: It was the first single "Boeing 737" order since May.
        | Porsche: The track "Porsche Experience Center" opened.
        | Ford: Sales of the film "Blue" and Ford "Focus" cars fell.""",
    "es": """Puma: Puma cierra tiendas en España. | Sega: La compañía Sega decidió cerrar.
        | Banco Sabadell: Sabadell gana un 20% más. | Santander: Santander compra un banco.""",
    "fi": """Elisa Oyj: Elisa sanoo, että yhtiö rakentaa verkkoa. | Varma: Eläkeyhtiö Varma osti.
        | Supercell: Peliyhtiö Supercell irtisanoo väkeä. | Sanoma: Sanoman liikevaihto laski.
        | International Data Corporation: Tutkimusyhtiö IDC laski ennustettaan.""",
    "fr": """LVMH: LVMH cède Marc Jacobs. | Futuroscope: Futuroscope recrute 200 salariés.
        | Ford: Embauches chez Ford, dit-il. | Colisée: Le groupe Colisée ouvre des maisons.
        | Renault: Le titre « Renault » gagne 3 %, le titre « Airbus » recule.
        | Airbus: Après le « grand film » Airbus « change tout ».""",
    "hu": """Bayer: A Bayernél leépítés lesz, a Bayer nyeresége esett. | Billa: A Billában drágább.
        | Audi: Az Audinak Győrben van gyára. | Tesco: A Tescóban sztrájkolnak.
        | Budapest Airport Zrt: A Budapest Airport cáfolta a hírt.
        | Bosch: Kiderült, hogy Bosch bezárja a gyárat. | Tesla: Szerintük Tesla olcsóbb lesz.
        | Boeing: A lap szerint Boeing 300 gépet ad el. | Honda: Nőtt az ár, s Honda is drágul.""",
    "it": """Ford: Ford taglia 4.000 posti in Europa. | Mango: Il marchio Mango apre a Roma.
        | Valentino: La maison Valentino cresce nella moda. | Scania: Scania vende camion.""",
    "nl": """Futuroscope: De aandelen van Futuroscope stegen. | Schiphol Group: Winst bij Schiphol.
        | Organon: Farmaceut Organon groeit.""",
    "pl": """Media Expert: Klienci Media Expertu czekają. | Energa: Energa zwiększyła zysk.
        | Piaggio: Drożeją akcje firmy Piaggio. | EMI: Wytwórnia EMI podpisała kontrakt.""",
    "pt": """Fleury: O grupo Fleury compra. | Porto (BR): A seguradora Porto cresce.""",
    "ro": "Regina Maria: Rețeaua medicală Regina Maria deschide o clinică la Cluj.",
    "tr": """Çaykur: Çaykur yaş çay alımını başlattı. | Ally Financial: Ally Financial büyüyor.
        | Spotify: Spotify Türkçe şarkı listesi yayımladı. | TikTok: TikTok Avrupa şarkı alıyor.
        | Apple: Apple Music Türkçe albüm satışına başladı.
        | Samsung: Samsung Galaxy şarkı tanıma özelliği ekledi.""",
    "vi": "Viettel: Viettel báo lãi, tăng 2-3 điểm phần trăm.",
    "zh": """Huawei: 华为路由器销量增长。 | Baidu: 百度路测牌照获批。
        | Tesla: 特斯拉路试车曝光。 | Haier: 海尔路演吸引投资者。
        | China Telecom: 中国电信业绩增长。 | China Mobile: 中国移动企业客户增加。
        | Bank of China: 中国银行业务利润增长。 | PetroChina: 中国石油产业链利润下降。
        | 港铁: 港铁公布荃湾线延误原因。 | JR Central: JR东海公布新干线计划。
        | 九巴: 九龙巴士车长罢工。 | IBM: IBM(中国)有限公司裁员。 | Nike: Nike(耐克)宣布裁员。
        | Mercedes-Benz: 奔驰在华销量下滑。 | PepsiCo: 百事在四川建厂。
        | SenseTime: 商汤发布大模型。
        | Vanguard International Semiconductor: 世界先進公布財報。
        | China Mobile: 中移动宣布派息。 | China Construction Bank: 建行下调利率。
        | ICBC: 工行深圳分行开业。 | China Merchants Bank: 招行推出新卡。
        | Bank of Communications: 交行管理层换人。 | Vanke: 万科拟出售项目。
        | Air China: 国航增开航线。 | China Eastern Airlines: 东航首飞成功。
        | HNA Group: 海航重整完成。 | Cisco: 思科裁员四千人。
        | American Airlines: 美国航空取消航班。 | BP: 英国BP战略调整。
        | Electronic Arts: EA表示新作延期。 | Xiaomi: 小米在印度的市场份额下滑。
        | Longfor: 龙湖上半年合同销售额下降。 | Samsung: 三星计划在越南扩产。
        | Evergrande: 恒大被责令清盘。 | Sotheby's: 苏富比拍出名画。""",
    "ja": """Keio Corporation: 京王電鉄は運賃を上げる。 | Hankyu Hanshin: 阪急阪神は宿を売る。
        | JR East: JR東日本が新型車両を出す。 | Kintetsu: 近鉄は特急料金を上げる。
        | Hitachi: 日立は鉄道事業を買収した。 | NEC: NECは増益だった。 | JTB: JTBは客が戻った。
        | Philips: ロイヤル・フィリップスは人員を削減する。
        | Walt Disney: ウォルト・ディズニーは値上げする。 | Bosch: 独ボッシュは工場を開く。
        | Ford: フォード・モーターは計画を縮小する。 | Yaskawa: 北九州市の安川電機は増産する。
        | Aeon: イオンが電子マネーを刷新する。 | Denso: デンソー部長が語る。
        | NEC: 日本のNECが増配する。
        | Oriental Land: オリエンタルランドが東京ディズニーランドを改装する。
        | Keihan: 京阪電鉄京阪本線の運賃が上がる。 | Adobe: アドビが値上げする。
        | Merck & Co.: 米メルクが増益。 | Citigroup: シティグループが人員を減らす。""",
    "ko": """CGV: CGV가 관람료를 올렸다. | Nongshim: 농심은 라면 가격을 인상했다.
        | Burger King: 버거킹 매각이 무산됐다. | Micron: 마이크론이 반도체를 늘린다.
        | Gucci: 구찌가 매장을 닫는다. | Qualcomm: 퀄컴이 칩을 공개했다.""",
}


@pytest.mark.parametrize("language", _BUSINESS)
def test_rules_refuse_no_news_of_companies(companies, language):
    missed = {}
    for line in _BUSINESS[language].split("|"):
        name, text = line.strip().split(": ", 1)
        names = {mention.company for mention in companies.find(text, language=language)}
        if name not in names:
            missed[text] = names
    assert missed == {}
