"""Tickers, which count only in ticker notation: "NYSE: MSFT", "(AAPL.O)"."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.company import Company
from newscrawl.mentions.forms import is_spaced

_SYMBOL = r"[A-Z0-9]{1,6}(?:\.[A-Z]{1,2})?"
# Reuters (SIEGn.DE), Bloomberg (SIE GY Equity) and newswire (NYSE: MSFT) notation, cashtags.
_NOTATIONS = re.compile(
    r"[(<\[](?P<ric>[A-Z0-9]{2,6})[a-z]?\.(?P<suffix>[A-Z]{1,2})[)>\]]"
    r"|[(\[](?P<bloom>[A-Z0-9]{2,6})[ :](?P<place>[A-Z]{2})(?: Equity)?[)\]]"
    rf"|[(\[](?P<exchange>[A-Z][A-Za-z]{{1,8}})(?: [A-Z][a-z]+)?\s?: ?(?P<symbol>{_SYMBOL})\b"
    r"|(?<![\w$])\$(?P<cash>[A-Z]{2,5})\b"
)
_NOTATION_STARTS = "(<[$"
# The same outside brackets needs an exchange's own name.
_LISTED = re.compile(
    r"\b(?P<exchange>NYSE|Nasdaq|NASDAQ|LSE|LON|XETRA|Xetra|ETR|FRA|EPA|BIT|BME|SIX|TSE|TYO|HKEX"
    rf"|HKG|SEHK|SSE|SZSE|WSE|GPW|MOEX|ATHEX)\s?: ?(?P<symbol>{_SYMBOL})\b"
)
# Small letters that end an exchange's name: "Nasdaq", "Xetra".
_LAST_SMALL = "qa"
# How far before a colon an exchange may begin, and behind it its symbol end.
_BEFORE_COLON, _BEHIND_COLON = len("NASDAQ "), len(": ABCDEF.AB ")
# Where an exchange code places a symbol that two companies share.
_MARKETS = {
    "US": "NYSE NASDAQ Nasdaq US N O OQ K A",
    "GB": "LSE LON LN L",
    "DE": "XETRA Xetra ETR FRA GY GR DE F DF DU HA HM",
    "FR": "EPA Euronext Paris FP PA",
    "IT": "BIT MIL Milan Milano IM MI",
    "ES": "BME MAD MC SM",
    "CH": "SIX SW S VX",
    "NL": "AMS NA AS",
    "JP": "TSE TYO JP JT T",
    "HK": "HKEX HKG SEHK HK",
    "CN": "SSE SZSE SS SZ CH",
    "PL": "WSE GPW PW WA",
    "RU": "MOEX MCX RM MM",
    "GR": "ATHEX ATH GA AT",
    "AT": "VIE",
    "AU": "ASX AX",
    "BE": "EBR",
    "BR": "BVMF BZ",
    "CA": "TSX",
    "DK": "CPH",
    "FI": "HEL HE",
    "ID": "IDX JK",
    "IL": "TASE TA",
    "IN": "NSE BSE NS BO",
    "KR": "KRX KOSDAQ KS KQ",
    "MY": "KLSE KL",
    "NO": "OSE OL",
    "SE": "STO ST",
    "SG": "SGX",
    "TH": "SET BK",
    "TR": "BIST",
    "TW": "TWSE TWO TW TT",
    "ZA": "JSE",
}
COUNTRY = {code: country for country, codes in _MARKETS.items() for code in codes.split()}

# Brackets right behind a name, a class of shares between: "Ford (F)", "Henkel Vz. (WKN: 604843)".
_BRACKETS = re.compile(
    r"[»”」]?(?: Vz\.?| [A-C])? ?[(<\[【〔]([^()<>\[\]【】〔〕\n]{1,40})[)>\]】〕]"
)
_CODE = re.compile(r"[A-Z0-9]{1,12}(?=\.[A-Z]{1,3}\b)|[A-Z0-9]{1,12}\b")
_RIC = re.compile(r"([A-Z]{3,8})[a-z]?\.([A-Z]{1,2})")
# An ISIN, or a number that is called so.
_NUMBER = re.compile(r"\b(?:(?:ISIN|WKN|Valor)\b:? ?[A-Z0-9]{6,12}|[A-Z]{2}[A-Z0-9]{9}\d)\b")
# The numbers of securities in Korea and China: "농심[004370]", "比亚迪(002594)".
_SIX_DIGITS = re.compile(r"\d{6}")
# Years in brackets are no securities of Japan.
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class TickerHit:
    """A symbol in ticker notation at normalized characters `start` to `end`."""

    company: int
    start: int
    end: int


class Tickers:
    """Finds the symbols of a registry."""

    def __init__(self, tickers: Iterable[tuple[int, str]]) -> None:
        self._listings: dict[str, list[tuple[str | None, int]]] = {}
        for index, ticker in tickers:
            exchange, _, symbol = ticker.rpartition(":")
            country = COUNTRY.get(exchange.strip())
            self._listings.setdefault(symbol.strip(), []).append((country, index))

    def find(self, text: str) -> list[TickerHit]:
        """Return every known symbol in ticker notation."""
        if not self._listings:
            return []
        hits = {}
        for match in _notations(text):
            hit = self._hit(match)
            if hit:
                hits[hit.start] = hit
        for match in _listings(text):
            hit = self._hit(match)
            if hit:
                hits.setdefault(hit.start, hit)
        return list(hits.values())

    def _hit(self, match: re.Match[str]) -> TickerHit | None:
        groups = match.groupdict()
        if groups.get("cash"):
            return self._exchange_hit(match, "cash", "US")
        if groups.get("bloom"):
            is_country = groups["place"] in COUNTRY
            return self._exchange_hit(match, "bloom", groups["place"]) if is_country else None
        if groups.get("ric"):
            is_country = groups["suffix"] in COUNTRY
            return self._exchange_hit(match, "ric", groups["suffix"]) if is_country else None
        return self._exchange_hit(match, "symbol", groups["exchange"])

    def _exchange_hit(self, match: re.Match[str], key: str, place: str | None) -> TickerHit | None:
        listings = self._listings.get(match[key].partition(".")[0], [])
        country = COUNTRY.get(place or "")
        if len(listings) > 1:
            listings = [listing for listing in listings if listing[0] == country]
        if len(listings) != 1:
            return None
        return TickerHit(listings[0][1], match.start(key), match.end(key))


def has_code_behind(text: str, candidate: Candidate, company: Company) -> bool:
    """Return whether a symbol of the company, or the number of a security, is in brackets behind
    the name: "Apple (AAPL +1.2%)", "Puma (ISIN: DE0006969603)"."""
    brackets = _BRACKETS.match(text, candidate.end)
    if brackets is None:
        return False
    if _NUMBER.search(brackets[1]):
        return True
    form = candidate.form.text
    codes = {code for code in _CODE.findall(brackets[1]) if not _YEAR.fullmatch(code)}
    if not is_spaced(form[0]) and any(map(_SIX_DIGITS.fullmatch, codes)):
        return True
    # "小米(01810)": Hong Kong fills its numbers up.
    codes |= {code.lstrip("0") for code in codes}
    symbols = {ticker.rpartition(":")[2].partition(".")[0] for ticker in company.tickers}
    # "Reliance (RELI.NS)": what Reuters makes of a name.
    reuters = _RIC.fullmatch(brackets[1])
    return (
        not codes.isdisjoint(symbols)
        or any(_abbreviates(code, name) for code in codes for name in (form, company.name))
        or (
            reuters is not None
            and reuters[2] in COUNTRY
            and form.upper().replace(" ", "").startswith(reuters[1])
        )
    )


def _abbreviates(symbol: str, name: str) -> bool:
    """Return whether a symbol is made of a name's letters in their order: "MGNT" of Magnit, "AMER3"
    of Americanas."""
    letters = symbol.rstrip("0123456789")
    if not (letters.isalpha() and 4 <= len(letters) <= 5 and letters[0] == name[0].upper()):
        return False
    remainder = iter(name.upper())
    return all(letter in remainder for letter in letters)


def _notations(text: str) -> Iterator[re.Match[str]]:
    """Yield what is written as a ticker; searched where one may begin."""
    starts = [place for mark in _NOTATION_STARTS for place in _places(text, mark)]
    end = 0
    for start in sorted(place for place in starts if _is_capital(text[place + 1 : place + 2])):
        if start >= end and (match := _NOTATIONS.match(text, start)):
            yield match
            end = match.end()


def _listings(text: str) -> Iterator[re.Match[str]]:
    """Yield symbols after the name of an exchange; searched around each colon."""
    end = 0
    for colon in _places(text, ":"):
        if colon < end or not _may_end_exchange(text[colon - 1 : colon]):
            continue
        match = _LISTED.search(text, max(end, colon - _BEFORE_COLON), colon + _BEHIND_COLON)
        # The symbol behind another colon may reach farther.
        if match and text.find(":", match.start()) == colon:
            yield match
            end = match.end()


def _places(text: str, mark: str) -> Iterator[int]:
    """Yield the places of a character; faster than a search for several at once."""
    place = text.find(mark)
    while place >= 0:
        yield place
        place = text.find(mark, place + 1)


def _is_capital(letter: str) -> bool:
    return letter.isupper() or letter.isdigit()


def _may_end_exchange(letter: str) -> bool:
    return letter.isupper() or letter in _LAST_SMALL or letter.isspace()
