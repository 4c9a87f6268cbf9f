"""What stands before an article, or in its place, as sites of several languages serve it.

All of it is ours: shape and kinds of words are those of real walls, none of the sentences.
"""

from dataclasses import dataclass
from typing import Literal

Wall = Literal["consent", "robot check", "paywall", "front"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page at `path`; `final` is where a redirect leads that serves it, `status` its answer."""

    path: str
    wall: Wall
    html: str
    status: int = 200
    final: str | None = None


def _page(language: str, title: str, body: str, *, head: str = "") -> str:
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>'
        f"{head}</head><body>{body}</body></html>"
    )


def _texts(*paragraphs: str) -> str:
    return "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)


_PARTNERS = "".join(
    f"<li>Partner {number}: stores information on your device, measures ads, builds a profile of "
    f"your interests, keeps data for {number * 30} days</li>"
    for number in range(1, 25)
)
_PARTNERS_DE = "".join(
    f"<li>Anbieter {number}: Speicherung von Daten auf dem Gerät, personalisierte Anzeigen, "
    f"Messung der Werbeleistung, Aufbewahrung {number * 30} Tage</li>"
    for number in range(1, 25)
)

CONSENT = (
    Page(
        path="/news/bridge-opens-early-10001.html",
        wall="consent",
        html=_page(
            "en",
            "Your privacy choices",
            "<div class='cmp'><h1>We value your privacy</h1>"
            + _texts(
                "We and our partners use cookies and similar technologies to store and read "
                "information on your device, to show personalised ads and to measure how they do.",
                "With your consent we may use precise location data. You can change your choice at "
                "any time under Privacy settings at the end of every page.",
            )
            + "<button>Accept all</button><button>Manage options</button></div>",
        ),
    ),
    Page(
        path="/news/long-consent-10002.html",
        wall="consent",
        html=_page(
            "en",
            "The Pier – Privacy",
            "<main><h1>Before you go on</h1>"
            + _texts(
                "We and our 1,024 partners need your consent to use cookies and personal data.",
                "Data may be processed for ads, content, audience research and services.",
            )
            + f"<h2>Our partners</h2><ul>{_PARTNERS}</ul>"
            + "<button>Agree to all</button><a href='/privacy'>Privacy policy</a></main>",
        ),
    ),
    Page(
        path="/politik/hafenbruecke-10003.html",
        wall="consent",
        html=_page(
            "de",
            "Einwilligung | Salzmeerer Bote",
            "<div><h1>Mit Werbung weiterlesen</h1>"
            + _texts(
                "Besuchen Sie unsere Seiten wie gewohnt mit Werbung und Tracking. Die Zustimmung "
                "ist jederzeit widerrufbar. Einzelheiten in der Datenschutzerklärung.",
                "Oder werbefrei im Abonnement, ohne Werbetracking, für 4,99 Euro im Monat.",
            )
            + f"<h2>Unsere Anbieter</h2><ul>{_PARTNERS_DE}</ul>"
            "<button>Zustimmen und weiter</button></div>",
        ),
    ),
    Page(
        path="/politique/pont-du-port-10004.html",
        wall="consent",
        html=_page(
            "fr",
            "Le Quai - votre vie privée",
            "<div role='dialog'><h1>Nous respectons votre vie privée</h1>"
            + _texts(
                "Avec votre consentement, nos partenaires et nous utilisons des cookies et des "
                "traceurs pour mesurer l'audience et afficher des publicités personnalisées.",
                "Vous pouvez retirer votre consentement à tout moment dans la politique de "
                "confidentialité.",
            )
            + "<button>Tout accepter</button><button>Continuer sans accepter</button></div>",
        ),
    ),
    Page(
        path="/cronaca/ponte-10005.html",
        wall="consent",
        final="/consenso/?ritorno=10005",
        html=_page(
            "it",
            "Il Molo",
            "<h1>La tua privacy è importante</h1>"
            + _texts(
                "Noi e i nostri partner usiamo cookie per pubblicità e profilazione. Puoi dare il "
                "consenso oppure abbonarti."
            )
            + "<button>Accetta e continua</button>",
        ),
    ),
    Page(
        path="/kraj/most-10006.html",
        wall="consent",
        html=_page(
            "pl",
            "Nabrzeże",
            "<h1>Szanujemy Twoją prywatność</h1>"
            + _texts(
                "Za Twoją zgodą my i nasi partnerzy używamy plików cookie oraz danych osobowych, "
                "aby wyświetlać reklamy. Zgodę możesz wycofać w ustawieniach prywatności."
            )
            + "<button>Przejdź do serwisu</button>",
        ),
    ),
)

ROBOT_CHECKS = (
    Page(
        path="/news/crane-20001.html",
        wall="robot check",
        html=_page(
            "en",
            "Just a moment...",
            "<h1>pier.example</h1>"
            + _texts(
                "Checking your browser before you may go on. This is done by itself.",
                "Please allow up to five seconds.",
            ),
        ),
    ),
    Page(
        path="/news/crane-20002.html",
        wall="robot check",
        html=_page(
            "en",
            "pier.example",
            "<h1>Press and hold to show that you are human</h1>"
            + _texts("Unusual traffic came from your network. Reference 7f3a-20002."),
        ),
    ),
    Page(
        path="/news/kran-20003.html",
        wall="robot check",
        html=_page(
            "de",
            "Sicherheitsüberprüfung",
            _texts("Bitte bestätigen Sie, dass Sie kein Roboter sind, um fortzufahren."),
        ),
    ),
    Page(
        path="/news/kran-20004.html",
        wall="robot check",
        html=_page(
            "ru",
            "Вы не робот?",
            "<h1>Подтвердите, что запросы отправляли вы, а не робот</h1>"
            + _texts("С вашего адреса поступило много запросов. Введите символы с картинки."),
        ),
    ),
    Page(
        path="/news/kran-20005.html",
        wall="robot check",
        html=_page("zh", "安全验证", _texts("请完成安全验证后继续访问。")),
    ),
)

_TEASER = (
    "The yard at Saltmere has found a buyer after two years of talks, three people familiar with "
    "the matter said on Sunday night."
)
_LD = (
    '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "NewsArticle",'
    '"headline": "Yard at Saltmere finds a buyer", "isAccessibleForFree": false,'
    '"datePublished": "2026-11-20T08:00:00Z", "hasPart": {"@type": "WebPageElement",'
    '"isAccessibleForFree": "False", "cssSelector": ".paywall"}}</script>'
)
PAYWALLS = (
    Page(
        path="/business/yard-30001.html",
        wall="paywall",
        html=_page(
            "en",
            "Yard at Saltmere finds a buyer",
            f"<article><h1>Yard at Saltmere finds a buyer</h1>{_texts(_TEASER)}"
            "<div class='gate'><h2>Subscribe to continue</h2>"
            + _texts("Already a subscriber? Sign in. Start your free trial: 1 a week, for 4 weeks.")
            + "</div></article>",
            head=_LD,
        ),
    ),
    Page(
        path="/business/yard-30002.html",
        wall="paywall",
        html=_page(
            "en",
            "Yard finds a buyer",
            f"<article><h1>Yard finds a buyer</h1>{_texts(_TEASER)}</article>"
            "<aside><h3>Keep reading with a subscription</h3>"
            "<p>To continue reading this article, become a subscriber.</p></aside>",
        ),
    ),
    Page(
        path="/wirtschaft/werft-30003.html",
        wall="paywall",
        html=_page(
            "de",
            "Werft in Salzmeer verkauft",
            "<article><h1>Werft in Salzmeer verkauft</h1>"
            + _texts(
                "Nach zwei Jahren hat die Werft einen Käufer gefunden, wie drei Beteiligte sagten."
            )
            + "<div><h2>Jetzt weiterlesen</h2><p>Dieser Artikel ist exklusiv für Abonnenten. "
            "Bereits Abonnent? Hier anmelden.</p></div></article>",
        ),
    ),
    Page(
        path="/economie/chantier-30004.html",
        wall="paywall",
        html=_page(
            "fr",
            "Le chantier naval vendu",
            "<article><h1>Le chantier naval vendu</h1>"
            + _texts("Après deux ans de négociations, le chantier a trouvé un repreneur dimanche.")
            + "<section><p>Il vous reste 80 % de cet article à lire. La suite est réservée aux "
            "abonnés. Déjà abonné ? Se connecter</p></section></article>",
        ),
    ),
    Page(
        path="/economia/astillero-30005.html",
        wall="paywall",
        html=_page(
            "es",
            "El astillero tiene comprador",
            "<article><h1>El astillero tiene comprador</h1>"
            + _texts("Tras dos años, el astillero encontró comprador el domingo por la noche.")
            + "<div><p>Contenido exclusivo para suscriptores. ¿Ya eres suscriptor? Inicia sesión."
            "</p></div></article>",
        ),
    ),
)

_HEADLINES = (
    ("Council votes for a bridge", "After a long night the council has voted for the bridge."),
    ("Yard finds a buyer", "The yard at Saltmere has been sold to a maker of cranes."),
    ("Ferry runs late", "Fog keeps the ferries in port until noon, the harbour office says."),
    ("School gets a roof", "The school by the quay gets a new roof before the winter."),
    ("Market moves", "The fish market moves to the northern side of the harbour."),
    ("Museum opens", "The museum of knots opens its doors after the repairs."),
)
_CARDS = "".join(
    f"<div class='card'><h3><a href='/news/{number}-{title.lower().replace(' ', '-')}'>{title}</a>"
    f"</h3><p><a href='/news/{number}-x'>{text}</a></p></div>"
    for number, (title, text) in enumerate(_HEADLINES * 4)
)
FRONTS = (
    Page(
        path="/business/",
        wall="front",
        html=_page("en", "Business news | The Pier", f"<h1>Business</h1>{_CARDS}"),
    ),
    Page(
        path="/topics/harbour",
        wall="front",
        html=_page("en", "Harbour: latest | The Pier", f"<h1>Harbour</h1>{_CARDS}"),
    ),
    Page(
        path="/news/gone-40003.html",
        wall="front",
        final="/",
        html=_page("en", "The Pier", f"<h1>The Pier</h1>{_CARDS}"),
    ),
    Page(
        path="/news/gone-40004.html",
        wall="front",
        final="/news/",
        html=_page("en", "News | The Pier", f"<h1>News</h1>{_CARDS}"),
    ),
)

WALLS = (*CONSENT, *ROBOT_CHECKS, *PAYWALLS, *FRONTS)

# Articles with the words of walls in them, which they are about.
_SENTENCES = (
    "The regulator in Saltmere has fined a bank for asking its customers for consent too often. ",
    "Its privacy office counted cookies on forty pages and found that none of them was needed. ",
    "A spokesman said that nobody had subscribed to continue reading because of the banners. ",
    "The bank now asks once a year, and its lawyers call the ruling a surprise for the town. ",
)
ARTICLES = {
    "/news/fine-for-consent-50001.html": _page(
        "en",
        "Bank fined over cookie consent",
        "<article><h1>Bank fined over cookie consent</h1>"
        + _texts(*("".join(_SENTENCES[turn:] + _SENTENCES[:turn]) for turn in range(4)))
        + "</article>",
    ),
    "/news/free-to-read-50002.html": _page(
        "en",
        "Captcha makers look for robots",
        "<div class='cookie-banner'>We use cookies. Accept all</div><article>"
        "<h1>Captcha makers look for robots</h1>"
        + _texts(
            *(
                f"Part {part}: the makers of riddles for robots met in the harbour hall on Monday. "
                "They agreed that no riddle is safe for longer than a year, and that people who "
                "fail at one are right to be angry. The next meeting is planned for the spring, "
                "in the same hall and with more chairs than this time."
                for part in range(6)
            )
        )
        + "</article><footer>Subscribe to continue getting our letter</footer>",
    ),
}
