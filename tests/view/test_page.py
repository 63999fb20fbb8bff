"""The page of a document, in a real browser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import (
    BytesReader,
    Codec,
    Conversation,
    Message,
    Registry,
    Seal,
    SpooledArtifact,
    Thought,
    encode,
)
from graphcodec.adapters import from_openai_chat
from graphcodec.errors import InvalidValueError, SealError
from graphcodec.view import view_html
from tests import browser
from tests.view import talks
from tests.view.talks import EVIL, Shelf, Shelves, media, png, when
from tests.wire_corpus import corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def show(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens pages; whatever one complains of, or asks for, fails the test."""
    contexts: list[Any] = []
    complaints: list[str] = []
    asked: list[str] = []

    def complained(what: Any) -> None:
        complaints.append(str(what))

    def requested(request: Any) -> None:
        if not request.url.startswith("data:"):
            asked.append(request.url)

    def opened(html: str, *, width: int = 1280) -> Any:
        path = tmp_path / f"page-{len(contexts)}.html"
        path.write_text(html)
        context = chromium.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", complained)
        page.on("console", complained)
        page.on("request", requested)
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert len(asked) == len(contexts)


@pytest.fixture
def page(show: Callable[..., Any]) -> Any:
    """The page of a conversation in which there is one of each."""
    return show(view_html(encode(talks.rich()), title="Shop"))


def unfold(page: Any) -> None:
    """Open all folds, those within others, too."""
    page.evaluate(
        """() => {
          for (let round = 0; round < 4; round += 1) {
            for (const node of document.querySelectorAll("details")) {
              node.open = true;
              node.dispatchEvent(new Event("toggle"));
            }
          }
        }"""
    )


def test_head_says_what_it_is(page: Any) -> None:
    """Name, kind, numbers, size."""
    assert page.title() == "Shop"
    facts = page.text_content("#facts")
    for fact in ("Conversation", "talk-1", "9 items", "5 handles", "JSON", "kB"):
        assert fact in facts


def test_conversation_is_shown_as_it_was_said(page: Any) -> None:
    """In order, with who said it and when, and a line where a day begins."""
    kinds = page.locator(".item > *").evaluate_all("all => all.map((x) => x.className)")

    assert kinds == [
        "said user",
        "thought wide",
        "call wide",
        "call wide",
        "call wide failed-call",
        "call wide",
        "passage wide",
        "said agent",
        "said user",
    ]
    assert page.text_content(".said.user .who") == "Anauseru-4212:30 #1"
    assert page.locator(".day").all_text_contents() == ["2025-06-01", "2025-06-02"]


def test_markdown_is_rendered(page: Any) -> None:
    """Headings, lists, tables; one key shows the text as it is, and back."""
    said = page.locator(".said.agent .text")
    assert said.locator("h4").text_content() == "Plan"
    assert said.locator("li").all_text_contents() == ["stop it", "look"]
    assert said.locator("td").all_text_contents() == ["1", "2"]
    page.keyboard.press("m")
    assert said.text_content().startswith("## Plan\n\n1. **stop** it")
    page.keyboard.press("m")
    assert said.locator("strong").text_content() == "stop"


def test_tool_calls_unfold(page: Any) -> None:
    """Arguments and results are made when somebody looks; JSON in a text is shown."""
    call = page.locator("details.call").first
    assert "query" in call.text_content()
    assert "2.0 s" in call.text_content()
    assert call.locator("pre").count() == 0
    call.locator("summary").click()
    call.locator("pre").nth(1).wait_for()
    arguments, result = call.locator("pre").all_text_contents()
    assert json.loads(arguments) == {
        "shard": 2,
        "at": "2025-06-01T12:30:00.000000+00:00",
        "raw": "<3 bytes>",
    }
    assert json.loads(result) == {"rows": [1]}
    states = page.locator("details.call > summary")
    assert "failed" in states.nth(2).text_content()
    assert "pending" in states.nth(3).text_content()


def test_what_stands_around_is_folded(page: Any) -> None:
    """Instructions, memories, stash; and what belongs to single items."""
    around = page.locator("#around > details > summary").all_text_contents()
    assert around == [
        "1 instructionBe brief.",
        "1 memoryAna is on call.",
        'stash{"tenant":"blue"}',
    ]
    unfold(page)
    assert "confidence 0.5" in page.text_content("#around")
    assert '"model": "m-9"' in page.text_content(".said.agent .quiet pre")
    assert "Drain the queue." in page.text_content(".passage .text")
    assert "Locks, surely." in page.text_content(".thought .text")


def test_media_in_the_document_are_shown(page: Any) -> None:
    """Pictures and sound; SVG as its text; what can't be shown can be saved."""
    browser.until(page, "document.querySelector('img.shown').naturalWidth === 4")
    browser.until(page, "document.querySelector('audio').duration > 0.09")
    assert "<svg" in page.text_content(".card:has-text('plan.svg') pre")
    pdf = page.locator(".card:has-text('report.pdf')")
    assert pdf.locator("img, pre").count() == 0
    with page.expect_download() as download:
        pdf.locator("text=Save").click()
    assert download.value.suggested_filename == "report.pdf"
    assert download.value.path().read_bytes() == b"%PDF-1.4"


def test_artifacts_are_shown(page: Any) -> None:
    """The beginning, then all of it."""
    page.locator("details.call").nth(1).locator("summary").click()
    text = page.locator(".artifact pre")
    text.wait_for()
    assert text.text_content().startswith("line 0\nline 1\n")
    assert "line 499" not in text.text_content()
    page.click("text=Show all 4,389 characters")
    assert text.text_content().endswith("line 499")


def test_kinds_are_counted(page: Any) -> None:
    """One thought, four tool calls."""
    tiles = page.locator(".tile").all_text_contents()
    assert tiles == [
        "2user",
        "1assistant",
        "1thought",
        "3tool calls",
        "1failed call",
        "1passage",
    ]


def test_no_time_is_shown_where_there_was_none(show: Callable[..., Any]) -> None:
    """Adapters put the beginning of 1970 where a format has no time."""
    chat = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
    ]
    page = show(view_html(encode(from_openai_chat(chat))))
    assert page.locator(".at").all_text_contents() == ["#1", "#2"]
    assert page.locator(".day").count() == 0


def test_filter_by_kind(page: Any) -> None:
    """One kind or several; again for none."""
    page.click(".tile:has-text('user')")
    assert page.text_content("#count") == "2 of 9 items"
    page.click(".tile:has-text('failed')")
    assert page.text_content("#count") == "3 of 9 items"
    assert page.locator(".item:visible").count() == 3
    page.keyboard.press("Escape")
    assert page.locator(".item:visible").count() == 9
    assert page.text_content("#count") == ""


def test_search(page: Any) -> None:
    """All words, in texts, arguments and results, which are marked."""
    page.keyboard.press("/")
    page.keyboard.type("DENIED kill")
    # Each key filters again: what counts is what the last one leaves.
    browser.until(page, "CSS.highlights.get('found')?.size === 1")
    assert page.text_content("#count") == "1 of 9 items"
    page.fill("#words", "nowhere")
    page.wait_for_selector("#nothing", state="visible")
    page.keyboard.press("Escape")
    assert page.locator(".item:visible").count() == 9


def test_keys_lead_around(page: Any) -> None:
    """Next, previous, first, last, fold, help; links lead to an item."""
    marked = ".item[aria-current=true]"
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.get_attribute(marked, "id") == "2"
    page.keyboard.press("o")
    assert page.locator(f"{marked} details[open]").count() == 1
    page.keyboard.press("End")
    assert page.get_attribute(marked, "id") == "9"
    page.keyboard.press("k")
    assert page.get_attribute(marked, "id") == "8"
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    page.click(".address >> nth=4")
    page.wait_for_selector(f"{marked}[id='5']")
    assert page.url.endswith("#5")
    page.keyboard.press("Shift+O")
    assert page.locator("details[open]").count() >= 8


def test_phone(show: Callable[..., Any]) -> None:
    """Nothing is wider than the screen, folded or not."""
    page = show(view_html(encode(talks.rich())), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_table_on_a_phone_keeps_its_words_whole(show: Callable[..., Any]) -> None:
    """It is wider than the page, and scrolls within its message."""
    names = [f"column-{number}" for number in range(12)]
    row = f"|{'|'.join(names)}|\n"
    text = f"{row}|{'---|' * 12}\n{row}"
    said = Message(id="m", role="assistant", content=text, **when())
    page = show(view_html(encode(Conversation(id="c", items=[said]))), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    heights = page.locator("th").evaluate_all("all => all.map((x) => x.clientHeight)")
    assert max(heights) < 60
    scroll = page.locator(".scroll")
    assert scroll.evaluate("node => node.scrollWidth > node.clientWidth")
    assert scroll.get_attribute("tabindex") == "0"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_their_ground(page: Any, scheme: str) -> None:
    """By the 4.5 that the guidelines for accessibility ask of small texts."""
    page.emulate_media(color_scheme=scheme)
    unfold(page)

    assert page.evaluate(browser.CONTRAST) == []


def test_printed_page_is_whole_and_light(page: Any) -> None:
    """Unfolded, dark on light, without what can be clicked."""
    page.keyboard.press("t")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")

    assert page.is_visible("details.call pre >> nth=1")
    assert not page.is_visible("#tools")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert "line 499" in page.text_content(".artifact pre")


def test_attacks_are_text(show: Callable[..., Any]) -> None:
    """Wherever they stand: nothing runs, nothing is loaded, nothing can be followed."""
    page = show(view_html(encode(talks.hostile()), title=EVIL))
    unfold(page)
    page.wait_for_selector(".fault")

    assert page.evaluate("window.hit") is None
    assert page.title() == EVIL
    assert page.text_content("h1") == EVIL
    assert page.locator(".said .text").first.text_content() == EVIL
    links = page.locator("a").evaluate_all(
        "all => all.map((a) => a.getAttribute('href'))"
    )
    assert all(link.startswith("#") for link in links)
    assert page.locator("img[src^='http'], iframe, object, embed").count() == 0
    said = page.locator(".said.agent")
    assert "(javascript:window.hit=1)" in said.first.text_content()
    assert said.last.locator(".text").text_content() == "aU+202Eb␛[31mcU+2066dU+E0041"


def test_scripts_run_in_their_own_direction(show: Callable[..., Any]) -> None:
    """From the right, if they do."""
    said = Message(id="m", role="user", content="בבקשה", **when())
    page = show(view_html(encode(said)))

    style = "node => getComputedStyle(node).direction"
    assert page.locator(".text p").evaluate(style) == "rtl"


# What is no conversation


@pytest.mark.parametrize(
    ("graph", "count"),
    [
        ([Message(id=str(n), role="user", content="x", **when()) for n in range(3)], 3),
        (Thought(id="t", content="Hm.", **when()), 1),
        ((Message(id="m", role="user", content="x", **when()),), 1),
        (Conversation(id="c", items=[]), 0),
    ],
)
def test_items_without_a_conversation(
    show: Callable[..., Any], graph: object, count: int
) -> None:
    """A list of messages, one item, none."""
    page = show(view_html(encode(graph)))

    assert page.locator(".item").count() == count
    assert page.is_visible("text=Nothing was said.") == (count == 0)


def test_any_graph_is_a_tree(show: Callable[..., Any]) -> None:
    """With media as cards, and what is shared marked."""
    picture = media(BytesReader(png()))
    page = show(view_html(encode({"a": [picture, picture], "b": {1: (True, None)}})))
    unfold(page)

    tree = page.text_content(".tree")
    assert tree.count("⇢0") == 2
    assert "dict of 1 item" in tree
    assert "tuple of 2 items" in tree
    assert page.locator(".card img").count() == 2
    assert not page.is_visible("#tools")


def test_every_document_of_the_corpus_is_shown(show: Callable[..., Any]) -> None:
    """Cycles, depth, markers, unknown classes, MessagePack, frames, seals."""
    for path in sorted(corpus.DOCUMENTS.iterdir()):
        seal = corpus.seal_of(path.name) if path.name in corpus.SEALED else None
        context = corpus.CONTEXT if seal else b""
        html = view_html(path.read_bytes(), codec=Codec(seal=seal), context=context)
        page = show(html)
        unfold(page)
        assert page.locator("#items > *").count() >= ("with_tools" not in path.name)
        page.context.close()


def test_fields_that_nobody_knows_are_shown(show: Callable[..., Any]) -> None:
    """Of known classes, and of a class among the items that is not known."""
    message = {
        "$type": "Message",
        "id": "m",
        "role": "assistant",
        "content": {"$type": "Tokenizable", "text": "Hi."},
        "mood": {"$type": "shop.Mood", "$v": 3, "kind": "good"},
    }
    order = {"$type": "shop.Order", "total": 12}
    root = {"$type": "Conversation", "id": "c", "items": [message, order], "extra": 1}
    page = show(view_html(json.dumps({"graphcodec": 1, "root": root})))
    unfold(page)

    assert "shop.Mood v3" in page.text_content(".said .quiet")
    assert "shop.Order" in page.text_content(".item >> nth=1")
    assert "more fields" in page.text_content("#around")


def test_stranger_s_document(show: Callable[..., Any]) -> None:
    """References that lead nowhere or in a circle, wrong types, odd keys, depth."""
    ref = {"$type": "$ref", "n": 0}
    deep: object = 1
    for _ in range(700):
        deep = [deep]
    items: list[object] = [
        {"$type": "Message", "content": ref, "attachments": 5, "created_at": 7},
        {"$type": "ToolCall", "args": {"$dict": [3, ["k"]]}, "results": {"$any": []}},
        {"$type": "Media", "reader": {"$type": "$ref", "n": 99}},
        {"$type": "Retrievable", "content": {"$type": "$reader", "locator": 3}},
        None,
        deep,
    ]
    root: object = {"$type": "Conversation", "items": items, "tools": [1], "stash": 4}
    wire: object = {"graphcodec": 1, "nodes": [ref], "root": root}
    page = show(view_html(json.dumps(wire)))
    unfold(page)

    assert page.locator(".item").count() == 6


# Frames, formats, seals


def test_msgpack_in_frames(show: Callable[..., Any]) -> None:
    """With bytes as bytes, and numbers that a browser would round."""
    codec = Codec(format="msgpack", compression="gzip")
    graph = Registry(
        {"raw": b"abc", "big": 2**60 + 1, "bigger": 2**100, "nan": float("nan")}
    )
    page = show(view_html(codec.encode(graph)))
    unfold(page)

    assert "MessagePack · gzip" in page.text_content("#facts")
    tree = page.text_content(".tree")
    for text in ("<3 bytes>", str(2**60 + 1), str(2**100), "nan"):
        assert text in tree


def test_sealed_documents_are_opened_with_the_keys_of_the_codec() -> None:
    """And refused without, or with others."""
    keys, others = ({"k": each * 32} for each in (b"0", b"1"))
    codec = Codec(seal=Seal(keys, mode="encrypt", current="k"))
    data = codec.encode(talks.rich(), context=b"ana")

    assert "Why does it hang?" in view_html(data, codec=codec, context=b"ana")
    with pytest.raises(SealError):
        view_html(data, codec=codec)
    with pytest.raises(SealError):
        view_html(data, codec=Codec(seal=Seal(others, current="k")), context=b"ana")
    with pytest.raises(SealError, match="encrypted"):
        view_html(data)


# Handles


def shelved(*shelves: Shelf, mime_type: str = "image/png") -> bytes:
    """Return a document that holds media on shelves."""
    return encode([media(shelf, mime_type, shelf.key) for shelf in shelves])


def test_handles_are_not_opened() -> None:
    """But said where they lead, without what may be secret."""
    shelf = Shelf("one", png())
    html = view_html(shelved(shelf), resolvers=[Shelves(shelf)])

    assert shelf.opened == 0
    assert "shelf=one" in html
    url = {"url": "https://u:hunter2@example.org/a?sig=hunter2"}
    reader = {"$type": "$reader", "tag": "media:http", "locator": url}
    html = view_html(json.dumps({"graphcodec": 1, "root": reader}))
    assert "hunter2" not in html
    assert (
        "https://example.org/a?…".encode("ascii", "backslashreplace").decode() in html
    )


def test_handles_are_embedded(show: Callable[..., Any]) -> None:
    """As long as there is room; what fails says why; others stay closed."""
    small, large = Shelf("small", png()), Shelf("large", png(400, 400) + b"x" * 5000)
    gone = Shelf("gone", FileNotFoundError(2, "No such file"))
    odd = Shelf("odd", RuntimeError("hunter2"))
    pdf = Shelf("pdf", b"%PDF")
    shelves = Shelves(small, large, gone, odd, pdf)
    graph = [
        media(shelf, "image/png", shelf.key) for shelf in (small, large, gone, odd)
    ]
    graph.append(media(pdf, "application/pdf", "pdf"))
    html = view_html(encode(graph), resolvers=[shelves], embed_limit=4000)
    page = show(html)
    unfold(page)

    faults = page.locator(".fault").all_text_contents()
    assert faults == [
        "larger than what was to be embedded",
        "FileNotFoundError: No such file",
        "RuntimeError",
    ]
    browser.until(page, "document.querySelector('img').naturalWidth === 4")
    assert pdf.opened == 0
    assert "hunter2" not in html


def test_beginning_of_a_long_text_is_embedded(show: Callable[..., Any]) -> None:
    """With a word that it is not all."""
    shelf = Shelf("log", b"word " * 20_000)
    data = encode(SpooledArtifact(shelf))
    page = show(view_html(data, resolvers=[Shelves(shelf)], embed_limit=70_000))

    page.click("text=Show all 65,536 characters")
    assert page.is_visible("text=Only the beginning is in this page.")
    assert len(page.text_content(".artifact pre")) == 65_536


def test_shared_reader_is_embedded_once() -> None:
    """Whatever refers to it."""
    shelf = Shelf("one", png())
    picture = media(shelf)
    html = view_html(
        encode([picture, picture.replace(id="other")]),
        resolvers=[Shelves(shelf)],
        embed_limit=1000,
    )

    assert shelf.opened == 1
    assert html.count('"data":"iVBORw') == 1


def test_limit_makes_sense() -> None:
    """A number of bytes."""
    with pytest.raises(InvalidValueError, match="embed_limit: must be 0 or more"):
        view_html(encode(1), embed_limit=-1)


def test_page_is_one_file() -> None:
    """It is the same each time, and its policy forbids all requests."""
    data = encode(talks.rich())

    assert view_html(data) == view_html(data)
    assert "default-src 'none'" in view_html(data)
    assert "connect-src" not in view_html(data)


def test_long_conversation_opens(show: Callable[..., Any]) -> None:
    """Twenty thousand items are all there, and can be searched."""
    items = [
        Message(id=f"m-{n}", role="user", content=f"Question {n}", **when(n))
        for n in range(20_000)
    ]
    page = show(view_html(encode(Conversation(id="c", items=items))))

    assert page.locator(".item").count() == 20_000
    page.fill("#words", "question 19999")
    browser.until(page, "document.getElementById('count').textContent !== ''")
    assert page.text_content("#count") == "1 of 20,000 items"
