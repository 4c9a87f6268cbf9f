"""What an answer to a request for robots.txt means, and how it is kept."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st
from protego import Protego

from newscrawl.items import RobotsPolicy
from newscrawl.sources import robots
from newscrawl.sources.robots import UnreachableRobotsError
from newscrawl.storage.deletion import Pruning
from newscrawl.storage.saved_state import keep_robots_policy, robots_policies, robots_policy

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
SITE = "https://a.example"


def policy(status: int = 200, rules: bytes = b"", age: timedelta = timedelta()) -> RobotsPolicy:
    return RobotsPolicy(origin=SITE, status=status, rules=rules, fetched_at=NOW - age)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://A.example/x?y", "https://a.example"),
        ("https://a.example:443/", "https://a.example"),
        ("http://a.example:443/", "http://a.example:443"),
        ("http://me:secret@a.example:8080/", "http://a.example:8080"),
        ("http://[::1]:81/x", "http://[::1]:81"),
    ],
)
def test_robots_txt_belongs_to_scheme_host_and_port(url, origin):
    assert robots.origin_of(url) == origin


@pytest.mark.parametrize("status", [200, 203, 204])
def test_rules_are_read_from_the_file(status):
    assert robots.policy_of(SITE, status, b"Allow: /", NOW) == policy(status, b"Allow: /")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_missing_file_has_no_rules(status):
    body = b"User-agent: *\nDisallow: /\n"
    assert robots.policy_of(SITE, status, body, NOW) == policy(status, b"")


@pytest.mark.parametrize("status", [202, 206, 300, 302, 304, 408, 425, 429, 500, 503, 599])
def test_other_status_is_an_unreachable_robots_txt(status):
    with pytest.raises(UnreachableRobotsError, match=f"HTTP {status}"):
        robots.policy_of(SITE, status, b"User-agent: *\nAllow: /\n", NOW)


@given(st.integers(0, 999), st.binary(max_size=200))
def test_every_response_gives_rules_or_an_unreachable_error(status, body):
    try:
        rules = robots.policy_of(SITE, status, body, NOW)
    except UnreachableRobotsError:
        return
    Protego.parse(robots.rules_for(rules, "newscrawl")).can_fetch(f"{SITE}/x", "newscrawl")


@pytest.mark.parametrize(
    ("status", "age", "stands_in"),
    [
        (200, timedelta(), True),
        (200, timedelta(hours=24), True),
        (200, timedelta(hours=24, seconds=1), False),
        (200, timedelta(hours=-25), False),  # a clock that was wrong
        (404, timedelta(), False),
    ],
)
def test_copy_is_used_for_a_day(status, age, stands_in):
    assert robots.is_usable_copy(policy(status, age=age), NOW) is stands_in


AGENTS = ["*", "newscrawl", "NewsCrawl", "news", "crawl", "newscrawl*", "*newscrawl", "other", ""]
LINES = st.one_of(
    st.sampled_from(AGENTS).map(lambda name: f"User-agent: {name}"),
    st.sampled_from(["Useragent newscrawl", "user agent: *", "# User-agent: x", "", "Sitemap: /s"]),
    st.sampled_from(["Disallow: /a", "Allow: /a/b", "Disallow: /", "Disallow:", "Allow: /*.html$"]),
)


@given(st.lists(LINES, max_size=12))
def test_removing_rules_of_other_robots_keeps_ours(lines):
    full_rules = Protego.parse("\n".join(lines))
    ours = Protego.parse(robots.rules_for(policy(rules="\n".join(lines).encode()), "newscrawl"))
    for path in ("/", "/a", "/a/b", "/a/b.html", "/c"):
        url = f"{SITE}{path}"
        assert ours.can_fetch(url, "newscrawl") == full_rules.can_fetch(url, "newscrawl"), lines


FOR_US = "User-agent: *\nAllow: /\n\nUser-agent: {}\nDisallow: /a\n"


@pytest.mark.parametrize(
    "name",
    [
        "newscrawl/1.0",
        "Newscrawl/1.0 (+https://newscrawl.example/)",
        "newscrawl (+https://newscrawl.example/)",
        "newscrawl*/2",
    ],
)
@pytest.mark.parametrize("agent", ["newscrawl", "newscrawl/0.1.0 (+https://me.example/)"])
def test_version_and_comment_behind_our_name_are_ours(name, agent):
    rules = robots.RobotsRules(policy(rules=FOR_US.format(name).encode()), agent)
    assert not rules.allows(f"{SITE}/a")
    assert rules.line_against(f"{SITE}/a") == "Disallow: /a"
    other = robots.RobotsRules(policy(rules=FOR_US.format("other/1.0").encode()), agent)
    assert other.allows(f"{SITE}/a")


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_file_is_decoded_by_its_charset(charset):
    text = FOR_US.format("newscrawl") + "Disallow: /käse\n"
    bodies = [text.encode(charset)]
    if charset == "utf-16-be":
        bodies.append(text.encode("utf-16-be").join([b"\xfe\xff", b""]))
    for body in bodies:
        rules = robots.RobotsRules(policy(rules=body), "newscrawl")
        assert not rules.allows(f"{SITE}/a")
        assert not rules.allows(f"{SITE}/k%C3%A4se")
        assert rules.allows(f"{SITE}/b")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le", "utf-16-be"])
def test_truncated_file_keeps_its_whole_lines(end, charset):
    text = FOR_US.format("newscrawl").replace("\n", end) + f"Disallow: /b{end}" * 50_000
    cut = robots.policy_of(SITE, 200, text.encode(charset), NOW)
    assert robots.MAX_RULES_BYTES - 50 < len(cut.rules) <= robots.MAX_RULES_BYTES
    rules = robots.RobotsRules(cut, "newscrawl")
    assert set(rules._lines) == {"Disallow: /a", "Disallow: /b"}


@pytest.mark.parametrize("character", "\v\f\x1c\x1d\x1e\x85\u2028\u2029")
def test_lines_end_at_cr_and_lf_alone(character):
    text = f"User-agent: *\rDisallow: /a{character}Allow: /\nDisallow: /b{character}\r\n"
    rules = robots.RobotsRules(policy(rules=text.encode()), "newscrawl")
    assert rules.allows(f"{SITE}/a")
    assert not rules.allows(f"{SITE}/a{character}Allow: /x")
    assert not rules.allows(f"{SITE}/b")


def test_file_of_many_robots_and_rules_is_read_in_limited_time():
    names = b"".join(b"User-agent: robot%d\n" % number for number in range(10_000))
    hostile = robots.policy_of(SITE, 200, names + b"Disallow: /x\n" * 20_000, NOW)
    began = time.process_time()
    rules = Protego.parse(robots.rules_for(hostile, "newscrawl"))
    # Some 0.2 seconds; without robots.rules_for it would be ten minutes and as many gigabytes.
    assert time.process_time() - began < 30
    assert rules.can_fetch(f"{SITE}/x", "newscrawl")


# --- In the database --------------------------------------------------------------------------


def test_last_policy_of_a_host_is_stored(database):
    assert robots_policy(database, SITE) is None
    first = policy(rules=b"User-agent: *\nDisallow: /\xff\0\n", age=timedelta(hours=2))
    keep_robots_policy(database, first)
    assert robots_policy(database, SITE) == first
    newer = policy(404)
    keep_robots_policy(database, newer)
    keep_robots_policy(database, first)  # by a crawl that began earlier
    assert robots_policies(database, [SITE, "https://b.example"]) == {SITE: newer}


def test_unused_policy_is_pruned(database):
    keep_robots_policy(database, policy(age=timedelta(days=61)))
    keep = timedelta(days=60)
    assert Pruning(database=database, keep=keep, now=NOW).run()["robots_policies"] == 1
    assert robots_policy(database, SITE) is None
