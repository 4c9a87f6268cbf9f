"""Texts that lie in a page as data for scripts."""

import json

import pytest

from newscrawl import extract

URL = "https://saltmere.example/local/tram-to-the-airport-2026"
TITLE = "Council approves new tram line to the airport"
TEXT = (
    "The council of Saltmere approved a tram line to the airport on Tuesday, after nine hours.",
    "Siemens will build twelve trams, and the first should run in the spring of 2028.",
    "“We have waited for this for twenty years,” said the mayor.",
    "Opponents had collected 14,000 signatures, since two streets will be closed for three years.",
)
HTML = "".join(f"<p>{paragraph}</p>" for paragraph in TEXT)
OTHER = "The ferry to the islands will be late on Sunday, its operator says in a letter."
TEASERS = [
    {"title": "Ferry to the islands is late", "url": "/ferry", "body": f"<p>{OTHER}</p>" * 9}
] * 3
ARTICLE = {"title": TITLE, "slug": "tram", "body": HTML}
PIECES = [{"type": "text", "text": TEXT[0][:19]}, {"type": "text", "text": TEXT[0][19:]}]
FLAT = [{"article": 1}, {"title": 2, "texts": 3}, TITLE, ["Reactive", 4], [5, 6, 7, 8], *TEXT]
FLIGHT = (
    '0:["$","body",null,{"children":["$L1",["$","footer",null,{"children":"© 2026"}]]}]\n'
    f'1:["$","$L2",null,{{"post":{{"title":"{TITLE}","html":"$3"}}}}]\n2:I[7,["a.js"],"Post"]\n'
    f"3:T{len(HTML.encode()):x},{HTML}"
)
ELEMENTS = json.dumps(["$", "article", None, {"children": [
    ["$", "p", None, {"children": [text[:9], ["$", "a", None, {"children": text[9:]}]]}]
    for text in TEXT
]}])  # fmt: skip


def script(text: str, kind: str = "") -> str:
    return f'<script type="{kind}">{text}</script>'


def data(value: object) -> str:
    return script(json.dumps(value).replace("</", "<\\/"), "application/json")


def pushed(payload: str) -> str:
    half = len(payload) // 2
    parts = (payload[:half], payload[half:])
    return "".join(script(f"self.__next_f.push({json.dumps([1, part])})") for part in parts)


def page(inner: str) -> bytes:
    return (
        f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>{TITLE}</title></head><body>"
        f"<div>Loading…</div>{inner}<footer>© 2026 Saltmere Post.</footer></body></html>"
    ).encode()


FORMS = {
    "HTML in JSON": data({"props": {"pageProps": {"article": ARTICLE, "more": TEASERS}}}),
    "paragraphs": data({"story": {"content": [{"type": "p", "text": text} for text in TEXT]}}),
    "parts of paragraphs": data({"doc": {"content": [
        {"type": "paragraph", "content": PIECES}, *({"text": text} for text in TEXT[1:])
    ]}}),
    "beside a list of articles": data({"items": [*TEASERS, ARTICLE]}),
    "JSON in JSON": data({"state": json.dumps({"article": {"paragraphs": TEXT}})}),
    "places of values": data(FLAT),
    "references": script("window.__APOLLO_STATE__=" + json.dumps({
        "ROOT": {"post": {"title": TITLE, "paragraphs": [{"__ref": f"P:{n}"} for n in range(4)]}},
        **{f"P:{n}": {"text": text} for n, text in enumerate(TEXT)},
    })),
    "an object of JavaScript": script(
        f"window.S = {{'story': {{headline: '{TITLE}', text: `{chr(10).join(TEXT)}`,"
        " date: new Date(2026, 10, 1), none: undefined,},};"
    ),
    "a string of JSON": script(f"window.D = JSON.parse({json.dumps(json.dumps(ARTICLE))});"),
    "arguments of a function": script(
        "window.__NUXT__=(function(a,b){return {data:[{lead:a,content:b}],error:null}}"
        f"({json.dumps(TEXT[0])},{json.dumps(HTML.removeprefix(f'<p>{TEXT[0]}</p>'))}));"
    ),
    "an argument of a call": script(f"kit.start(app, node, {{data: [{json.dumps(ARTICLE)}]}});"),
    "a text of flight data": pushed(FLIGHT),
    "elements of flight data": pushed(f"5:{ELEMENTS}\n"),
    "a template": f"<template><article><h1>{TITLE}</h1>{HTML}</article></template>",
    "a shadow tree": f"<x-story><template shadowrootmode='open'>{HTML}</template></x-story>",
    "a script of HTML": script(HTML, "text/x-handlebars-template"),
    "an attribute": f"<div data-page='{json.dumps({'props': ARTICLE})}'></div>",
    "a string of HTML": script(f"const text = {json.dumps(HTML)}; show(text);"),
    "signs of Angular": script(json.dumps(ARTICLE).replace('"', "&q;"), "application/json"),
    "srcdoc": f'<iframe srcdoc="{HTML.replace("<", "&lt;")}"></iframe>',
    "a late frame": f'{"<b></b>" * 400}<iframe srcdoc="{HTML.replace("<", "&lt;")}"></iframe>',
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_text_that_scripts_would_show_is_read(form):
    article = extract(page(FORMS[form]), URL)
    assert " ".join(article.text.split()) == " ".join(TEXT)
    assert article.title == TITLE


def test_text_that_the_page_shows_is_kept():
    shown = f"<article><h1>{TITLE}</h1><p>{TEXT[0]}</p></article>"
    assert extract(page(shown + data({"body": f"<p>{OTHER}</p>" * 9})), URL).text == TEXT[0]


@pytest.mark.parametrize(
    "value",
    [
        {"items": TEASERS},
        {"messages": {"text": "We use cookies for this site. " * 20}},
        {"template": {"text": "<p>{{ article.text }}</p>" * 20}},
        {"article": {"description": f"{OTHER} " * 5}},
    ],
)
def test_other_values_are_no_text(value):
    assert "ferry" not in (text := extract(page(data(value)), URL).text)
    assert "cookies" not in text
    assert "{{" not in text


@pytest.mark.parametrize(
    "hostile",
    [
        script("x={" * 50_000),
        script("[" * 200_000, "application/json"),
        script('x={"a":' * 20_000 + "1"),
        script("x={a:'" + "/*" * 100_000),
        script("x=(function(a){return {b:" * 9 + "[" * 3_000 + "a" + "]" * 3_000 + "}}('y')"),
        data([{"a": 0}, [0], [0]]),
        data({"a:1": {"__ref": "a:1"}}),
        pushed('1:["$","p",null,{"children":["$1","$1"]}]\n'),
        pushed('1:["$","p",null,{"children":"\\ud800"}]\n2:Tffffffffff,x'),
        pushed("1:" + '["$","p",null,{"children":' * 300 + '"x"' + "}]" * 300),
    ],
)
def test_hostile_values_give_no_text(hostile):
    assert extract(page(hostile), URL).text == extract(page(""), URL).text
