"""What a page is, if it isn't an article."""

import pytest

from newscrawl import extract
from newscrawl.extraction.extract import parse_page
from newscrawl.extraction.kinds import decide_kind
from newscrawl.extraction.methods import METHODS, of_other_page
from tests.walls.pages import ARTICLES, WALLS

STORY = "https://pier.example/news/harbour-reopens-after-storm-1234"
BODY = "The harbour reopened on Monday after the storm. " * 60
ARTICLE = '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'


def kind(html: str, url: str | None = STORY, *, text: str = BODY, link_words: int = 50) -> str:
    links = f"<a href=/x>{'word ' * link_words}</a>"
    page = parse_page(f"{html}<p>{text}</p>{links}", url)
    return decide_kind(page, [text], url)


def data(kind_of_node: str) -> str:
    return f'<script type="application/ld+json">{{"@type": "{kind_of_node}"}}</script>'


@pytest.mark.parametrize(
    ("html", "url", "text", "wanted"),
    [
        (ARTICLE, STORY, BODY, "article"),
        ("<h1>Harbour reopens</h1>", None, BODY, "article"),
        ("<h1>Harbour reopens</h1>", STORY, "Short and complete.", "article"),
        ("<h1>港口重新开放</h1>", STORY, "港口在暴风雨后重新开放。" * 40, "article"),
        (data("LiveBlogPosting"), STORY, BODY, "live"),
        ("", "https://pier.example/liveticker/storm-42", BODY, "live"),
        (data("ImageGallery"), STORY, "One. Two.", "gallery"),
        ("", "https://pier.example/bildergalerie/hafen-42", "Eins. Zwei.", "gallery"),
        ('<meta property="og:type" content="video.other">', STORY, "Watch.", "video"),
        ('<meta property="og:type" content="video.other">', STORY, BODY * 2, "article"),
        (data("Product"), STORY, BODY, "other"),
        (data("DiscussionForumPosting"), STORY, BODY, "other"),
        (data("CollectionPage"), STORY, BODY, "front"),
        ("", "https://pier.example/", BODY, "front"),
        ("", "https://pier.example/de/index.html", BODY, "front"),
    ],
)
def test_kind_follows_from_json_ld_types_and_url(html, url, text, wanted):
    assert kind(html, url, text=text) == wanted


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ('<div itemscope itemtype="https://schema.org/DiscussionForumPosting">{}</div>', "other"),
        ("<div itemscope itemtype='http://schema.org/QAPage'>{}</div>", "other"),
        ('<div itemscope itemtype="http://schema.org/Product">{}</div>', "other"),
        ('<html id="XF" lang="en"><body>{}</body></html>', "other"),
        ('<div itemscope itemtype="https://schema.org/Article">{}</div>', "article"),
        (ARTICLE + '<div itemscope itemtype="http://schema.org/Product">{}</div>', "article"),
    ],
)
def test_threads_and_products_are_no_articles(page, wanted):
    assert extract(page.replace("{}", f"<p>{BODY}</p>"), STORY).kind == wanted


def test_section_of_links_is_a_front_page():
    section = "https://pier.example/business/"
    assert kind("<h1>Business</h1>", section, link_words=900) == "front"
    assert kind("<h1>Business</h1>", section, link_words=20) == "article"
    assert kind(ARTICLE, section, link_words=900) == "article"
    dated = '<meta property="article:published_time" content="2026-11-01">'
    assert kind(dated, section, link_words=900) == "article"


@pytest.mark.parametrize(
    "title",
    ["Just a moment...", "Access Denied", "Attention Required! | Cloudflare", "404 Not Found",
     "Page not found - The Pier", "Error 503", "Seite nicht gefunden", "Page introuvable",
     "Página no encontrada", "Nie znaleziono strony", "Страница не найдена", "找不到页面",
     "Доступ ограничен", "403 Forbidden"],
)  # fmt: skip
def test_error_pages_and_robot_checks_are_detected_by_title(title):
    assert kind(f"<title>{title}</title>", text="Nothing here.") == "error"


@pytest.mark.parametrize(
    "title", ["Just a moment in history", "Access denied: how banks lock out the poor", "Area 404"]
)
def test_article_with_the_title_of_an_error_is_an_article(title):
    assert kind(f"<h1>{title}</h1>") == "article"


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("consent", "We use cookies. Your privacy matters. Accept all"),
        ("consent", "Mit Ihrer Zustimmung setzen wir Cookies zu Werbezwecken ein. Datenschutz"),
        ("consent", "Nous utilisons des cookies avec votre consentement."),
        ("consent", "Usamos cookies con su consentimiento. Privacidad"),
        ("consent", "Χρησιμοποιούμε cookies με τη συγκατάθεσή σας"),
        ("consent", "Мы используем cookie с вашего согласия"),
        ("paywall", "The harbour reopened. Subscribe to continue reading."),
        ("paywall", "Der Hafen ist offen. Jetzt weiterlesen mit unserem Abo."),
        ("paywall", "Le port rouvre. Cet article est réservé aux abonnés."),
        ("paywall", "El puerto reabre. Contenido para suscriptores."),
        ("paywall", "Порт открыт. Продолжение доступно по подписке."),
        ("paywall", "港が再開した。この記事は有料会員限定です。"),
    ],
)
def test_consent_page_and_paywall_are_detected_by_their_words(wanted, text):
    assert kind("<h1>The harbour</h1>", text=text) == wanted


def test_paywall_is_detected_by_its_json_ld():
    locked = ARTICLE.replace("}", ', "isAccessibleForFree": false}')
    assert kind(locked, text="The harbour reopened. " * 20) == "paywall"
    assert kind(locked, text=BODY) == "article"


def test_short_report_that_mentions_cookies_is_an_article():
    assert kind(ARTICLE, text="The bakery recalled its cookies on Monday.") == "article"


WALL_KINDS = {"consent": "consent", "robot check": "error", "paywall": "paywall", "front": "front"}


@pytest.mark.parametrize("page", WALLS, ids=[page.path for page in WALLS])
def test_extract_returns_the_kind_of_wall(page):
    url = "https://pier.example" + (page.final or page.path)
    assert extract(page.html, url).kind == WALL_KINDS[page.wall]


@pytest.mark.parametrize("path", ARTICLES)
def test_article_about_walls_is_an_article(path):
    assert extract(ARTICLES[path], f"https://pier.example{path}").kind == "article"


@pytest.mark.parametrize(
    "call",
    [
        "Become a member to read the rest of this story.",
        "You have 20% of this article remaining. Sign in or create an account.",
        "Lesen Sie den ganzen Artikel mit einem Probeabo",
        "Il vous reste 75% de cet article à lire.",
        "Suscríbete para leer el artículo completo",
        "Abbonati per leggere l'articolo completo",
        "Assine para ler a matéria completa",
        "Lees het hele artikel? Neem een abonnement",
        "Läs hela artikeln – bli prenumerant",
        "Přečtěte si celý článek s předplatným",
        "A teljes cikk előfizetőknek olvasható",
        "Увійдіть, щоб дочитати повний текст",
        "Haberin tamamı için üye olun",
        "اشترك لمتابعة القراءة",
        "Để đọc tiếp, vui lòng đăng nhập",
        "登录后阅读全文",
        "続きは有料会員の方のみ",
        "유료 회원은 전체 기사를 볼 수 있습니다",
        "Artiklen er forbeholdt abonnenter.",
        "The remainder of this article is available to subscribers.",
        "La suite est réservée à nos abonnés.",
        "A cikk csak előfizetőink számára olvasható.",
        "Абонирайте се, за да продължите да четете.",
        "Το άρθρο είναι διαθέσιμο μόνο σε συνδρομητές.",
        "Prihláste sa a čítajte ďalej.",
        "Članek je na voljo samo naročnikom.",
        "Овај садржај доступан је само претплатницима.",
        "Edasi lugemiseks logi sisse.",
        "Šis straipsnis skirtas tik prenumeratoriams.",
        "Lai turpinātu lasīt, abonē.",
        "هذا المحتوى متاح للمشتركين فقط.",
        "บทความนี้สำหรับสมาชิกเท่านั้น",
        "Unlock this article",
        "Continua a leggere con l’abbonamento",
        "পুরো খবর পড়তে সাবস্ক্রাইব করুন",
        "この記事は残り800文字",
        "This post is for paid subscribers",
        "The rest of this article is behind a paywall.",
        "Noch 80 % des Artikels",
        "Hai già un abbonamento? Accedi",
        "Masz już prenumeratę? Zaloguj się",
        "Det här är en premiumartikel",
        "Odomknite si článok",
        "남은 내용은 구독 후 읽을 수 있습니다",
        "此內容僅限訂戶閱讀",
    ],
)
def test_call_behind_a_short_text_makes_a_paywall(call):
    html = f"<article><h1>Harbour reopens</h1><p>{BODY[:300]}</p><div><p>{call}</p></div></article>"
    assert extract(html, STORY).kind == "paywall"


@pytest.mark.parametrize(
    "line",
    [
        "Subscribe to our newsletter and read the best stories in your inbox.",
        "Log in to comment. Read more: the quay in pictures.",
        "The service shows exclusive films to its subscribers, and premium ones never.",
        "Join us on Facebook.",
        "同社の有料会員は百万人を超えた。",
        "Mehr zum Thema lesen Sie hier. About us",
        "Das Auto kostet 80 % des Listenpreises.",
        "Logga in. Om oss",
        "This article was first published in 2019.",
        "Share this article | Sign in",
    ],
)
def test_other_lines_behind_a_short_text_make_no_paywall(line):
    html = f"<article><h1>Harbour reopens</h1><p>{BODY[:300]}</p><div><p>{line}</p></div></article>"
    assert extract(html, STORY).kind == "article"


@pytest.mark.parametrize(
    "text",
    [
        "To see this page, turn on JavaScript in your browser settings. Then reload the page.",
        "Stran, ki jo iščete, ne obstaja ali je bila odstranjena.",
        "Norėdami matyti puslapį, naršyklėje įjunkite JavaScript.",
        "Lehe vaatamiseks lubage brauseris JavaScript.",
        "Meklētā lapa nav atrasta vai ir dzēsta.",
        "Страница коју тражите не постоји или је уклоњена.",
        "הדף שחיפשת לא נמצא או הוסר.",
        "Sorry, this article has been moved or deleted. Go back to our home page.",
        "Your session has expired. Please sign in again to continue.",
        "Diese Seite ist umgezogen oder wurde gelöscht. Bitte nutzen Sie unsere Suche.",
        "Pour accéder au site, veuillez confirmer que vous n'êtes pas un robot.",
        "Este contenido no está disponible en su país. Lo sentimos.",
        "Il sito è in manutenzione. Torna a trovarci presto, ci scusiamo.",
        "Nossa página está em manutenção. Volte em breve, por favor.",
        "Verifica dat je geen robot bent. Schakel cookies in om verder te gaan.",
        "Vi ber om ditt samtycke att lagra cookies på din enhet.",
        "Vaše připojení bylo zablokováno. Prosím, obraťte se na správce webu a zkuste to znovu.",
        "Az oldal nem található. Kérjük, térjen vissza a főoldalra.",
        "Доступ к материалу ограничен. Пожалуйста, войдите в свой аккаунт, чтобы продолжить.",
        "Η πρόσβαση στον ιστότοπο απορρίφθηκε. Παρακαλώ επικοινωνήστε με τον διαχειριστή σας.",
        "Oturumunuzun süresi doldu. Devam etmek için lütfen tekrar giriş yapın.",
        "انتهت الجلسة. يرجى تسجيل الدخول إلى حسابك للمتابعة.",
        "आपका सत्र समाप्त हो गया। कृपया जारी रखने के लिए लॉग इन करें।",
        "抱歉，您访问的文章已被移动或删除。请返回首页，或使用搜索功能查找其他内容。",
        "ただいまメンテナンス中です。しばらくしてから再度アクセスしてください。",
        "세션이 만료되었습니다. 다시 로그인해 주세요.",
        "Сайт временно недоступен: ведутся технические работы.",
        "O site está em manutenção.",
    ],
)
def test_page_that_tells_its_reader_of_itself_is_an_error(text):
    html = f"<title>The Pier</title><div id=root><h1>{text[:20]}</h1><p>{text}</p></div>"
    assert extract(html, STORY).kind in {"error", "consent"}


@pytest.mark.parametrize(
    "text",
    [
        "Our servers are having a bad day. Come back in a few minutes.",
        "Press and hold the button to show that you are not a bot.",
        "Ce contenu n'est pas accessible depuis votre pays.",
        "お使いのブラウザはサポートされていません。",
        "De website is even uit de lucht wegens onderhoud.",
    ],
)
def test_few_words_of_a_page_suffice_where_it_has_no_headline(text):
    shell = f"<title>The Pier</title><div id=root><p>{text}</p></div>"
    assert extract(shell, STORY).kind == "error"
    cry = f"<title>The Pier</title><h1>Oops!</h1><div id=root><p>{text}</p></div>"
    assert extract(cry, f"{STORY}-2026-11-03").kind == "error"


@pytest.mark.parametrize(
    "page",
    [
        "<title>In brief</title><p>The browser loses users, and its maker will cut 200 jobs.</p>",
        "<h1>Web del ayuntamiento</h1><p>La página del ayuntamiento estuvo caída tres horas.</p>",
        "<title>The Pier</title><p>A page of a lost bible was found in an attic in Ely.</p>",
        "<h1>網站故障</h1><p>該銀行網站週二發生故障，三小時後恢復。</p>",
    ],
)
def test_brief_about_a_page_is_an_article(page):
    assert extract(page, STORY).kind == "article"


def test_welcome_to_a_new_site_is_no_notice():
    """A crawl compares it with what other addresses show (2026-11-28)."""
    paragraphs = "".join(
        f"<p>Our site has a new home, and page {part} of it is for you, our readers. The old "
        "addresses lead here, since the archive has not moved. Tell us what you miss on our pages; "
        "we read what you send us.</p>"
        for part in range(3)
    )
    assert extract(f"<h1>Welcome to the new Gazette</h1>{paragraphs}", STORY).kind == "article"


@pytest.mark.parametrize(
    "text",
    [
        "The council's website was down on Friday. Residents could not log in. The site is back.",
        "Google will block cookies in its browser. Advertisers must ask first, it said.",
        "Die Website der Bahn war nicht erreichbar. Kunden konnten sich nicht anmelden.",
        "Die Sprache JavaScript wird dreißig. Wer sie im Browser aktiviert hat, nutzt sie täglich.",
        "Le site de la mairie est inaccessible depuis lundi. Une panne de serveur en est la cause.",
        "Сайт мэрии не работал в пятницу. Жители не могли войти в личный кабинет.",
        "市役所のサイトが金曜日に一時アクセスできなくなった。市は利用者に謝罪した。",
        "法院认定该网站未经用户同意收集数据，罚款三百万元。公司表示将上诉。",
        "Please note: the town hall is closed on Monday. Documents are available on our website.",
        "Der Bundestag hat Regeln für Cookies beschlossen, die eine Zustimmung verlangen.",
        "Сайт банка в понедельник был недоступен три часа из-за сбоя сервера.",
    ],
)
def test_report_about_pages_and_browsers_is_an_article(text):
    assert extract(f"<h1>Harbour news</h1><p>{text}</p>", STORY).kind == "article"


@pytest.mark.parametrize(
    "page",
    [
        f"<h1>Digest</h1><p>{BODY[:400]}</p><a href=/x>Click here to read the full story</a>",
        f"<h1>港口</h1><p>{'港口在暴风雨后重新开放。' * 50}</p><p>有料会員限定</p>",
    ],
    ids=["a story elsewhere", "a button after a long unspaced text"],
)
def test_link_behind_a_text_is_not_a_wall(page):
    assert extract(page, STORY).kind == "article"


# A page of documentation: nothing declares a kind, and no date.
MANUAL = """<html><body><nav>{links}</nav><h1>Mooring a vessel</h1>{steps}</body></html>""".format(
    links="".join(f'<a href="/docs/{n}">Chapter {n} of the handbook</a> ' for n in range(20)),
    steps="".join(
        f"<p>Set rope {n}, then run <code>moor {n}</code>.</p><button>Copy</button>"
        for n in range(60)
    ),
)
REPORT = f"""<html><body><h1>Harbour reopens after storm</h1>
<time datetime="2026-11-09T08:00:00Z">9 November 2026</time><p>{BODY}</p><p>{BODY}</p>
<button>Search</button></body></html>"""


def test_documentation_that_declares_nothing_is_no_article():
    assert extract(MANUAL, "https://pier.example/docs/mooring").kind == "other"


@pytest.mark.parametrize(
    ("page", "url"),
    [
        (REPORT, STORY),
        (REPORT, "https://pier.example/2026/11/09/harbour"),
        (ARTICLE + MANUAL, "https://pier.example/docs/mooring"),
        (MANUAL, None),
        (MANUAL, "https://[pier/docs"),
    ],
    ids=["report", "short address", "declared", "no address", "broken address"],
)
def test_page_is_an_article_unless_much_speaks_against_it(page, url):
    assert extract(page, url).kind == "article"


# Pages of platforms that say of each page that it is an article (og:type).
SAID = '<meta property="og:type" content="article">'
REPLY = '<div class="message vote">Member since 2019</div><p>I would grease the winch first.</p>'
OFFER = (
    "<h2>Our services</h2><p>We berth your boat. Call us, our crew waits.</p><button>Book</button>"
)
CARD = '<div class="card"><a href=/p{}>Rope, 12 m</a><span class="price">€ 9</span></div>'


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (REPLY * 12, "/forum/which-winch-for-a-small-boat.4711/"),
        (REPLY * 12, "/t/which-winch/4711"),
        (OFFER * 8, "/services/berths"),
        (OFFER * 8, "/leistungen/liegeplaetze"),
        ("".join(map(CARD.format, range(30))), "/collections/ropes"),
        (MANUAL, "/docs/mooring"),
    ],
    ids=["forum", "number of a thread", "service", "German service", "collection", "manual"],
)
def test_type_that_platforms_give_all_pages_makes_no_article(body, path):
    page = f"<html><head>{SAID}</head><body><h1>Winches</h1>{body}</body></html>"
    assert extract(page, f"https://pier.example{path}").kind in {"other", "front"}
    assert extract(ARTICLE + page, f"https://pier.example{path}").kind == "article"


def test_signed_and_dated_page_with_a_rating_is_an_article():
    rating = '<div itemscope itemtype="http://schema.org/Product">4 stars</div>'
    assert extract(REPORT + rating, STORY).kind == "other"
    signed = REPORT.replace("<time", '<p class="byline">By Jane Doe</p><time')
    assert extract(signed + rating, STORY).kind == "article"


def test_page_that_is_no_article_gives_more_of_its_text():
    url = "https://pier.example/docs/mooring"
    page = parse_page(MANUAL, url)
    taken = extract(MANUAL, url)
    assert list(taken.paragraphs) == of_other_page(page).paragraphs
    assert set(taken.paragraphs) >= set(METHODS["combined-recall"](page).paragraphs)
    assert (
        list(extract(REPORT, STORY).paragraphs)
        == METHODS["combined"](parse_page(REPORT, STORY)).paragraphs
    )
