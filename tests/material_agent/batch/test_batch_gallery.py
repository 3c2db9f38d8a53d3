"""The gallery of two hundred tasks in a real browser."""

import csv
import json

import pytest
from gallery_rows import COUNT, STRUCTURES, make_batch

SHOWN = "return [...document.querySelectorAll('#cards > li:not([hidden])')].map(c => c.dataset.name)"
CHOOSE = (
    "const field = document.getElementById(arguments[0]); field.value = arguments[1];"
    "field.dispatchEvent(new Event('input', {bubbles: true}));"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("gallery")
    results = make_batch(out)
    return out, [one for one in results if one is not None]


@pytest.fixture
def page(browser, made):
    browser.set_window_size(1200, 900)
    browser.get("about:blank")
    for name in ("performance", "browser"):
        browser.get_log(name)
    browser.get((made[0] / "index.html").as_uri())
    return browser


def choose(page, **choices):
    for field, value in choices.items():
        page.execute_script(CHOOSE, field, str(value))
    return page.execute_script(SHOWN)


def test_it_asks_for_nothing_outside_its_folder_and_runs_nothing_of_a_name(page, made):
    names = page.execute_script(SHOWN)
    assert len(names) == COUNT
    requests = [
        message["params"]["request"]["url"]
        for entry in page.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in requests if not url.startswith((made[0].as_uri(), "data:"))] == []
    assert len(requests) < 80  # pictures out of sight wait
    assert page.get_log("browser") == []
    assert page.execute_script("return typeof window.hacked") == "undefined"


def test_pictures_load_when_they_come_into_sight(page):
    script = (
        "const all = [...document.querySelectorAll('#cards img')];"
        "await Promise.all(all.map(i => { i.loading = 'eager'; return i.decode(); }));"
        "return all.map(i => [i.naturalWidth, i.alt]);"
    )
    found = page.execute_script(script)
    assert len(found) > 300
    assert all(width > 0 for width, _ in found)
    assert {alt for _, alt in found} == {"Reference", "Material"}


def test_the_best_come_first_and_every_order_is_true(page, made):
    results = made[1]
    scored = [one for one in results if one.reward is not None]

    def names(key, *, reverse=False):
        return [one.name for one in sorted(scored, key=key, reverse=reverse)]

    shown = page.execute_script(SHOWN)
    assert shown[: len(scored)] == names(lambda one: one.reward, reverse=True)
    assert choose(page, sort="reward:1")[: len(scored)] == names(lambda one: one.reward)
    assert choose(page, sort="structure:1")[: len(scored)] == names(lambda one: one.terms["structure"])
    rated = [one for one in scored if one.terms["physical"] is not None]
    physical = choose(page, sort="physical:1")
    assert physical[: len(rated)] == [one.name for one in sorted(rated, key=lambda one: one.terms["physical"])]
    assert choose(page, sort="nodes:1")[-1:] != shown[-1:] or len(shown) == COUNT


def test_filters_keep_what_they_say_and_combine(page, made):
    out, results = made
    low = [one.name for one in results if one.status == "not_accepted" and "structure" in "".join(one.failures)]
    assert sorted(choose(page, reason="structure below its threshold")) == sorted(low)
    brick = {one.name for one in results if one.structure == STRUCTURES[0]}
    assert sorted(choose(page, built=STRUCTURES[0])) == sorted(brick & set(low))
    assert (
        page.execute_script("return document.getElementById('found').textContent") == f"{len(brick & set(low))} shown"
    )
    page.execute_script("document.querySelector('#controls button[type=reset]').click()")
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert len(page.execute_script(SHOWN)) == COUNT

    between = [one.name for one in results if one.terms.get("appearance") and 0.5 <= one.terms["appearance"] <= 0.7]
    assert sorted(choose(page, term="appearance", low=0.5, high=0.7)) == sorted(between)
    choose(page, term="reward", low="", high="")
    failed = choose(page, status="failed")
    assert sorted(failed) == sorted(one.name for one in results if one.status == "failed")
    assert len(choose(page, status="pending")) == COUNT - len(results)
    assert choose(page, status="", search="material 12") == choose(page, search="MATERIAL 12 ")
    assert choose(page, search="no such name") == []
    assert page.execute_script("return document.getElementById('empty').hidden") is False
    with (out / "summary.csv").open(newline="") as file:
        assert sum(row["status"] == "failed" for row in csv.DictReader(file)) == len(failed)


def test_a_card_opens_its_report_and_the_choice_survives_the_way_back(page, made):
    shown = choose(page, built="wood", sort="reward:1")
    card = "return document.querySelector('#cards > li:not([hidden]) a.open')"
    page.execute_script(f"({card.removeprefix('return ')}).click()")
    number = next(index for index, one in enumerate(make_names(made[0])) if one == shown[0])
    assert page.title == f"report of {number}"
    page.back()
    assert page.execute_script(SHOWN) == shown
    assert "built=wood" in page.current_url


def make_names(out):
    return [row["name"] for row in json.loads((out / "summary.json").read_text())["references"]]


@pytest.mark.parametrize("width", [1200, 500])
def test_nothing_runs_out_of_the_page(page, width):
    page.set_window_size(width, 900)
    overflow = page.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0


def test_keys_reach_every_card(page):
    script = "return [...document.querySelectorAll('#cards a')].every(a => a.tabIndex === 0 && a.ariaLabel)"
    assert page.execute_script(script) is True
