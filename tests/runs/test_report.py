"""The page of a run, in a real browser."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec.runs import (
    AgentResponse,
    Event,
    ExampleAborted,
    ExampleFailed,
    ExamplePending,
    GroupData,
    RunData,
    SuiteData,
    SuiteStarted,
    SuiteStopped,
    report_html,
)
from tests import browser
from tests.runs.events import START, answered, at, built, passed, said, started, topic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVIL = '</script><img src=x onerror="window.hit=1"><script>window.hit=1</script>'


def many(count: int) -> RunData:
    """Return a run of many examples, of all kinds."""
    events: list[Event] = [
        SuiteStarted(seed=7, git_commit="0123456789abcdef", time=START)
    ]
    for number in range(count):
        name = f"tests/test_shop.py::test_{number}"
        scenario = {"name": "buy", "goal": "buy tea"} if number % 5 == 0 else None
        events += [
            started(name, description=f"sells tea {number}", scenario=scenario),
            topic(0, "greeting", name),
            said(1, f"A tea, please. I am number {number}.", name),
            AgentResponse(
                example_id=name,
                turn_number=1,
                text="Here you are.",
                tool_calls=[
                    {
                        "name": "sell",
                        "arguments": {"article": f"tea-{number}"},
                        "result": "a long result " * 50,
                        "timestamp": at(2.5),
                    }
                ],
                metadata={
                    "tracing": {
                        "model": "m-1",
                        "latency_ms": 640,
                        "tokens": {"input": 12, "output": 5},
                    }
                },
                time=at(3),
            ),
            said(2, "Thanks.", name),
            answered(2, "You are welcome.", name),
        ]
        if number % 4 == 1:
            lines = [f"shop.py:{line}: in sell" for line in range(1, 15)]
            events.append(
                ExampleFailed(
                    example_id=name,
                    message="no tea",
                    backtrace=lines,
                    duration=0.25,
                    time=at(4),
                )
            )
        elif number % 4 == 2:
            events.append(ExampleAborted(example_id=name, message="killed", time=at(4)))
        else:
            events.append(passed(name))
    return built(*events, SuiteStopped(time=at(9)))


def grouped(count: int) -> RunData:
    """Return a run of many examples in groups, which says where it comes from."""
    run = many(count)
    file, klass = "tests/test_shop.py", "tests/test_shop.py::TestTea"
    other = "tests/test_returns.py"
    groups = {
        file: GroupData(id=file, description=file, location=file),
        klass: GroupData(id=klass, description="TestTea", parent_id=file),
        other: GroupData(id=other, description=other),
    }
    ids = [file, klass, other]
    examples = {
        name: one.replace(metadata={"group": ids[number % 3]})
        for number, (name, one) in enumerate(run.examples.items())
    }
    return run.replace(
        examples=examples,
        groups=groups,
        tags=("nightly", "gpu", "model=m-1"),
        parent_run_id="run-0",
        environment={
            "python": "3.12.1",
            "platform": "Linux-6.1-x86_64",
            "packages": {"openai": "1.0", "langgraph": None},
        },
        suite=SuiteData(example_count=count + 7),
        finished_at=None,
    )


@pytest.fixture
def page(
    chromium: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Any]:
    """The page of a run of forty examples; whatever it complains of fails the test."""
    run = getattr(request, "param", None) or many(40)
    path = tmp_path / "report.html"
    path.write_text(report_html(run, title="Shop"))
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.asked = []
    complaints: list[str] = []

    def asked(request: Any) -> None:
        page.asked.append(request.url)

    def complained(what: Any) -> None:
        complaints.append(str(what))

    page.on("request", asked)
    page.on("pageerror", complained)
    page.on("console", complained)
    page.goto(path.as_uri())
    yield page
    context.close()
    assert complaints == []


def hostile() -> RunData:
    """Return a run in which everything is an attack."""
    response = AgentResponse(
        example_id="e1",
        turn_number=1,
        text=EVIL,
        tool_calls=[{"name": EVIL, "arguments": {EVIL: EVIL}, "result": EVIL}],
        metadata={"tracing": {"model": EVIL}, EVIL: EVIL},
        time=at(3),
    )
    failure = ExampleFailed(
        example_id="e1",
        message=EVIL,
        backtrace=[EVIL],
        exception_class=EVIL,
        time=at(4),
    )
    begin = started(description=EVIL, location=f"{EVIL}:1", scenario={"goal": EVIL})
    return built(begin, topic(0, EVIL), said(1, EVIL), response, failure)


def test_page_says_how_the_run_went(page: Any) -> None:
    """Counts, figures, title."""
    assert page.title() == "Shop"
    assert page.text_content(".tile.failed").startswith("10")
    assert page.text_content(".tile.aborted").startswith("10")
    assert page.text_content(".tile.passed").startswith("20")
    facts = page.text_content("#facts")
    for fact in ("40 examples", "80 turns", "40 tool calls", "680 tokens", "seed 7"):
        assert fact in facts
    assert page.text_content("#count") == "40 examples"


def test_first_failure_is_open(page: Any) -> None:
    """With its message, and where it came from behind a click."""
    assert page.text_content("article h2") == "sells tea 1"
    assert "AssertionError: no tea" in page.text_content(".note")
    page.click("text=where it came from")
    assert "shop.py:14: in sell" in page.text_content(".note pre")


def test_conversation_is_shown_as_it_was_said(page: Any) -> None:
    """Both sides in order, with topic, model, latency and tokens."""
    said = page.locator(".said p").all_text_contents()

    assert said == [
        "A tea, please. I am number 1.",
        "Here you are.",
        "Thanks.",
        "You are welcome.",
    ]
    assert page.text_content(".topic") == "greeting"
    who = page.locator(".said.agent .who").first.text_content()
    for fact in ("m-1", "640 ms", "12 + 5 tokens"):
        assert fact in who


def test_tool_calls_unfold(page: Any) -> None:
    """Arguments in short, results when somebody looks."""
    assert 'tea-1"' in page.text_content("details.call summary")
    assert page.locator("details.call pre").count() == 0
    page.click("details.call summary")
    page.wait_for_selector("details.call pre")
    assert "a long result" in page.locator("details.call pre").nth(1).text_content()


def test_timeline_has_a_bar_for_each_step(page: Any) -> None:
    """Two messages, a call, two answers."""
    labels = page.locator(".time .label").all_text_contents()

    assert labels == ["turn 1", "sell", "answer", "turn 2", "answer"]


def test_search_finds_messages_and_arguments(page: Any) -> None:
    """All words must be there, in any order."""
    page.fill("#words", "number please 17")
    assert page.text_content("#count") == "1 of 40 examples"
    page.fill("#words", "tea-23")
    assert page.text_content("#count") == "1 of 40 examples"
    page.fill("#words", "coffee")
    assert page.text_content("#count") == "0 of 40 examples"


def test_statuses_filter(page: Any) -> None:
    """One or several; again for none."""
    page.click(".tile.failed")
    assert page.text_content("#count") == "10 of 40 examples"
    page.click(".tile.aborted")
    assert page.text_content("#count") == "20 of 40 examples"
    assert page.get_attribute(".tile.failed", "aria-pressed") == "true"
    page.click(".tile.failed")
    page.click(".tile.aborted")
    assert page.text_content("#count") == "40 examples"


def test_keys_lead_around(page: Any) -> None:
    """Next, previous, failures, search, help."""
    page.keyboard.press("j")
    page.wait_for_selector("h2:text-is('sells tea 2')")
    page.keyboard.press("k")
    page.keyboard.press("k")
    page.wait_for_selector("h2:text-is('sells tea 0')")
    page.keyboard.press("f")
    assert page.text_content("#count") == "10 of 40 examples"
    page.keyboard.press("/")
    page.keyboard.type("tea 25")
    assert page.text_content("#count") == "1 of 40 examples"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    assert not page.is_visible("#help")


def test_an_example_has_an_address(page: Any) -> None:
    """A link leads to it."""
    page.click(".list a >> nth=7")
    assert page.url.endswith("#tests%2Ftest_shop.py%3A%3Atest_7")
    page.reload()
    assert page.text_content("article h2") == "sells tea 7"


def test_scenario_is_shown(page: Any) -> None:
    """Where there is one."""
    page.click(".list a >> nth=5")
    page.wait_for_selector("h2:text-is('sells tea 5')")
    assert "buy tea" in page.text_content("dl.grid")


def test_light_and_dark(page: Any) -> None:
    """As the system says, or as the reader does."""
    ground = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="light")
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(ground)
    page.keyboard.press("t")

    assert light != dark
    assert page.evaluate(ground) == light


def test_phone_shows_one_thing_at_a_time(page: Any) -> None:
    """The list, then an example, then the list; nothing is wider than the screen."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(page.url.partition("#")[0])
    assert page.is_visible("nav")
    assert not page.is_visible("article")
    page.click(".list a >> nth=3")
    page.wait_for_selector("article h2", state="visible")
    assert not page.is_visible("nav")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click(".back")
    page.wait_for_selector("nav", state="visible")


@pytest.mark.parametrize("page", [hostile()], indirect=True, ids=["hostile"])
def test_attacks_are_text(page: Any) -> None:
    """Wherever they stand: nothing runs, nothing is loaded."""
    page.keyboard.press("o")
    page.click(".more summary")
    page.wait_for_selector("details.call pre")

    assert page.evaluate("window.hit") is None
    assert page.locator("img").count() == 0
    assert page.locator(".said p").first.text_content() == EVIL
    assert page.text_content("h2") == EVIL
    assert len(page.asked) == 1


@pytest.mark.parametrize(
    "page", [built(started(), said(1, "a\u202eb\x1bc"))], indirect=True, ids=["bidi"]
)
def test_controls_are_shown_as_what_they_are(page: Any) -> None:
    """Nothing turns the text around, and nothing in it is hidden."""
    assert page.text_content(".said p") == "aU+202Eb␛c"


def rich() -> RunData:
    """Return a run of all that is long, nested, folded or of another script."""
    calls = [
        {
            "name": "search" if number % 2 else "price",
            "arguments": {"data": b"\x00\xff", "pair": (1, 2), "at": START},
            "result": '{"items": [{"id": 7}]}',
            "error": "too slow" if number == 3 else None,
        }
        for number in range(30)
    ]
    response = AgentResponse(
        example_id="\ud800",
        turn_number=1,
        text="בבקשה",
        tool_calls=calls,
        metadata={"score": float("nan"), "tries": {1: 2}},
        time=at(3),
    )
    long = said(1, "I can not decide. " * 500, "\ud800")
    return built(
        started("\ud800", location="a_long_name" * 30, description="a_long_name" * 30),
        long,
        response,
        *(said(number, f"m {number}", "\ud800") for number in range(2, 202)),
    )


@pytest.mark.parametrize("page", [rich()], indirect=True, ids=["rich"])
def test_values_are_shown_as_people_read_them(page: Any) -> None:
    """Bytes, times, tuples, other keys; JSON in a text; no marks of the wire."""
    page.keyboard.press("o")
    page.wait_for_selector("details.call pre")
    arguments, result = page.locator("details.call pre").all_text_contents()[:2]

    assert json.loads(arguments) == {
        "data": "<2 bytes: 00ff>",
        "pair": [1, 2],
        "at": START.isoformat(),
    }
    assert result == '{\n  "items": [\n    {\n      "id": 7\n    }\n  ]\n}'
    page.click(".said .more summary")
    assert json.loads(page.text_content(".said .more pre")) == {
        "score": "nan",
        "tries": {"1": 2},
    }


@pytest.mark.parametrize("page", [rich()], indirect=True, ids=["rich"])
def test_what_is_long_is_folded(page: Any) -> None:
    """Many calls, a long message, a long timeline; nothing breaks the page's width."""
    assert page.text_content(".calls > summary") == (
        "30 tool callsprice: 15, search: 151 error"
    )
    assert len(page.locator(".said p").first.text_content()) == 8000
    page.click("text=Show all 9,000 characters")
    assert len(page.locator(".said p").first.text_content()) == 9000
    assert page.locator(".turn").count() == 201
    assert not page.is_visible(".time")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


MARKDOWN = "## Plan\n\n| what | who |\n|---|---|\n| **tea** | ~~you~~ I |\n"


def answered_in_markdown() -> RunData:
    """Return a run in which an agent lays out what it says, and a test was skipped."""
    tokens = {"tracing": {"tokens": {"input": 123456, "output": 5432}}}
    return built(
        started(),
        said(1),
        AgentResponse(
            example_id="e1", turn_number=1, text=MARKDOWN, metadata=tokens, time=at(3)
        ),
        passed(),
        ExamplePending(example_id="e2", message="no network here", time=at(4)),
    )


@pytest.mark.parametrize("page", [answered_in_markdown()], indirect=True, ids=["md"])
def test_markdown_is_rendered(page: Any) -> None:
    """Headings, tables, what is struck out; one key shows the text as it is."""
    answer = page.locator(".said.agent .text")

    assert answer.locator("h4").text_content() == "Plan"
    assert answer.locator("td").all_text_contents() == ["tea", "you I"]
    assert answer.locator("del").text_content() == "you"
    page.keyboard.press("m")
    assert answer.text_content() == MARKDOWN


@pytest.mark.parametrize("page", [answered_in_markdown()], indirect=True, ids=["md"])
def test_large_numbers_have_separators(page: Any) -> None:
    """Where something is said as well as in the figures."""
    assert "123,456 + 5,432 tokens" in page.text_content(".said.agent .who")
    assert "123,456 + 5,432" in page.text_content(".figures")


@pytest.mark.parametrize("page", [answered_in_markdown()], indirect=True, ids=["md"])
def test_list_says_why_a_test_was_skipped(page: Any) -> None:
    """As it does for failures."""
    assert "no network here" in page.locator(".list .sub").nth(1).text_content()


@pytest.mark.parametrize("page", [answered_in_markdown()], indirect=True, ids=["md"])
def test_user_stands_on_the_right(page: Any) -> None:
    """As in the pages of conversations, and the agent on the left."""
    left = "node => node.getBoundingClientRect().left"
    user = page.locator(".said.user").evaluate(left)
    assert user > page.locator(".said.agent").evaluate(left)


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (999, "999 ms"),
        (59_000, "59.0 s"),
        (125_250, "2 min 5 s"),
        (3_600_000, "1 h 0 min"),
        (200_000_000, "2 days 7 h"),
    ],
)
def test_durations_are_shown_in_two_units(
    page: Any, milliseconds: int, shown: str
) -> None:
    """Those that fit."""
    assert page.evaluate(f"duration({milliseconds})") == shown


@pytest.mark.parametrize("page", [rich()], indirect=True, ids=["rich"])
def test_scripts_run_in_their_own_direction(page: Any) -> None:
    """From the right, if they do."""
    direction = "node => getComputedStyle(node).direction"

    assert page.locator(".said.agent p").first.evaluate(direction) == "rtl"
    assert page.locator(".said.user p").first.evaluate(direction) == "ltr"


def test_printed_page_is_whole_and_light(page: Any) -> None:
    """The example alone, unfolded, dark on light, whatever the screen was."""
    page.keyboard.press("t")
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 700, "height": 900})
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")

    assert not page.is_visible("nav")
    assert page.is_visible("article h2")
    assert page.is_visible("details.call pre >> nth=1")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"


@pytest.mark.parametrize("page", [rich()], indirect=True, ids=["rich"])
def test_printed_texts_are_whole(page: Any) -> None:
    """Paper has no buttons."""
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")

    assert len(page.locator(".said p").first.text_content()) == 9000
    assert page.locator("details.call pre").count() >= 60


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_their_ground(page: Any, scheme: str) -> None:
    """By the 4.5 that the guidelines for accessibility ask of small texts."""
    page.emulate_media(color_scheme=scheme)
    weak = page.evaluate(browser.CONTRAST)

    assert weak == []


def test_parts_have_names(page: Any) -> None:
    """For those who listen to the page."""
    for role, name in (
        ("searchbox", "Search"),
        ("button", "Keys"),
        ("button", "Light or dark"),
        ("navigation", "Examples"),
        ("article", "Example"),
        ("group", "Filter by status"),
    ):
        assert page.get_by_role(role, name=name, exact=True).count() == 1
    assert page.get_by_role("img", name="aborted").count() == 10


def test_arrows_lead_through_the_list_and_scroll_elsewhere(page: Any) -> None:
    """So that a long conversation can be read by keyboard."""
    page.keyboard.press("ArrowDown")
    assert page.text_content("h2") == "sells tea 1"
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("h2:text-is('sells tea 2')")


def test_nothing_is_loaded(page: Any) -> None:
    """But the page itself."""
    page.click(".list a >> nth=3")

    assert len(page.asked) == 1


@pytest.mark.parametrize(
    "page", [RunData(run_id="r"), many(1000)], indirect=True, ids=["none", "many"]
)
def test_runs_of_any_size_open(page: Any) -> None:
    """Without examples, and with a thousand."""
    count = page.locator(".list li").count()

    assert count in {0, 1000}
    assert page.text_content("#count") == f"{count:,} examples"
    page.fill("#words", "tea 77")
    assert count == 0 or page.text_content("#count").startswith("19 of")


def test_page_is_one_file() -> None:
    """No address in it but those of namespaces; the title can't break out."""
    html = report_html(many(2), title="<b>&")

    assert not re.search(r"(src|href)=[\"']?(https?:)?//", html)
    assert "<title>&lt;b&gt;&amp;</title>" in html
    assert report_html(many(2), title="x") == report_html(many(2), title="x")


# Groups, and where a run comes from


@pytest.mark.parametrize("page", [grouped(40)], indirect=True, ids=["grouped"])
def test_examples_stand_in_their_groups(page: Any) -> None:
    """Files and classes as headings, each with what became of its examples."""
    headings = page.locator(".group").all_inner_texts()

    path = "tests/test_shop.py \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} TestTea"
    assert [text.splitlines() for text in headings] == [
        ["tests/test_shop.py", "3 failed", "3 aborted", "of 14"],
        [path, "4 failed", "3 aborted", "of 13"],
        ["tests/test_returns.py", "3 failed", "4 aborted", "of 13"],
    ]
    assert page.locator(".list li:not(.group)").count() == 40


@pytest.mark.parametrize("page", [grouped(40)], indirect=True, ids=["grouped"])
def test_groups_without_a_hit_are_hidden(page: Any) -> None:
    """Their names are found, too; keys lead through the list as it is shown."""
    page.fill("#words", "test_returns.py")
    assert page.locator(".group:visible").count() == 1
    assert page.text_content("#count") == "13 of 40 examples"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("h2:text-is('sells tea 5')")


@pytest.mark.parametrize("page", [grouped(40)], indirect=True, ids=["grouped"])
def test_page_says_where_the_run_comes_from(page: Any) -> None:
    """The run it is a part of, how many were planned, tags; the environment unfolds."""
    facts = page.locator("#facts span").all_text_contents()

    assert "part of run-0" in facts
    assert "not finished, of 47 examples planned" in facts
    assert page.locator("#tags span").all_text_contents() == [
        "nightly",
        "gpu",
        "model=m-1",
    ]
    page.get_by_text("environment: python 3.12.1, Linux-6.1-x86_64").click()
    assert page.locator("#odd dt").all_text_contents() == [
        "python",
        "platform",
        "openai",
        "langgraph",
    ]
    assert page.locator("#odd dd").last.text_content() == "not installed"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", [grouped(40)], indirect=True, ids=["grouped"])
def test_groups_and_tags_stand_out_and_fit(page: Any, scheme: str) -> None:
    """On a phone, too."""
    page.emulate_media(color_scheme=scheme)
    page.click("#odd summary")
    assert page.evaluate(browser.CONTRAST) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(page.url.partition("#")[0])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_environment_is_text() -> None:
    """Whatever it holds."""
    html = report_html(RunData(run_id="r", environment={EVIL: EVIL}, tags=(EVIL,)))

    assert EVIL not in html
