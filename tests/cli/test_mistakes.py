"""What a command can't do is said in one line with advice, and so is that there is nothing."""

import shlex
from pathlib import Path

import pytest

from tests.conftest import Newscrawl

ONLY = "gives other machines access: make a token"
BUNDLED = Path(__file__).parents[1] / "corpus"
WITHOUT = f"evaluate --corpus {BUNDLED}"
TARGET = "alerts recipients add desk"
MISTAKES = [
    ("mentions -c Simens", "unknown company 'Simens': did you mean Siemens"),
    ("mentions -c Qwertz", "unknown company 'Qwertz': newscrawl companies list shows them all"),
    ("mentions -c Siemens --source fz", "unknown source 'fz': did you mean faz"),
    ("mentions -c Siemens --since soon", "--since 'soon' is not a day: write it as 2026-11-01"),
    ("mentions -c Siemens --until 2026-13-01", "--until '2026-13-01' is not a day"),
    ("mentions --since 2026-11-21 --until 2026-11-17", "lies after until 2026-11-17: swap them"),
    ("mentions -c Siemens --by decade", "'decade' is not one of"),
    ("mentions -c Siemens --by day --limit 3", "--limit needs --by company"),
    ("mentions --since 0001-01-01", "since 0001-01-01: no news of that time is known"),
    ("mentions --until 9999-12-31", "until 9999-12-31: no news of that time is known"),
    ("mentions --source bbc-news", "unknown source 'bbc-news': this database holds faz, ft"),
    ("mentions --by hour --since 1700-01-01", "rows: ask for 3,660 days at most"),
    ("mentions --zone ''", "--zone '': give a value, or leave the option out"),
    ("mentions --zone Europe/Berln", "unknown time zone 'Europe/Berln': did you mean"),
    ("mentions --country xx", "unknown country 'xx'"),
    ("mentions -c ''", "unknown company ''"),
    ("db delete --before 2026-01-01 --dry-run -f json", "--format json needs --forbidden"),
    ("mentions --companies nowhere.toml", "nowhere.toml: no such file"),
    ("mentions --companies broken.toml", "newscrawl: broken.toml"),
    ("mentions --database mysql://me:hush@h/d", "no support for the database 'mysql'"),
    ("mentions --foo", "--help)"),
    ("foo", "--help)"),
    ("sources show", "--help)"),
    ("sources show guardain", "did you mean guardian"),
    ("companies check broken.toml", "newscrawl: broken.toml"),
    ("share Siemens", "two"),
    ("share Siemens Zeis", "unknown company 'Zeis': did you mean Zeiss"),
    ("together", "Missing argument"),
    ("articles --sentences", "add --company NAME"),
    ("search -Zeiss", "-Zeiss is read as an option: quote all words together, as in 'bank -Zeiss'"),
    ("search plant -Zeiss", "-Zeiss is read as an option: quote all words together"),
    ("proof --beside Zeiss", "beside needs a company"),
    ("proof --least-sure", "least-sure needs a company"),
    ("proof -c Siemens --measure stories --least-sure", "and articles"),
    ("proof --measure doubtful", "doubtful words are those of a company"),
    ("db delete", ""),
    ("db delete https://ft.example/a --before 7d", ""),
    ("db delete --before soon", "is not a day"),
    ("extract nowhere.html", "can't read 'nowhere.html': No such file"),
    ("extract .", "can't read '.': Is a directory"),
    ("extract ''", "can't read '': an empty name. Give a file"),
    ("extract ftp://a.example/b", "ftp:// is not supported. Give a file, a URL with http://"),
    ("extract http://me:hush@x.org/ --allow-private", "has credentials"),
    ("extract broken.toml --method fee", "unknown method 'fee': did you mean fe"),
    ("serve --host 0.0.0.0", ONLY),
    ("serve --host ::", ONLY),
    ("serve --host news.example", ONLY),
    ("serve --token short", "the token must have 16"),
    ("serve --host 0.0.0.0 --token short", "the token must have 16"),
    ("serve --database mysql://x/y", "no support for the database"),
    ("serve --host 'no such host' --token correct-horse-battery", "can't listen on no such host"),
    ("evaluate", "give --corpus DIR or set NEWSCRAWL_CORPUS"),
    (f"{WITHOUT} --sealed --unseen", "--sealed is not for --unseen"),
    (f"{WITHOUT} --unseen", "corpus: changed since thresholds.json (html5) was learned"),
    (f"{WITHOUT} --method fee", "unknown method 'fee': did you mean fe?"),
    (f"{WITHOUT} --measure f2", "unknown measure 'f2'"),
    (f"{WITHOUT} --set daniel", "no set daniel; there are mini"),
    ("status --watch --format json", "--watch shows a table"),
    ("queries add siemens rail", "is named 'Siemens'"),
    ("queries edit rail bus", "no saved query 'rail': newscrawl queries list shows them"),
    ("queries show rail", "no saved query 'rail'"),
    ("queries remove rail", "no saved query 'rail'"),
    ("queries recount rail", "no saved query 'rail'"),
    ("digest --report html", "--report needs --send: add it"),
    ("digest --send --day 2026-11-20", "nowhere to send it"),
    ("digest --again", "--again needs --send: add it"),
    ("digest --day soon", "--day 'soon' is not a day"),
    ("alerts run", "nothing is watched"),
    ("alerts watch Simens", "did you mean Siemens"),
    ("alerts watch Siemens --with siemens", "are one company"),
    (f"{TARGET} nobody", "not an e-mail address"),
    (f"{TARGET} a@b.example,c@d.example", "one address each"),
    (f"{TARGET} http://example.org/hook", "begins with https://"),
    ("alerts recipients add log a@b.example", "can't be a name"),
    (f"{TARGET} a@b.example -c Simens", "did you mean Siemens"),
    ("alerts recipients edit desk --gets digests", "unknown recipient 'desk'"),
    ("alerts recipients edit desk", "nothing to change"),
    ("alerts recipients edit desk --all -c Zeiss", "exclude each other"),
    ("alerts recipients test nobody", "unknown recipient 'nobody'"),
    ("corrections export --output missing/cases.jsonl", "missing/cases.jsonl"),
    ("reextract", "no archive: name one by --archive DIR or NEWSCRAWL_ARCHIVE"),
    ("reextract --archive nowhere", "no folder nowhere"),
    ("rematch --companies broken.toml", "broken.toml"),
    ("ingest empty", "no WARC file"),
    ("ingest empty/nowhere.warc.gz", "nowhere.warc.gz: give existing files or folders"),
]
NOTHING = [
    ("articles --language fr", "Articles: none."),
    ("digest --day 2020-01-01", "No source was crawled"),
    ("alerts list", "No alerts."),
    ("alerts watched", "Nothing is watched"),
    ("alerts unwatch Siemens", "was not watched"),
    ("alerts recipients list", "No recipients"),
    ("alerts recipients sent", "Nothing was sent yet."),
]


@pytest.fixture
def folder(world: Newscrawl, tmp_path: Path) -> Newscrawl:
    """The world, in a folder with a broken file and an empty folder."""
    (tmp_path / "broken.toml").write_text("[[company]]\nname = 7\n")
    (tmp_path / "empty").mkdir()
    return world


@pytest.mark.parametrize(("command", "advice"), MISTAKES)
def test_mistake_is_one_line_with_advice(folder, command, advice):
    line = folder(*shlex.split(command)).refused()
    assert line.startswith("newscrawl: ")
    assert advice in line
    assert "hush" not in line


@pytest.mark.parametrize(("command", "says"), NOTHING)
def test_nothing_is_exit_code_1(folder, command, says):
    assert says in folder(*shlex.split(command)).refused(1)
